"""What cannot be read of a session is guessed, marked so, and left alone by all that acts by itself."""

from __future__ import annotations

import base64
import json
import os
import signal

import pytest

from covey import process, render
from covey.errors import Refused
from desk import Desk


def spoil_mark(desk, session, value="no-spec"):
    desk.tmux("set-option", "-p", "-t", session["pane"], "@covey_spec", value)


def spoil_row(desk, session, column="spec", value="{"):
    with desk.front.helper.store.transaction() as db:
        db.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", (value, session["id"]))


def forget_row(desk, session):
    with desk.front.helper.store.transaction() as db:
        db.execute("DELETE FROM sessions WHERE id = ?", (session["id"],))


async def listed(desk):
    (one,) = await desk("list")
    return one


async def test_a_pane_whose_mark_is_damaged_is_shown_as_the_store_remembers_it(desk):
    session = await desk.standin("one", restart="always")
    spoil_mark(desk, session)
    one = await listed(desk)
    assert (one["name"], one["agent"], one["state"]) == ("one", "standin", "idle")
    assert (one["guessed"], one["flags"]) == (True, ["guessed"])
    assert "idle?" in render.answer("list", [one])
    assert "one: what covey knows of it" in render.answer("list", [one])
    assert desk.front.helper.store.session(session["id"]).spec.guessed is False


@pytest.mark.parametrize("value", ["no number", "-1", "9" * 30])
@pytest.mark.parametrize("mark", ["@covey_epoch", "@covey_fence", "@covey_id"])
async def test_a_session_whose_row_cannot_be_read_at_all_is_unknown_and_not_gone(desk, world, mark, value):
    session = await desk.standin("one")
    await desk.standin("two")
    was = desk.tmux("show-options", "-p", "-v", "-t", session["pane"], mark).strip()
    desk.tmux("set-option", "-p", "-t", session["pane"], mark, value)
    seen = {each["name"]: each for each in await desk("list")}
    assert (seen["one"]["state"], seen["one"]["flags"]) == ("unknown", ["stale"])
    assert seen["two"]["state"] == "idle"
    other = await Desk(world).start()
    assert {each["name"]: each["state"] for each in await other("list")} == {"one": "unknown", "two": "idle"}
    await other.close()
    desk.tmux("set-option", "-p", "-t", session["pane"], mark, was)
    assert {each["name"]: each["state"] for each in await desk("list")} == {"one": "idle", "two": "idle"}
    assert desk.front.helper.store.session(session["id"]).ended_at == ""


DAMAGED = {
    "nested": lambda spec: b"[" * 3000,
    "a scrollback without end": lambda spec: said({**spec, "options": {"history_limit": "9" * 5000}}),
    "a priority that is none": lambda spec: said({**spec, "options": {"nice": "-n; true"}}),
}


def said(value):
    return json.dumps(value).encode()


@pytest.mark.parametrize("what", DAMAGED)
async def test_a_mark_however_damaged_costs_its_own_session_alone(desk, what):
    session = await desk.standin("one")
    await desk.standin("two")
    spec = desk.front.helper.fleet.panes[session["id"]].spec.to_json()
    spoil_mark(desk, session, base64.urlsafe_b64encode(DAMAGED[what](spec)).decode())
    seen = {each["name"]: (each["state"], each["guessed"]) for each in await desk("list")}
    assert seen == {"one": ("idle", True), "two": ("idle", False)}


async def test_a_look_at_what_is_guessed_is_no_news(desk):
    session = await desk.standin("one")
    forget_row(desk, session)
    spoil_mark(desk, session)
    await listed(desk)
    before = len(desk.events)
    assert await listed(desk) == await listed(desk)
    assert desk.events[before:] == []


