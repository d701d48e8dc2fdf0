"""The map of sessions: what it asks tmux again about, and what it calls the news."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from types import SimpleNamespace

import pytest

from covey import fleet, process, registry
from covey.models import Exit, Session
from covey.records import Records
from covey.tmux import reading

NOBODY = 2**22 + 1  # no pid is that high


def pane(pid, *, dead=False, code=None, signal=None):
    spec = SimpleNamespace(id="abcdefg2")
    return SimpleNamespace(pid=pid, dead=dead, exit=Exit(code, signal), spec=spec, epoch=1)


@pytest.mark.parametrize(
    ("seen", "unclear"),
    [
        (pane(os.getpid()), False),
        (pane(NOBODY), True),  # gone, and tmux has not heard of it
        (pane(NOBODY, dead=True), True),  # dead, and nobody knows how
        (pane(NOBODY, dead=True, code=0), False),
        (pane(NOBODY, dead=True, signal=9), False),
    ],
)
async def test_S2_tmux_is_asked_again_until_it_knows_that_and_how_a_program_ended(desk, seen, unclear):
    assert desk.front.helper.fleet._unclear(seen) is unclear


@pytest.fixture
async def misheard(desk, monkeypatch):
    """Two sessions that died, ``a`` heard of by tmux and ``b`` for so many looks not; and the server's nudges."""
    for name in "ab":
        await desk("open", name=name, cmd=["sleep", "1000"])
    await desk.until(lambda: all(desk.front.helper.kit.kin.root(v.id, v.pid) for v in views(desk).values()))
    desk.front.helper._loop.cancel()
    real, looks, nudges = reading.look, [], []

    def deaf(times):
        for view in views(desk).values():
            os.kill(view.pid, 9)

        async def look(server):
            looks.append(times)
            found, bad = await desk.until(lambda: ended(server))
            late = replace(next(each for each in found if each.spec.name == "b"), exit=Exit())
            return [late if each.spec.name == "b" and len(looks) <= times else each for each in found], bad

        async def ended(server):
            process.nudge(nudged)
            found, bad = await real(server)
            return (found, bad) if all(each.exit != Exit() for each in found) else None

        nudged = desk.front.helper.fleet.presence.server.pid
        monkeypatch.setattr(reading, "look", look)
        monkeypatch.setattr(type(desk.front.helper.place.processes), "nudge", staticmethod(nudges.append))
        return looks, nudges

    yield deaf
    monkeypatch.undo()


def views(desk):
    return desk.front.helper.fleet.views


def deaths(desk):
    return [(each["data"]["name"], each["data"]["exit"]["signal"]) for each in desk.events if each["event"] == "Exited"]


async def test_S2_a_server_is_nudged_before_an_exit_is_called_unknown(desk, misheard):
    _, nudges = misheard(3)
    await desk.front.helper.fleet.refresh()
    assert deaths(desk) == [("a", 9), ("b", 9)]
    assert nudges == [desk.front.helper.fleet.presence.server.pid] * 3


async def test_a_death_that_is_clear_is_told_before_one_that_is_not(desk, misheard, monkeypatch):
    looks, _ = misheard(3)
    told = []
    monkeypatch.setattr(desk.front.helper.fleet, "_emit", lambda what, _id, data: told.append((len(looks), what, data)))
    await desk.front.helper.fleet.refresh()
    assert [(look, data["name"]) for look, what, data in told if what == "Exited"] == [(1, "a"), (4, "b")]


async def test_an_exit_that_stays_unknown_is_asked_for_once(desk, misheard):
    looks, nudges = misheard(1000)
    await desk.front.helper.fleet.refresh()
    assert deaths(desk) == [("a", 9), ("b", None)]
    before = len(looks)
    await desk.front.helper.fleet.refresh()
    assert (len(looks) - before, len(nudges)) == (1, fleet.STATUS_TRIES)


OLD = Session(
    **dict.fromkeys(["id", "name", "agent", "since", "cwd", "created"], "x"),
    **dict.fromkeys(["evidence", "exit", "pid", "pane", "owner"]),
    state="idle",
    epoch=1,
    on_exit="keep",
    keep=False,
    settled=False,
    queued=0,
    guessed=False,
)


@pytest.mark.parametrize(
    ("old", "change", "event"),
    [
        (None, {}, "Opened"),
        (OLD, {"state": "exited"}, "Exited"),
        (replace(OLD, state="exited"), {"state": "exited", "epoch": 2}, "Exited"),
        (OLD, {"state": "lost"}, "Lost"),
        (OLD, {"state": "working"}, "State"),
        (OLD, {"name": "y"}, "Renamed"),
        (OLD, {"queued": 1}, "Changed"),
    ],
)
def test_news_have_a_name(old, change, event):
    assert registry.event(old, replace(OLD, **change)) == event


async def test_many_changes_are_one_wait_for_the_disk(desk, monkeypatch):
    store, together = desk.front.helper.store, []
    monkeypatch.setattr(Records, "_note", lambda *_: together.append(store._connection.in_transaction))
    Records(desk.front.helper.kit).note([(None, None)] * 3, None)
    assert together == [True] * 3
    assert not store._connection.in_transaction


async def test_the_last_line_is_what_the_agent_said_and_of_one_that_ended_what_is_at_the_end(desk):
    one = await desk.standin("one")
    await desk("send", name="one", text="echo hello there")

    async def said():
        return (await desk("get", name="one"))["last_line"] == "hello there"

    await desk.until(said)
    assert "standin · idle" in await desk.screen("one")
    os.kill(one["pid"], signal.SIGKILL)
    assert (await desk.state("one", "exited"))["last_line"] == "standin · idle"
