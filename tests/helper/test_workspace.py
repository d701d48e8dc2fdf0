"""A session's worktree is removed on request alone, and never with work in it that is nowhere else."""

from __future__ import annotations

import subprocess

import pytest

from covey.errors import Refused

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
