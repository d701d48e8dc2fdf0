"""A session's worktree is made and removed on request alone, and never removed with work that is nowhere else."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from covey.errors import NotFound, Refused, Usage

WHO = ("-c", "user.name=covey", "-c", "user.email=covey@localhost")


def git(directory, *words):
    argv = ["git", "-C", str(directory), *WHO, "-c", "protocol.file.allow=always", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def main(world):
    """A repository with a remote that has all of it."""
    remote, main = world.tmp / "remote.git", world.tmp / "main"
    git(world.tmp, "init", "--quiet", "--bare", str(remote))
    git(world.tmp, "init", "--quiet", "--initial-branch=trunk", str(main))
    (main / ".gitignore").write_text("*.o\n")
    (main / "file").write_text("first")
    git(main, "add", ".")
    git(main, "commit", "--quiet", "-m", "first")
    git(main, "remote", "add", "origin", str(remote))
    git(main, "push", "--quiet", "origin", "trunk")
    return main


@pytest.fixture
async def tree(desk, main, world):
    """A worktree, and a session that lives in it."""
    tree = world.tmp / "a tree"
    git(main, "worktree", "add", "--quiet", "-b", "topic", str(tree))
    await desk("open", name="one", cmd=["sleep", "1000"], cwd=str(tree))
    return tree


def untracked(tree, _main):
    (tree / "new").write_text("x")


def changed(tree, _main):
    (tree / "file").write_text("x")


def committed(tree, _main):
    changed(tree, _main)
    git(tree, "commit", "--quiet", "-am", "second")


def committed_without_remote(tree, main):
    git(main, "remote", "remove", "origin")
    committed(tree, main)


def detached(tree, main):
    git(tree, "checkout", "--quiet", "--detach")
    committed(tree, main)


def stashed(tree, main):
    changed(tree, main)
    git(tree, "stash", "--quiet")


def changed_in_a_submodule(tree, main):
    git(tree, "submodule", "--quiet", "add", str(main), "sub")
    git(tree, "commit", "--quiet", "-m", "with sub")
    git(tree, "push", "--quiet", "origin", "topic")
    (tree / "sub" / "new").write_text("x")


WORK = {
    "untracked": (untracked, "changes that are not committed"),
    "changed": (changed, "changes that are not committed"),
    "committed": (committed, "commits that are nowhere else"),
    "no remote": (committed_without_remote, "commits that are nowhere else"),
    "detached": (detached, "commits that are nowhere else"),
    "stashed": (stashed, "something stashed"),
    "submodule": (changed_in_a_submodule, "changes that are not committed"),
}


@pytest.mark.parametrize(("do", "why"), WORK.values(), ids=WORK.keys())
async def test_K03_work_that_is_nowhere_else_is_never_removed(desk, main, tree, do, why):
    do(tree, main)
    with pytest.raises(Refused, match=why):
        await desk("delete", name="one", workspace=True)
    assert tree.is_dir()
    assert (await desk("get", name="one"))["state"] != "exited"


async def test_a_worktree_goes_on_request_and_its_branch_stays(desk, main, tree):
    (tree / "built.o").write_text("ignored")
    committed(tree, main)
    git(tree, "push", "--quiet", "origin", "topic")
    assert (await desk("delete", name="one", workspace=True))["workspace"] == "is removed"
    assert not tree.exists()
    assert "topic" in git(main, "branch")
    assert git(main, "worktree", "list").count("\n") == 1
    assert await desk("list") == []


async def test_what_is_stashed_on_another_branch_is_no_work_of_this_one(desk, main, tree):
    stashed(main, main)
    assert (await desk("delete", name="one", workspace=True))["workspace"] == "is removed"


async def test_without_a_request_nothing_is_touched(desk, tree):
    assert "workspace" not in await desk("delete", name="one")
    assert tree.is_dir()


@pytest.mark.parametrize("part", [".", "sub"])
async def test_a_repository_itself_is_never_removed(desk, main, part):
    (main / "sub").mkdir()
    await desk("open", name="two", cmd=["sleep", "1000"], cwd=str(main / part))
    with pytest.raises(Refused, match="the repository itself"):
        await desk("delete", name="two", workspace=True)
    assert main.is_dir()


async def test_a_part_of_a_worktree_is_never_removed(desk, tree):
    (tree / "sub").mkdir()
    await desk("open", name="two", cmd=["sleep", "1000"], cwd=str(tree / "sub"))
    with pytest.raises(Refused, match="only a part of the worktree"):
        await desk("delete", name="two", workspace=True)


async def test_another_directory_is_never_removed(desk, world):
    (world.tmp / "plain").mkdir()
    await desk("open", name="two", cmd=["sleep", "1000"], cwd=str(world.tmp / "plain"))
    with pytest.raises(Refused, match="no git worktree"):
        await desk("delete", name="two", workspace=True)


async def test_a_worktree_that_another_session_is_in_stays(desk, tree):
    await desk("open", name="two", cmd=["sleep", "1000"], cwd=str(tree))
    with pytest.raises(Refused, match="the directory of two too"):
        await desk("delete", name="one", workspace=True)


async def in_worktree(desk, name, cwd, **more):
    return await desk("worktree", name=name, cwd=str(cwd), **{"cmd": ["sleep", "1000"], **more})


def branch(directory):
    return git(directory, "branch", "--show-current").strip()


def trees(main):
    return git(main, "worktree", "list", "--porcelain").count("worktree ") - 1


async def test_a_session_starts_in_a_worktree_of_its_own(desk, main, world):
    one = await in_worktree(desk, "feat/x", main)
    assert (branch(one["cwd"]), trees(main)) == ("feat/x", 1)
    assert "note" not in one
    assert world.data in Path(one["cwd"]).parents
    assert branch(main) == "trunk"
    again = await in_worktree(desk, "feat/x", main)
    assert (again["id"], again["opened"], trees(main)) == (one["id"], False, 1)
    assert again["note"] == f"it was there already, in {one['cwd']}"


async def test_what_was_killed_finds_its_worktree_and_work_again(desk, main):
    one = await in_worktree(desk, "topic", main)
    untracked(Path(one["cwd"]), main)
    await desk("kill", name="topic")
    two = await in_worktree(desk, "topic", main)
    assert (two["cwd"], two["opened"]) == (one["cwd"], True)
    assert (Path(two["cwd"]) / "new").exists()


async def test_K01_a_worktree_that_was_made_and_not_used_is_taken(desk, main, tree):
    assert (await in_worktree(desk, "topic", main))["cwd"] == str(tree)


async def test_K01_what_is_half_made_is_not_taken_and_what_ends_it_is_said(desk, main, tree):
    (known,) = (main / ".git/worktrees").iterdir()
    (known / "locked").write_text("initializing")  # as where git was killed
    with pytest.raises(Refused, match="left half made") as refused:
        await in_worktree(desk, "topic", main)
    assert refused.value.hint == f"git -C {main} worktree remove -f -f '{tree}'"


async def test_K01_a_worktree_whose_directory_is_gone_is_made_again(desk, main):
    one = await in_worktree(desk, "topic", main)
    await desk("kill", name="topic")
    shutil.rmtree(one["cwd"])
    assert branch((await in_worktree(desk, "topic", main))["cwd"]) == "topic"


async def test_K02_a_branch_that_is_there_is_taken(desk, main):
    git(main, "branch", "ag/x")
    assert branch((await in_worktree(desk, "ag/x", main))["cwd"]) == "ag/x"


async def test_K02_a_branch_that_the_repository_itself_is_on_is_refused(desk, main, tree):
    for where in (main, tree):
        with pytest.raises(Refused, match=f"branch trunk is checked out in {main} itself"):
            await in_worktree(desk, "trunk", where)


async def test_K02_a_worktree_that_is_on_another_branch_now_is_refused(desk, main):
    one = await in_worktree(desk, "topic", main)
    await desk("kill", name="topic")
    git(one["cwd"], "checkout", "--quiet", "-b", "other")
    with pytest.raises(Refused, match="another branch is checked out in"):
        await in_worktree(desk, "topic", main)


async def test_from_within_a_worktree_another_is_made(desk, main, tree):
    (tree / "only here").write_text("x")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "second")
    two = await in_worktree(desk, "two", tree)
    assert (Path(two["cwd"]) / "only here").exists()


async def test_a_part_of_the_repository_is_that_part_of_the_worktree(desk, main):
    for part in ("part", "new"):
        (main / part).mkdir()
    (main / "part" / "file").write_text("x")
    git(main, "add", ".")
    git(main, "commit", "--quiet", "-m", "part")
    one = await in_worktree(desk, "one", main / "part")
    assert one["cwd"].endswith("/one/part")
    assert (await in_worktree(desk, "two", main / "new"))["cwd"].endswith("/two")


async def test_a_branch_of_the_remote_is_followed(desk, main):
    git(main, "push", "--quiet", "origin", "trunk:far")
    git(main, "fetch", "--quiet", "origin")
    one = await in_worktree(desk, "far", main)
    assert git(one["cwd"], "rev-parse", "--abbrev-ref", "far@{upstream}").strip() == "origin/far"


async def test_many_at_once_share_no_worktree_and_one_name_is_one(desk, main):
    names = ["a", "b", "a", "c", "b", "a"]
    views = await asyncio.gather(*(in_worktree(desk, name, main) for name in names))
    assert {view["name"]: branch(view["cwd"]) for view in views} == {"a": "a", "b": "b", "c": "c"}
    assert (trees(main), sum(view["opened"] for view in views)) == (3, 3)


@pytest.mark.parametrize("name", ["two words", "-x", "a..b", "@{-1}", "x.lock", "HEAD"])
async def test_a_name_that_cannot_be_a_branch_is_refused(desk, main, name):
    with pytest.raises(Usage, match="cannot be the name of a branch"):
        await in_worktree(desk, name, main)
    assert (await desk("list"), trees(main)) == ([], 0)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"name": "one", "cwd": "..", "cmd": ["sleep", "1"]}, "is in no git repository"),
        ({"name": "one", "agent": "none"}, "no agent"),
        ({"name": "", "words": ["claude"]}, "wants a name"),
        ({"name": "one", "cmd": ["no-such-program"]}, "no-such-program was not found on the PATH"),
    ],
)
async def test_what_is_refused_leaves_no_worktree_behind(desk, main, given, why):
    where = main / given.pop("cwd", "")
    with pytest.raises((Usage, Refused, NotFound), match=why):
        await desk("worktree", cwd=str(where), **given)
    assert (await desk("list"), trees(main)) == ([], 0)


async def test_a_worktree_of_ours_goes_with_its_session_on_request(desk, main):
    one = await in_worktree(desk, "topic", main)
    assert (await desk("delete", name="topic", workspace=True))["workspace"] == "is removed"
    assert one["cwd"] not in git(main, "worktree", "list")
