"""A session's directory, where it is a git worktree of its own: made, looked at for work, removed.

Nothing but a linked worktree is ever removed, and that by git itself, which is never forced.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from shlex import quote
from subprocess import PIPE

from covey import paths
from covey.errors import Refused, Unavailable, Usage
from covey.hearing import hear
from covey.lane import WORKTREES, Lane

DEADLINE, CHECKOUT = 60.0, 600.0  # seconds for one word with git; a big repository takes its time to be checked out
MOST = 1 << 24  # bytes of its answer
DIRTY = ("status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
HERE = ("rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel", "--show-prefix")
WHERE = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")


async def make(directory: str, branch: str) -> str:
    """The same directory in the worktree of that branch, or its top; branch and worktree are made where they are not.

    A new branch begins at what is checked out in the directory, or at the one branch of that name on a remote.
    """
    try:
        common, _top, within = (await _git(directory, *HERE) + "\n").split("\n")[:3]
    except (Unavailable, ValueError):
        raise Refused(f"{directory} is in no git repository", "open it without a worktree") from None
    await _check_name(directory, branch)
    home = f"{Path(common).parent.name}-{hashlib.sha256(os.fsencode(common)).hexdigest()[:8]}"
    path = str(paths.worktrees_dir() / home / branch)
    async with Lane(paths.lanes_dir(), WORKTREES, timeout=CHECKOUT):  # git makes the branch, and later the worktree
        tree = await _find(directory, branch, path) or await _add(directory, branch, path)
    inside = Path(tree, within)
    return str(inside) if await asyncio.to_thread(inside.is_dir) else tree


async def _check_name(directory: str, branch: str) -> None:
    try:
        good = await _git(directory, "check-ref-format", "--branch", branch) == branch
    except Unavailable:
        good = False
    if not good:
        raise Usage(f"{branch!r} cannot be the name of a branch", "give one without blanks, or open without a worktree")


async def _find(directory: str, branch: str, path: str) -> str:
    """The worktree that has the branch, '' if none has. Raises ``Refused`` where that, or what ``path`` is, is no use.

    What git knows of a worktree whose directory is gone is forgotten; git does so itself after a while.
    """
    blocks = (await _git(directory, "worktree", "list", "--porcelain")).split("\n\n")
    trees = [dict(row.partition(" ")[::2] for row in block.splitlines()) for block in blocks]
    for tree in trees:
        where, mine = tree["worktree"], tree.get("branch") == f"refs/heads/{branch}"
        if not mine and where != path:
            continue
        if mine and tree is trees[0]:
            raise Refused(f"branch {branch} is checked out in {where} itself", "give another name")
        if tree.get("locked") == "initializing":
            undo = f"git -C {quote(trees[0]['worktree'])} worktree remove -f -f {quote(where)}"
            raise Refused(f"{where} is being made, or was left half made", undo)
        if not await asyncio.to_thread(Path(where).exists):
            await _git(directory, "worktree", "remove", where)
        elif mine:
            return where
        else:
            raise Refused(
                f"another branch is checked out in {where}", f"check out {branch} there, or give another name"
            )
    return ""


async def _add(directory: str, branch: str, path: str) -> str:
    known = await _git(directory, "for-each-ref", f"refs/heads/{branch}", f"refs/remotes/*/{branch}")
    words = [path, branch] if known else ["-b", branch, path]
    await _git(directory, "worktree", "add", "--quiet", *words, deadline=CHECKOUT)
    return path


async def check(directory: str) -> None:
    """Raise ``Refused`` unless the directory is a linked worktree, and all work in it is somewhere else too.

    Work is what git does not ignore: changes and new files, in submodules too; commits that are on no remote, or where
    there is none on no other branch; and what was stashed on its branch.
    """
    await _common(directory)
    branch = await _git(directory, "branch", "--show-current") or "(no branch)"
    looks = (
        (await _git(directory, *DIRTY), "has changes that are not committed"),
        (await _alone(directory, branch), "has commits that are nowhere else"),
        (await _stashed(directory, branch), "has something stashed"),
    )
    for found, what in looks:
        if found:
            raise Refused(f"{directory} {what}", "see to them, or remove it yourself")


async def remove(directory: str) -> None:
    """Remove a worktree that ``check`` takes, and git's record of it; its branch stays."""
    await check(directory)
    await _git(str(Path(await _common(directory)).parent), "worktree", "remove", directory)


async def _common(directory: str) -> str:
    """The directory of the repository that a linked worktree belongs to."""
    try:
        top, own, common = (await _git(directory, *WHERE)).splitlines()
    except (Unavailable, ValueError):
        raise Refused(f"{directory} is no git worktree", "remove it yourself") from None
    if own == common:
        raise Refused(f"{directory} is the repository itself, or a part of it", "remove it yourself")
    if not await asyncio.to_thread(Path(top).samefile, directory):
        raise Refused(f"{directory} is only a part of the worktree {top}", "remove it yourself")
    return common


async def _alone(directory: str, branch: str) -> str:
    others = ("--remotes",) if await _git(directory, "remote") else (f"--exclude={branch}", "--branches", "--tags")
    return await _git(directory, "rev-list", "--max-count=1", "HEAD", "--not", *others)


async def _stashed(directory: str, branch: str) -> str:
    """The first stash of that branch; all worktrees of a repository share one list."""
    rows = (await _git(directory, "stash", "list", "--format=%gs")).splitlines()
    return next((row for row in rows if row.split("n ", 1)[-1].startswith(f"{branch}: ")), "")


async def _git(directory: str, *words: str, deadline: float = DEADLINE) -> str:
    """What git says. Raises ``Unavailable`` with its last line where it fails."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        git = await hear(
            "git", "-C", directory, *words, deadline=deadline, most=MOST, env=env, stderr=PIPE, gently=True
        )
    except OSError as error:
        raise Unavailable(f"git cannot be run in {directory}: {error.strerror}") from None
    if git.status is None:
        raise Unavailable(f"git did not answer within {deadline:g} s in {directory}")
    if git.status:
        said = git.complaint.decode("utf-8", "replace").strip().splitlines()
        raise Unavailable(f"git: {said[-1] if said else git.status}")
    return git.said.decode("utf-8", "surrogateescape").strip()