@pytest.mark.parametrize("mark", ["", "e30", "another's"])
async def test_a_pane_of_which_only_the_id_is_known_can_be_ended_and_not_started(desk, mark):
    session = await desk.standin("one")
    other = await desk.standin("two")
    theirs = desk.tmux("show-options", "-p", "-v", "-t", other["pane"], "@covey_spec")
    await desk("kill", name="two")
    forget_row(desk, session)
    spoil_mark(desk, session, theirs if mark == "another's" else mark)
    one = await listed(desk)
    assert (one["id"], one["name"], one["agent"], one["guessed"]) == (session["id"], session["id"], "custom", True)
    with pytest.raises(Refused, match="not known what"):
        await desk("respawn", name=one["id"], force=True)
    assert process.identify(session["pid"])
    await desk("rename", name=one["id"], new="named")
    assert (await listed(desk))["guessed"]
    assert session["pid"] in (await desk("kill", name="named"))["ended"]
    assert await desk("list") == []


async def test_what_is_guessed_is_not_started_again_by_itself_and_a_respawn_ends_the_doubt(desk):
    session = await desk.standin("one", restart="always")
    spoil_mark(desk, session)
    await desk.state("one", "idle")
    os.kill(session["pid"], signal.SIGKILL)
    await desk.state("one", "exited")
    assert desk.front.helper.revival._tasks == set()
    again = await desk("respawn", name="one")
    assert (again["guessed"], again["epoch"]) == (False, 2)
    os.kill((await desk.state("one", "idle"))["pid"], signal.SIGKILL)
    await desk.until(lambda: desk.front.helper.fleet.views[session["id"]].epoch == 3)


async def test_a_prompt_for_what_is_guessed_is_held_unless_it_is_forced(desk):
    session = await desk.standin("one")
    spoil_mark(desk, session)
    held = await desk("send", name="one", text="to whom?")
    assert (held["outcome"], "guessed" in held["reason"]) == ("held", True)
    await desk("cancel", act=held["id"])
    assert (await desk("send", name="one", text="to you", force=True))["outcome"] == "submitted"
    assert desk.prompts("one") == ["to you"]


async def test_a_run_that_is_guessed_does_not_settle(desk):
    argv = ["{python}", "-m", "covey.standin", "--work", "1.5"]
    run = await desk("run", name="task", agent="standin", cmd=argv, prompt="do it")
    await desk.state("task", "working")
    spoil_mark(desk, run)
    await desk.state("task", "idle")
    await desk.until(lambda: all(task.done() for task in desk.front.helper.settling._tasks.values()))
    one = await listed(desk)
    assert (one["settled"], (await desk("reap"))["decisions"]) == (False, [])


@pytest.mark.parametrize("on_exit", ["reap", "settled"])
async def test_what_is_guessed_outlives_its_editor_whatever_its_policy(world, on_exit):
    desk = await Desk(world, os.getpid()).start()
    session = await desk("open", name="one", cmd=["sh", "-c", "exit 3"], on_exit=on_exit)
    await desk.state("one", "exited")
    spoil_mark(desk, session)
    await desk.front.bye({})
    one = await listed(desk)
    assert (one["id"], one["owner"], one["guessed"]) == (session["id"], None, True)
    await desk.close()


async def test_a_damaged_row_is_corrected_by_the_mark(desk):
    session = await desk.standin("one")
    for column in ("spec", "state", "server"):
        spoil_row(desk, session, column)
    one = await listed(desk)
    assert (one["name"], one["guessed"], one["flags"]) == ("one", False, [])
    assert desk.front.helper.store.session(session["id"]).spec.name == "one"


@pytest.mark.parametrize("spec", ["{", "[]", '{"id": 3}', "null"])
async def test_a_lost_session_whose_row_is_damaged_breaks_no_list(desk, spec):
    session = await desk.standin("one")
    desk.tmux("kill-server")
    await desk.state("one", "lost")
    spoil_row(desk, session, value=spec)
    one = await listed(desk)
    assert (one["id"], one["state"], one["guessed"]) == (session["id"], "lost", True)
    (failed,) = await desk("restore", yes=True)
    assert "not known what" in failed["error"]["message"]
    await desk("kill", name=session["id"])
    assert await desk("list") == []
