"""Deaths, a few of the many in ``deaths.py``: every one is seen, and told as it was."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil

from desk import Desk
from faults import deaths


async def test_every_kind_of_death_is_seen_and_right(world):
    told = await deaths.run(world, 120, 12, at_once=2, salvo=12)
    assert {name: (tally.seen, tally.wrong) for name, tally in told.items()} == {name: (40, []) for name in told}


def test_every_way_to_end_is_tried():
    assert len(deaths.WAYS) >= 256 + 50
    assert {("code", 0), ("code", 255), ("signal", signal.SIGKILL), ("signal", signal.SIGRTMAX)} <= set(deaths.WAYS)


def test_a_wrong_word_about_a_death_is_counted():
    tally = deaths.Tally()
    tally.take(("code", 3), {"exit": {"code": 3, "signal": None}})
    tally.take(("signal", 9), {"exit": {"code": 137, "signal": None}})
    assert (tally.seen, tally.wrong) == (2, ["signal 9 was told as {'code': 137, 'signal': None}"])


async def test_a_late_word_of_an_old_death_does_not_reach_the_new_agent(desk):
    await desk("open", name="one", cmd=["sh", "-c", "exit 7"])
    await desk.state("one", "exited")
    desk.events.clear()
    await desk("respawn", name="one")
    await desk.until(lambda: [e for e in desk.events if e["event"] == "Exited"])
    assert {(e["data"]["epoch"], e["data"]["exit"]["code"]) for e in desk.events if e["event"] == "Exited"} == {(2, 7)}


SESSIONS, REST = int(os.environ.get("COVEY_SESSIONS", "5")), float(os.environ.get("COVEY_REST", "3"))
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"}


async def test_at_rest_no_process_is_started(world):
    """``COVEY_SESSIONS=50 COVEY_REST=60`` for the long run."""
    desk = await Desk(world).start()
    for number in range(SESSIONS):
        await desk("open", name=f"s{number}", cmd=["sleep", "1000"])
    server = psutil.Process(int(desk.tmux("display-message", "-p", "#{pid}")))
    await desk.until(lambda: desk.front.helper.eyes.pause(9.0) == 9.0, message="all is at rest")
    with started() as names:
        before, burnt = {each.pid for each in world.processes()}, time.process_time()
        until = time.monotonic() + REST
        while time.monotonic() < until:
            assert {each.pid for each in server.children()} <= before
            await asyncio.sleep(0.25)
        burnt = time.process_time() - burnt
    print(
        f"{len(names)} processes started in {REST:g} s beside {SESSIONS} sessions; {burnt:.2f} s of CPU with this test"
    )
    assert names == []
    assert {each.pid for each in world.processes()} == before
    await desk.close()


@contextlib.contextmanager
def started():
    """The names of the programs that this process starts meanwhile. (An audit hook is for good: it is switched off.)"""
    names, on = [], [True]
    sys.addaudithook(lambda event, args: names.append(str(args[0])) if on[0] and event in STARTS else None)
    yield names
    on[0] = False


def test_a_started_process_would_be_seen():
    with started() as names:
        subprocess.run(["true"], check=True)
    assert names == ["true"]
