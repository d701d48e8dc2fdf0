"""Files that a person wrote for covey and got wrong: told at the first verb, in one sentence, and everything works."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from desk import Desk
from waiting import eventually

COVEY = [sys.executable, "-m", "covey.cli"]
WRONG = {
    "config.toml": [
        (
            lambda path: path.write_text("# mine\nmax_settled = many\n"),
            "is not TOML: Invalid value (at line 2, column 15)",
        ),
        (lambda path: path.write_text("\nmax_settled = -3\n"), "line 2: max_settled wants a number from 0 to 1000"),
        (os.mkfifo, "is no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is no regular file"),
    ],
    "agents/mine.toml": [
        (lambda path: path.write_text('name = "mine"\nargv = 3\n'), "line 2: argv"),
        (os.mkfifo, "is no regular file"),
    ],
}


@pytest.fixture(params=[(name, *case) for name, cases in WRONG.items() for case in cases])
def wrong(request, world):
    """One such file; gives what is wrong with it."""
    name, make, sentence = request.param
    path = world.config / "covey" / name
    path.parent.mkdir(parents=True)
    make(path)
    return sentence


def test_the_shell_says_it_once_beside_the_answer(world, wrong):
    done = subprocess.run([*COVEY, "list", "--json"], env=world.env, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)) == (0, [])
    assert done.stderr.startswith("covey: ")
    assert wrong in done.stderr
    assert done.stderr.count("\n") == 1


async def test_an_editor_is_told_it_once(world, wrong):
    desk = await Desk(world, os.getpid()).start()
    try:
        await desk("list")
        (told,) = [event["data"]["message"] for event in desk.events if event["event"] == "Notice"]
        assert wrong in told
    finally:
        await desk.close()


def test_an_editor_shows_it(world, nvim):
    (world.config / "covey").mkdir()
    (world.config / "covey" / "config.toml").write_text("colour = 1\n")
    nvim.lua("require('covey').warm()")
    eventually(lambda: "there is no setting 'colour'" in nvim.messages(), message=nvim.messages)
