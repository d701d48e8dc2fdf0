"""The commit that is checked out, as git itself would say it, without asking git."""

from __future__ import annotations

import subprocess


def git(where, *words):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *words], cwd=where, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def head(nvim, where):
    return nvim.lua("return require('covey.git').head(...) or ''", str(where))


def test_the_commit_is_what_git_says_however_it_is_kept(nvim, world):
    repo = world.home / "repo"
    (repo / "deep" / "er").mkdir(parents=True)
    git(repo, "init", "-q")
    assert head(nvim, repo) == ""
    git(repo, "commit", "-q", "--allow-empty", "-m", "one")
    first = git(repo, "rev-parse", "HEAD")
    assert head(nvim, repo / "deep" / "er") == first
    git(repo, "pack-refs", "--all")
    assert head(nvim, repo) == first
    git(repo, "worktree", "add", "-q", str(world.home / "tree"), "-b", "side.x")
    git(world.home / "tree", "commit", "-q", "--allow-empty", "-m", "two")
    assert head(nvim, world.home / "tree") == git(world.home / "tree", "rev-parse", "HEAD") != first
    git(repo, "checkout", "-q", "--detach")
    assert head(nvim, repo) == first


def test_outside_a_repository_there_is_none(nvim, world):
    assert head(nvim, world.home) == ""
