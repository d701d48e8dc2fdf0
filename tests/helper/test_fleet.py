"""The map of sessions: what it asks tmux again about, and what it calls the news."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from covey import fleet, registry
from covey.models import Exit, Session

NOBODY = 2**22 + 1  # no pid is that high


def pane(pid, *, dead=False, code=None, signal=None):
    return SimpleNamespace(pid=pid, dead=dead, exit=Exit(code, signal))


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


async def test_S2_a_server_is_nudged_before_an_exit_is_called_unknown(desk, monkeypatch):
    await desk("open", name="one", cmd=["sleep", "1000"])
    here = desk.front.helper.fleet
    nudged, answers = [], [[pane(NOBODY, dead=True)], [pane(NOBODY, dead=True, code=3)]]

    async def look(_):
        return answers.pop(0), []

    monkeypatch.setattr(fleet.panes, "look", look)
    monkeypatch.setattr(type(here._kit.place.processes), "nudge", staticmethod(nudged.append))
    (known,) = await here._with_status([pane(NOBODY)])
    monkeypatch.undo()
    assert known.exit == Exit(3)
    assert nudged == [here._server.pid] * 2


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
    here, together = desk.front.helper.fleet, []
    monkeypatch.setattr(here, "_note", lambda *_: together.append(here._kit.store._connection.in_transaction))
    here._write_down([(None, None, None)] * 3)
    assert together == [True] * 3
    assert not here._kit.store._connection.in_transaction
