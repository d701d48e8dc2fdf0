"""U*: which conversation an agent goes on with, and when it begins anew."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal

import pytest

from covey.errors import Refused
from desk import Desk


@pytest.fixture
async def talk(desk):
    """A callable that opens a stand-in in a directory and says a word to it; answers its session."""

    async def open_and_say(word="remember me", cwd=None, **more):
        await desk("open", name="one", agent="standin", cwd=str(cwd or desk.world.home), **more)
        await desk.state("one", "idle")
        await desk("send", name="one", text=word)
        return await desk("get", name="one")

    return open_and_say


async def test_U01_a_directory_that_was_moved_keeps_its_conversation_until_it_is_back(desk, talk):
    there, elsewhere = desk.world.home / "a", desk.world.home / "b"
    there.mkdir()
    session = await talk(cwd=there)
    there.rename(elsewhere)
    with pytest.raises(Refused, match="does not exist"):
        await desk("respawn", name="one", force=True)
    assert (await desk("get", name="one"))["conversation"] == session["conversation"]
    elsewhere.rename(there)
    await desk("respawn", name="one", force=True)
    await desk.shows("one", f"Resumed {session['conversation']}, 1 prompts")


async def test_U02_resumed_again_and_again_nothing_said_is_missing(desk, talk):
    session = await talk()
    for said in range(1, 4):
        await desk("respawn", name="one", force=True)
        await desk.shows("one", f"Resumed {session['conversation']}, {said} prompts")
        await desk.state("one", "idle")
        assert (await desk("send", name="one", text=f"word {said}"))["outcome"] == "submitted"


async def test_U03_a_respawn_resumes_a_conversation_that_exists_and_no_other(desk):
    await desk("open", name="one", agent="standin")
    await desk.state("one", "idle")
    first = await desk("get", name="one")
    await desk("respawn", name="one", force=True)
    session = await desk.state("one", "idle", "exited")
    assert session["state"] == "idle", "with nothing said there is nothing to resume"
    assert session["conversation"] != first["conversation"]
    await desk("send", name="one", text="remember me")
    again = await desk("respawn", name="one", force=True)
    assert again["conversation"] == session["conversation"]
    await desk.shows("one", f"Resumed {session['conversation']}, 1 prompts")
    fresh = await desk("respawn", name="one", force=True, fresh=True)
    assert fresh["conversation"] != session["conversation"]


@pytest.mark.parametrize("restart", ["never", "on_failure"])
async def test_U04_what_its_user_left_is_not_started_by_itself_and_resumes_by_hand(desk, talk, restart):
    session = await talk(restart=restart)
    await desk("send", name="one", text="/exit", raw=True)
    await desk.state("one", "exited")
    other = await Desk(desk.world, os.getpid()).start()
    try:
        await asyncio.gather(*(task for each in (desk, other) for task in each.front.helper.revival._tasks))
        (seen,) = await other("list")
        assert (seen["state"], seen["epoch"]) == ("exited", 1)
        await other("respawn", name="one")
        await other.shows("one", f"Resumed {session['conversation']}, ")
    finally:
        await other.close()


FUSSY = """
name = "fussy"
title = "Fussy"
argv = ["sh", "-c", 'case "$*" in *--new*--old*|*--old*--new*) exit 2;; esac; echo "$@"; exec cat', "fussy"]
new_id = ["--new", "{id}"]
resume = ["--old", "{id}"]
"""


async def test_U06_arguments_that_exclude_each_other_are_never_given_together(world):
    folder = world.config / "covey" / "agents"
    folder.mkdir(parents=True)
    (folder / "fussy.toml").write_text(FUSSY)
    desk = await Desk(world).start()
    session = await desk("open", name="one", agent="fussy")
    await desk.shows("one", f"--new {session['conversation']}")
    await desk("send", name="one", text="a word")
    again = await desk("respawn", name="one", force=True)
    assert again["conversation"] == session["conversation"]
    await desk.shows("one", f"--old {session['conversation']}")
    await desk.close()


OLD = """
name = "old"
title = "Old"
argv = ["sh", "-c", '%s echo "started $@"; exec cat', "old", "--quiet"]
new_id = ["--new", "{id}"]
flags = { model = ["--model", "{value}"] }
"""
ALWAYS = 'echo "Unknown argument: new"; exit 1;'


@pytest.fixture
async def old(world, request):
    """A helper that knows an agent of an old version: ``request.param`` is how it takes its arguments."""
    folder = world.config / "covey" / "agents"
    folder.mkdir(parents=True)
    (folder / "old.toml").write_text(OLD % request.param)
    desk = await Desk(world).start()
    yield desk
    await desk.close()


def refusing(option):
    return f'case "$*" in *{option}*) echo "error: unknown option {option}"; exit 1;; esac;'


async def told(desk, name):
    return [row["words"] for row in await desk("log", name=name) if row["kind"] == "began"]


@pytest.mark.parametrize("old", [refusing("--new"), refusing("--quiet")], indirect=True)
async def test_U06_an_option_that_an_old_version_does_not_know_is_left_out(old):
    made = await old("open", name="one", agent="old")
    await old.shows("one", "started")
    seen = await old("get", name="one")
    option = seen["options"]["without"]
    assert (seen["epoch"], seen["id"], seen["state"] == "exited") == (2, made["id"], False)
    assert option not in await old.screen("one")
    assert [f"does not know {option}" in said for said in await told(old, "one")] == [True]
    await old.until(lambda: [option in each["data"]["message"] for each in old.events if each["event"] == "Notice"])
    await old("respawn", name="one", force=True)
    await old.shows("one", "started")
    assert (await old("get", name="one"))["epoch"] == 3, "it is not tried again"


@pytest.mark.parametrize(("old", "expected"), [(ALWAYS, 2), (refusing("--model"), 1)], indirect=["old"])
async def test_U06_what_does_not_help_or_a_person_asked_for_is_not_tried_again_and_again(old, expected):
    await old("open", name="one", agent="old", options={"model": "big"})

    async def rests():
        seen = await old("get", name="one")
        return seen["state"] == "exited" and seen["epoch"] == expected

    await old.until(rests)
    if waiting := old.front.helper.revival._tasks:
        await asyncio.wait(waiting)
    assert (await old("get", name="one"))["epoch"] == expected


async def test_a_reset_forgets_the_conversation(desk):
    await desk("open", name="one", agent="standin")
    await desk.state("one", "idle")
    await desk("send", name="one", text="remember me")
    before = await desk("get", name="one")
    after = await desk("reset", name="one")
    assert (after["id"], after["epoch"]) == (before["id"], 2)
    assert after["conversation"] != before["conversation"]
    await desk.state("one", "idle")
    assert "Resumed" not in await desk.screen("one")


async def test_S10_what_a_logout_took_is_lost_and_goes_on_after_the_next_login(desk, talk):
    """systemd ends the user's processes, and the runtime directory goes."""
    session = await talk(env={"A": "given", "PATH": os.environ["PATH"]})
    os.kill(int(desk.tmux("display-message", "-p", "#{pid}")), signal.SIGTERM)
    await desk.state("one", "lost")
    await desk.close()
    shutil.rmtree(desk.world.run / "covey")
    again = await Desk(desk.world).start()
    try:
        (lost,) = await again("list")
        assert (lost["id"], lost["state"]) == (session["id"], "lost")
        (refused,) = await again("restore", yes=True)
        assert refused["error"]["message"] == "the value given for A ended with the login"
        (back,) = await again("restore", yes=True, environ={**os.environ, "A": "given again"})
        assert back["epoch"] == 2
        await again.shows("one", f"Resumed {session['conversation']}, 1 prompts")
    finally:
        await again.close()
