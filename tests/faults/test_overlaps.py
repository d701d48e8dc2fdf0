"""Two things at once to one session, and what is asked while something else is still being done."""

from __future__ import annotations

import asyncio
import os

import pytest

from covey import process, session
from covey.errors import NotFound, Refused
from desk import Desk

SLOW = "trap 'sleep 0.6; exit 0' TERM; while :; do sleep 0.05; done"


@pytest.fixture
async def editor(world):
    """A helper of an editor's, which leaves without its test's doing."""
    here = await Desk(world, os.getpid()).start()
    yield here
    await here.close()


async def test_a_kill_that_is_overtaken_leaves_the_session_what_it_is(desk, monkeypatch):
    one = await desk("open", name="one", cmd=["sleep", "1000"])

    async def overtaken(*_):
        raise Refused("overtaken by a respawn, an interrupt or a kill")

    with monkeypatch.context() as patch:
        patch.setattr(session.panes, "kill", overtaken)
        with pytest.raises(Refused, match="overtaken"):
            await desk("kill", name="one")
    assert desk.front.helper.store.session(one["id"]).ended_at == ""
    assert "ended" not in [event["kind"] for event in await desk("log", name="one")]
    await desk("kill", name="one")
    assert [event["kind"] for event in await desk("log", name="one")].count("ended") == 1


async def test_a_sweep_ends_nothing_that_tmux_still_has(desk, editor):
    one = await desk("open", name="one", cmd=["sleep", "1000"])
    desk.front.helper.store.end_session(one["id"], "killed")
    await editor("list")
    await editor.front.bye({})
    assert process.identify(one["pid"])


async def test_what_was_changed_while_it_was_started_again_stays(desk):
    one = await desk("open", name="one", cmd=["sh", "-c", SLOW])
    again = asyncio.create_task(desk("respawn", name="one", force=True))
    fence = desk.front.helper.fleet.panes[one["id"]].fence
    await desk.until(lambda: fenced(desk, one, fence), message="the respawn has begun")
    await desk("rename", name="one", new="two")
    await desk("keep", name="two")
    await again
    (now,) = await desk("list")
    assert (now["name"], now["keep"], now["epoch"]) == ("two", True, 2)


async def fenced(desk, session_, before):
    return (await desk.front.helper.fleet.pane(session_["id"])).fence > before


async def test_what_an_editor_asked_to_open_is_opened_also_when_it_leaves(editor, desk, monkeypatch):
    monkeypatch.setattr("covey.api.DONE_DEADLINE", 60.0)
    asked = asyncio.create_task(editor("open", name="one", cmd=["sleep", "1000"], env={"K": "cmd:sleep 0.5; echo k"}))
    await asyncio.sleep(0)  # it is on its way
    await editor.front.bye({})
    assert [each["name"] for each in await desk("list")] == ["one"]
    await asked


async def test_who_asks_for_a_session_that_is_being_made_waits_for_it(desk):
    argv = ["{python}", "-m", "covey.standin", "--work", "0"]
    opened, seen = await asyncio.gather(
        desk("open", name="one", agent="standin", cmd=argv, env={"K": "cmd:sleep 0.5; echo k"}), desk("get", name="one")
    )
    assert seen["id"] == opened["id"]


async def test_an_editor_that_leaves_last_takes_the_server_along(editor, world):
    await editor("open", name="one", cmd=["sleep", "1000"])
    other = await Desk(world).start()
    await other("kill", name="one")
    await other.close()
    await editor("list")
    assert editor.tmux("list-sessions", "-F", "#{session_name}").split() == ["hub"]
    await editor.front.bye({})
    assert editor.tmux("list-sessions", "-F", "#{session_name}").split() == []


async def test_from_within_a_session_it_is_not_started_again(desk, monkeypatch):
    one = await desk("open", name="one", cmd=["sleep", "1000"])
    monkeypatch.setenv(process.MARK, one["id"])
    for method in ("respawn", "reset"):
        with pytest.raises(Refused, match="the session that this runs in"):
            await desk(method, name="one")
    assert process.identify(one["pid"])


