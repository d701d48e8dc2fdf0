"""A few of the many rounds of ``chaos.py``: whatever is struck, and whenever, everything adds up afterwards."""

from __future__ import annotations

import signal

import pytest

from faults import chaos


@pytest.mark.parametrize("target", chaos.TARGETS)
def test_after_a_strike_every_session_is_alive_lost_and_offered_or_rightly_reaped(world, target):
    arena = chaos.Arena(world, seed=11)
    try:
        for number in (signal.SIGKILL, signal.SIGSTOP):
            arena.round((number, target))
    finally:
        arena.end()
    assert arena.faults == []


def test_what_does_not_add_up_is_seen(world):
    arena = chaos.Arena(world, seed=1)
    spool = world.run / "covey" / "x" / "spool"
    spool.mkdir(parents=True)
    (spool / "abcdefg2.start.1").write_text("old")
    chaos.os.utime(spool / "abcdefg2.start.1", (1, 1))
    session = {"id": "abcdefg3", "name": "one", "owner": {"pid": 1}, "on_exit": "reap", "state": "idle", "flags": []}
    twice = {"abcdefg3": session, "abcdefg4": {**session, "owner": None}}
    assert len(list(arena._names(twice))) == 2
    assert len(list(arena._panes(twice))) == 2
    arena.covey("list")
    assert any("abcdefg2" in fault for fault in arena._files({}))
