"""P05, P06: opening is one step, and what sessions share is nobody's to take away."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from desk import Desk
from faults import crash

DIES = """
import asyncio, os, signal, sys
from covey import store
from covey.api import Front
from covey.tmux import panes
where = {"save_session": store.Store, "create": panes}[sys.argv[1]]
real = getattr(where, sys.argv[1])
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def dying(*args, **options):
    real(*args, **options)
    die()
async def dying_later(*args, **options):
    await real(*args, **options)
    die()
setattr(where, sys.argv[1], dying_later if asyncio.iscoroutinefunction(real) else dying)
async def main():
    front = Front(lambda event: None)
    await front.hello({})
    await front.call("open", {"name": "one", "agent": "standin"})
asyncio.run(main())
"""


async def test_P05_two_openings_at_one_moment_make_one_agent(desk):
    other = await Desk(desk.world).start()
    try:
        opened = await asyncio.gather(*(each("open", name="one", agent="standin") for each in (desk, other, desk)))
    finally:
        await other.close()
    assert len({each["id"] for each in opened}) == 1
    assert sorted(each["opened"] for each in opened) == [False, False, True]
    assert desk.tmux("list-panes", "-a", "-F", "#{@covey_id}").split() == [opened[0]["id"]]


@pytest.mark.parametrize("step", ["save_session", "create"])
async def test_P05_who_dies_between_recording_and_creating_leaves_no_ghost(desk, step):
    """The record comes first: without a pane it is of a session that is over; with one, it is that session."""
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", DIES, step, env=os.environ)
    assert await run.wait() == -signal.SIGKILL
    await asyncio.to_thread(crash.end_orphans, desk.world)  # tmux <= 3.3a may keep the client of one that was killed
    session = await desk("open", name="one", agent="standin")
    await desk.state("one", "idle")
    listed = await desk("list")
    assert [each["id"] for each in listed] == [session["id"]]
    assert session["opened"] == (step == "save_session")
    assert desk.tmux("list-panes", "-a", "-F", "#{@covey_id}").split() == [session["id"]]


async def test_P06_a_directory_that_sessions_share_stays(desk):
    project = desk.world.home / "project"
    project.mkdir()
    (project / "work").write_text("of all of them")
    for name in ("one", "two"):
        await desk("open", name=name, agent="standin", cwd=str(project))
    await desk("delete", name="one")
    await desk.state("two", "idle")
    await desk.close()
    third = await Desk(desk.world).start()
    try:
        await third("open", name="three", agent="standin", cwd=str(project))
        assert (await third("get", name="two"))["state"] in ("idle", "starting")
        await third("kill", name="two")
        assert (project / "work").read_text() == "of all of them"
        assert (await third.state("three", "idle"))["cwd"] == str(project)
    finally:
        await third.close()