async def test_a_draft_that_waits_behind_a_dialog_is_in_the_log_once(desk):
    await desk.standin("one", "--dialog-after-paste")
    await desk("send", name="one", text="x")
    tried = []
    courier = desk.front.helper.fleet.session(desk.front.helper.fleet.find("one").id)._courier
    deliver = courier._deliver

    async def counted(*given):
        tried.append(given)
        return await deliver(*given)

    courier._deliver = counted
    await desk.until(lambda: len(tried) > 2, message="it was tried again, and again")
    reasons = [event["data"]["reason"] for event in await desk("log", name="one") if event["kind"] == "held"]
    assert len(reasons) == len(set(reasons))


async def test_a_draft_that_reads_like_a_placeholder_is_a_draft(desk):
    one = await desk.standin("one")
    desk.tmux("send-keys", "-t", one["pane"], "-l", "Type a prompt")
    await desk.shows("one", "❯ Type a prompt")
    receipt = await desk("send", name="one", text="second")
    assert receipt["outcome"] == "held"
    assert receipt["reason"].startswith("a half-typed draft is in the composer: 'Type a prompt'; ")


@pytest.mark.parametrize("text", ["\u200b", "\ufeff \u00a0"])
async def test_a_prompt_that_would_look_empty_is_refused(desk, text):
    await desk.standin("one")
    assert (await desk("send", name="one", text=text))["outcome"] == "refused"
    assert desk.prompts("one") == []


async def test_a_window_that_somebody_left_small_holds_no_prompt(desk, terminal):
    """tmux keeps the size of whoever was attached last."""
    await desk.standin("one")
    plan = await desk("attach", name="one")
    terminal.start(plan["argv"], cols=24, rows=5)
    await desk.until(lambda: size(desk) == "24x5", message="it is as small as its client")
    terminal.tmux("kill-server")
    await desk.until(lambda: not watched(desk), message="nobody is attached")
    text = "word " * 60
    receipt = await desk("send", name="one", text=text)
    receipt = await desk("wait", act=receipt["id"])
    assert (receipt["outcome"], desk.prompts("one"), size(desk)) == ("submitted", [text], "120x40")


def size(desk):
    return desk.tmux("list-panes", "-a", "-f", "#{@covey_id}", "-F", "#{pane_width}x#{pane_height}").strip()


def watched(desk):
    return "0" in desk.tmux("list-clients", "-F", "#{client_control_mode}")


@pytest.mark.parametrize("fields", [{"new": "two"}, {"on": True}], ids=["rename", "keep"])
async def test_what_is_changed_in_the_very_moment_of_a_respawn_is_not_lost(desk, monkeypatch, fields):
    await desk.standin("one")
    other = await Desk(desk.world).start()
    real, changing = session.panes.respawn, []

    async def between(*args):
        """What somebody asks for between the last reading of the marks and their writing."""
        changing.append(asyncio.create_task(other("rename" if "new" in fields else "keep", name="one", **fields)))
        await asyncio.wait(changing, timeout=0.5)  # it is done, or waits for us
        await real(*args)

    monkeypatch.setattr(session.panes, "respawn", between)
    try:
        await desk("respawn", name="one", force=True)
        changed = await changing[0]
        found = await desk("get", name=changed["id"])
        assert (found["name"], found["keep"]) == (("two", False) if "new" in fields else ("one", True))
        assert (found["epoch"], found["argv"]) == (2, changed["argv"])
    finally:
        await other.close()


@pytest.mark.parametrize("verb", ["respawn", "reset"])
async def test_a_session_that_is_closed_in_the_middle_is_said_in_our_words(desk, monkeypatch, verb):
    one = await desk.standin("one")
    real = session.panes.raise_fence

    async def closed(*args):
        found = await real(*args)
        desk.tmux("kill-session", "-t", f"=covey-{one['id']}")
        return found

    monkeypatch.setattr(session.panes, "raise_fence", closed)
    with pytest.raises(NotFound, match="pane is gone"):
        await desk(verb, name="one", **({"force": True} if verb == "respawn" else {}))
