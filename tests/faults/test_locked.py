"""Another program that keeps the store locked: one sentence, no prompt lost or doubled, nothing stands still."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from covey import database
from covey.errors import StoreBusy
from waiting import eventually_async

PERSON = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def person(desk):
    """Somebody in front of a shell of sqlite3: ``lock()`` begins a transaction, and what it answers ends it."""
    shells = []

    def lock():
        argv = [sys.executable, "-c", PERSON, str(desk.front.helper.store.path)]
        shell = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        shells.append(shell)
        assert shell.stdout.readline() == b"locked\n"
        return shell.communicate

    yield lock
    for shell in shells:
        shell.kill()
        shell.communicate()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(database, "BUSY_S", 0.2)


async def test_a_send_into_a_locked_store_says_so_and_works_once_it_is_free(impatient, desk, person):
    await desk.standin("one")
    unlock = person()
    with pytest.raises(StoreBusy, match="kept locked by another program") as refused:
        await desk("send", name="one", text="first", act="a")
    assert "transaction" in refused.value.hint
    assert [each["name"] for each in await desk("list")] == ["one"]
    unlock()
    assert (await desk("send", name="one", text="first", act="a"))["outcome"] == "submitted"
    assert desk.prompts("one") == ["first"]


async def test_what_waited_is_delivered_once_the_store_is_free(impatient, desk, person, caplog):
    await desk.standin("one")
    await desk("send", name="one", text="ask first")
    await desk.state("one", "blocked")
    held = await desk("send", name="one", text="after it")
    assert held["outcome"] == "held"
    unlock = person()
    await desk("answer", name="one", choice="yes")
    await eventually_async(lambda: caplog.text.count("delivery to") >= 3)
    assert desk.prompts("one") == ["ask first"]
    unlock()
    assert (await desk("wait", act=held["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["ask first", "after it"]


async def test_a_death_is_told_while_the_store_is_locked_and_written_down_after_it(impatient, desk, person):
    await desk("open", name="one", cmd=["sh", "-c", "read _; exit 3"])
    await desk.state("one", "idle", "unknown")
    unlock = person()
    desk.tmux("send-keys", "-t", (await desk("get", name="one"))["pane"], "Enter")
    assert (await desk.state("one", "exited"))["exit"]["code"] == 3
    unlock()

    async def written():
        return [each for each in await desk("log", name="one") if each["kind"] == "exited"]

    assert len(await desk.until(written)) == 1


async def test_who_waits_for_a_locked_store_keeps_nobody_from_what_needs_none(desk, person, monkeypatch):
    monkeypatch.setattr(database, "BUSY_S", 3600.0)  # who waits for it waits until it is free
    session = await desk.standin("one", once=True)
    helper = desk.front.helper
    unlock = person()
    sending = asyncio.create_task(desk("send", name="one", text="late"))
    await desk.until(lambda: not helper.store._lock.acquire(blocking=False) or helper.store._lock.release())
    helper.settling.seen(helper.fleet.views[session["id"]])
    await desk.screen("one")
    assert not sending.done()
    unlock()
    assert (await sending)["outcome"] == "submitted"
