"""An agent ended, and what it was ended for did not come about: its session is told of as it is."""

from __future__ import annotations

import pytest

from covey import ending
from covey.errors import TmuxRefused
from covey.tmux import panes

AGENT = "trap '' HUP; sleep 1001 & echo $! > child.new; mv child.new child; wait"  # the child heeds no hang-up


def news(desk, session):
    return [event["event"] for event in desk.events if event["session"] == session["id"]]


@pytest.mark.parametrize("restart", ["never", "always"])
async def test_that_its_agent_ended_is_told_of_a_session_that_a_kill_leaves_behind(desk, monkeypatch, restart):
    one = await desk("open", name="one", cmd=["sh", "-c", AGENT], cwd=str(desk.world.home), restart=restart)
    kept = desk.world.home / "child"
    await desk.until(kept.exists)
    child = kept.read_text().strip()
    spared = ending.send
    monkeypatch.setattr(ending, "send", lambda who, number: who.pid == int(child) or spared(who, number))
    monkeypatch.setattr(ending, "BUDGET", 0.1)
    desk.events.clear()
    killed = await desk("kill", name="one")
    monkeypatch.undo()
    assert killed["survivors"] == [f"{child} sleep"]
    assert news(desk, one) == ["Exited"]
    assert (await desk("get", name="one"))["state"] == "exited"
    assert desk.front.helper.revival._tasks == set()
    await desk("kill", name="one")
    assert news(desk, one) == ["Exited", "Gone"]


async def test_that_its_agent_ended_is_told_where_it_could_not_be_started_again(desk, monkeypatch):
    one = await desk.standin("one")

    async def refused(*_):
        raise TmuxRefused("no")

    monkeypatch.setattr(panes, "respawn", refused)
    desk.events.clear()
    with pytest.raises(TmuxRefused):
        await desk("respawn", name="one", force=True)
    assert news(desk, one) == ["Exited"]
    monkeypatch.undo()
    await desk("respawn", name="one")
    assert news(desk, one)[:2] == ["Exited", "State"]


async def test_that_an_agent_ends_which_is_started_again_is_no_news(desk):
    one = await desk.standin("one")
    desk.events.clear()
    await desk("respawn", name="one", force=True)
    await desk.state("one", "idle")
    assert "Exited" not in news(desk, one)
