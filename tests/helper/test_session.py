"""One session's lane: who goes on with what somebody left, and what passes what."""

from __future__ import annotations

import asyncio

import pytest

from covey.errors import Refused
from covey.models import Identity
from covey.outbox import Outbox
from covey.session import lane

DEAD = Identity(2**22 - 1, 1, "elsewhere")


@pytest.fixture
async def one(desk):
    return await desk.standin("one")


def left_by_a_dead_typer(desk, session: str, act: str, text: str, *, epoch: int = 1) -> None:
    """A prompt that a helper had begun to type when it died."""
    dead = Outbox(desk.front.helper.store, DEAD)
    dead.put(act, session, epoch, "send", text, {}, DEAD)
    dead.typing(dead.head(session).row)


async def test_what_a_dead_typer_did_not_type_is_delivered(desk, one):
    left_by_a_dead_typer(desk, one["id"], "a", "begun and not typed")
    desk.front.helper.fleet.session(one["id"]).kick()
    assert (await desk("wait", act="a"))["outcome"] == "submitted"
    assert desk.prompts("one") == ["begun and not typed"]


async def test_what_a_dead_typer_typed_is_unconfirmed_and_not_typed_again(desk, one):
    left_by_a_dead_typer(desk, one["id"], "a", "typed")
    desk.tmux("set-option", "-p", "-t", one["pane"], "@covey_act", "a")
    desk.front.helper.fleet.session(one["id"]).kick()
    assert (await desk("wait", act="a"))["outcome"] == "unconfirmed"
    assert desk.prompts("one") == []


async def test_nothing_that_a_dead_typer_sent_before_comes_after_a_successor(desk, one):
    """The fence is raised before the mark is read: a line of his that is late is denied."""
    before = (await desk.front.helper.fleet.pane(one["id"])).fence
    left_by_a_dead_typer(desk, one["id"], "a", "late")
    desk.front.helper.fleet.session(one["id"]).kick()
    await desk("wait", act="a")
    assert (await desk.front.helper.fleet.pane(one["id"])).fence == before + 1


async def test_what_was_begun_for_an_older_start_is_unconfirmed(desk, one):
    left_by_a_dead_typer(desk, one["id"], "a", "old", epoch=7)
    desk.front.helper.fleet.session(one["id"]).kick()
    assert (await desk("wait", act="a"))["outcome"] == "unconfirmed"


async def test_a_file_that_a_dead_typer_staged_is_in_nobodys_way(desk, one):
    files = desk.front.helper.place.files
    files.stage(f"{one['id']}.a", b"what he wanted to type")
    left_by_a_dead_typer(desk, one["id"], "a", "what was asked")
    desk.front.helper.fleet.session(one["id"]).kick()
    assert (await desk("wait", act="a"))["outcome"] == "submitted"
    assert desk.prompts("one") == ["what was asked"]
    assert f"{one['id']}.a" not in files.of(one["id"])


async def test_prompts_for_an_older_start_are_dropped_and_say_so(desk, one):
    desk.front.helper.outbox.put("a", one["id"], 9, "send", "for another start", {}, DEAD)
    desk.front.helper.fleet.session(one["id"]).kick()
    receipt = await desk("wait", act="a")
    assert (receipt["outcome"], "start 9" in receipt["reason"]) == ("dropped", True)
    assert desk.prompts("one") == []


async def test_what_waits_when_its_session_ends_is_undelivered(desk, one):
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("send-keys", "-t", pane, "-l", "a draft")
    await desk.shows("one", "a draft")
    receipts = await asyncio.gather(*(desk("send", name="one", text=text) for text in ("first", "second")))
    assert [each["outcome"] for each in receipts] == ["held", "held"]
    await desk("kill", name="one")
    done = [await desk("wait", act=each["id"]) for each in receipts]
    assert [each["outcome"] for each in done] == ["undelivered", "undelivered"]


async def test_a_prompt_that_waits_in_the_composer_ends_with_its_session(desk):
    await desk.standin("one", "--dialog-after-paste")
    receipt = await desk("send", name="one", text="pasted")
    assert receipt["outcome"] == "held"
    await desk("kill", name="one")
    assert (await desk("wait", act=receipt["id"]))["outcome"] in ("unconfirmed", "failed")
    assert desk.prompts("one") == []


async def test_an_answer_to_no_question_does_not_wait_for_the_lane(desk, one):
    async with lane(desk.front.helper.kit, one["id"]):
        with pytest.raises(Refused, match="no question"):
            await desk("answer", name="one", choice="yes")


async def test_a_lane_that_stays_held_delays_a_kill_and_does_not_stop_it(desk, one):
    async with lane(desk.front.helper.kit, one["id"]):
        await desk("kill", name="one")
    assert await desk("list") == []


async def test_a_prompt_waits_while_somebody_holds_the_lane(desk, one):
    async with lane(desk.front.helper.kit, one["id"]):
        receipt = await desk("send", name="one", text="patience", wait=0.3)
        assert receipt["outcome"] == "queued"
        assert desk.prompts("one") == []
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
