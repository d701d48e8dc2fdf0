"""R02, S07: what tmux did not say is not known, and whoever ends a server that is not ours ends nothing of ours."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from covey import process
from covey.tmux.control import Control
from desk import Desk

WRAPPERS = {
    "hangs": "exec sleep 600",
    "is out of resources": "echo 'fork failed: Resource temporarily unavailable' >&2; exit 1",
    "is missing": None,
}


@pytest.mark.parametrize("script", WRAPPERS.values(), ids=WRAPPERS.keys())
async def test_R02_a_tmux_that_fails_while_an_editor_leaves_ends_nothing(world, monkeypatch, script):
    desk = await Desk(world, os.getpid()).start()
    lives = await desk("open", name="lives", cmd=["sleep", "1000"], on_exit="reap")
    await desk("open", name="over", cmd=["false"])
    await desk.state("over", "exited")
    wire = desk.front.helper.place.wire
    if script:
        (world.tmp / "tmux").write_text(f"#!/bin/sh\n{script}\n")
        (world.tmp / "tmux").chmod(0o700)
    with monkeypatch.context() as patch:
        patch.setattr(wire, "binary", str(world.tmp / "tmux"))
        patch.setattr(Control.send, "__defaults__", (0.2,))  # its deadline
        desk.tmux("detach-client", "-s", "=hub")
        await desk.until(lambda: not wire.connected)
        await desk.front.bye({})
        assert process.identify(lives["pid"])
        assert {each["state"] for each in await desk("list")} == {"unknown"}
        assert [record.ended_at for record in desk.front.helper.store.sessions(live=False)] == ["", ""]
    assert {each["name"]: each["state"] for each in await desk("list")}["over"] == "exited"
    assert (await desk("get", name="lives"))["pid"] == lives["pid"]
    await desk.close()


async def test_S07_an_agent_that_kills_the_persons_server_does_not_end_ours(desk, terminal):
    terminal.start(["cat"])
    done = desk.world.tmp / "done"
    theirs = f"TMUX_TMPDIR={shlex.quote(str(desk.world.tmp))} tmux kill-server"  # what agents do not get of the test's
    script = f"{theirs}; tmux -S {terminal.socket} kill-server; touch {done}; sleep 1000"
    await desk("open", name="one", cmd=["sh", "-c", script])
    await desk("open", name="two", cmd=["sleep", "1000"])
    await desk.until(done.exists)
    sessions = await desk("list")
    assert [each["state"] in ("idle", "unknown", "working") and "stale" not in each["flags"] for each in sessions] == [
        True,
        True,
    ]


async def test_S07_an_agent_that_kills_our_server_leaves_sessions_that_are_offered_again(desk):
    now = desk.world.tmp / "now"
    script = f"while ! test -e {now}; do sleep 0.02; done; rm {now}; tmux -S {desk.socket} kill-server"
    await desk("open", name="two", cmd=[sys.executable, "-S", "-c", "import time; time.sleep(1000)"])
    await desk("open", name="one", cmd=["sh", "-c", f"{script}; sleep 1000"])
    now.touch()
    assert await desk.state("two", "lost")
    assert {each["name"] for each in await desk("restore")} == {"one", "two"}
    back = await desk("restore", yes=True)
    assert [each["epoch"] for each in back] == [2, 2]


async def test_R05_thirty_agents_that_ended_well_are_gone_when_their_editor_leaves(world, monkeypatch):
    monkeypatch.setattr("covey.api.SWEEP_DEADLINE", 60.0)
    desk = await Desk(world, os.getpid()).start()
    for number in range(30):
        await desk("open", name=f"s{number}", cmd=["true"])
    last = "echo why; sleep 0.2; exit 3"  # tmux before 3.7 may lose what is said in the very moment of an end
    await desk("open", name="failed", cmd=["sh", "-c", last], on_exit="keep")
    await desk.until(lambda: all(view.state == "exited" for view in desk.front.helper.fleet.views.values()))
    await desk.front.bye({})
    (left,) = await desk("list")
    assert (left["name"], left["exit"]["code"], left["last_line"]) == ("failed", 3, "why")
    await desk.close()


async def test_a_program_whose_own_name_has_several_lines_is_seen_and_ended_as_any_other(desk):
    code = 'import os; os.execv("/bin/sleep", ["x\\n%exit", "1000"])'
    one = await desk("open", name="one", cmd=[sys.executable, "-c", code])
    await desk.until(lambda: Path(f"/proc/{one['pid']}/cmdline").read_bytes().startswith(b"x\n"))
    assert (await desk("get", name="one"))["flags"] == []
    assert (await desk("send", name="one", text="hello"))["outcome"] == "pasted"
    await desk("kill", name="one")
    assert await desk("list") == []
    assert [event for event in desk.events if event["event"] == "Notice"] == []
