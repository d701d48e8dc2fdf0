"""The verbs that type: what they refuse, and what they write down."""

from __future__ import annotations

import asyncio
import os
import signal
from unittest.mock import ANY

import pytest

from covey import speech
from covey.errors import NotFound, Refused, Usage
from covey.outbox import Outbox
from desk import Desk


@pytest.fixture
async def one(desk):
    return await desk.standin("one")


async def test_a_long_text_goes_as_a_file_of_the_session(desk, one):
    text = "line\n" * 300_000
    refused = await desk("send", name="one", text=text)
    assert (refused["outcome"], "as a file" in refused["reason"]) == ("refused", True)
    receipt = await desk("send", name="one", text=text, as_file=True, act="big")
    assert receipt["outcome"] == "submitted"
    (said,) = desk.prompts("one")
    path = desk.front.helper.place.files.directory / f"{one['id']}.prompt.big"
    assert said == f"Read @{path} and do what it says."
    assert path.read_text() == text.rstrip("\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert await desk("send", name="one", text=text, as_file=True, act="big") == receipt
    await desk("kill", name="one")
    assert not path.exists()


async def test_an_empty_file_is_refused_too(desk, one):
    assert (await desk("send", name="one", text=" \n", as_file=True))["outcome"] == "refused"
    assert not [name for name in desk.front.helper.place.files.of(one["id"]) if ".prompt." in name]


async def test_an_edit_keeps_the_rules_of_a_send(desk, one):
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("send-keys", "-t", pane, "-l", "a draft")
    await desk.shows("one", "a draft")
    receipt = await desk("send", name="one", text="first words")
    assert receipt["outcome"] == "held"
    for bad in ("/exit", "", "\n"):
        with pytest.raises(Refused):
            await desk("edit", act=receipt["id"], text=bad)
    await desk("edit", act=receipt["id"], text="better words\r\n")
    desk.tmux("send-keys", "-t", pane, "C-u")
    await desk("wait", act=receipt["id"])
    assert desk.prompts("one") == ["better words"]
    with pytest.raises(Refused, match="submitted already"):
        await desk("edit", act=receipt["id"], text="too late")
    with pytest.raises(NotFound):
        await desk("edit", act="nobody's", text="x")


async def test_what_was_sent_raw_is_edited_raw(desk, one):
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("send-keys", "-t", pane, "-l", "a draft")
    await desk.shows("one", "a draft")
    receipt = await desk("send", name="one", text="/exit 3", raw=True)
    assert (await desk("edit", act=receipt["id"], text="/exit 4"))["outcome"] == "held"
    await desk("cancel", act=receipt["id"])
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "cancelled"


async def test_a_lost_session_gets_nothing_and_says_so_at_once(desk, one):
    desk.tmux("kill-server")
    await desk.state("one", "lost")
    receipt = await desk("send", name="one", text="anybody there")
    assert (receipt["outcome"], "lost" in receipt["reason"]) == ("refused", True)


async def test_a_broadcast_gives_a_receipt_each(desk, one):
    await desk.standin("two")
    receipts = await desk("broadcast", names=["one", "two"], text="all of you")
    assert [each["outcome"] for each in receipts] == ["submitted", "submitted"]
    assert desk.prompts("one") == desk.prompts("two") == ["all of you"]


async def test_an_act_id_stands_for_one_text(desk, one):
    await desk("send", name="one", text="this", act="a")
    with pytest.raises(Usage, match="used before"):
        await desk("send", name="one", text="that", act="a")
    assert desk.prompts("one") == ["this"]


async def test_a_prompt_is_in_the_store_before_a_byte_is_typed(desk, one, monkeypatch):
    seen = []
    typing = Outbox.typing

    def watched(outbox, row):
        seen.append(
            (outbox.head(one["id"]).text, desk.prompts("one"), desk.tmux("list-panes", "-a", "-F", "#{@covey_act}"))
        )
        return typing(outbox, row)

    monkeypatch.setattr(Outbox, "typing", watched)
    await desk("send", name="one", text="written first")
    assert [(text, came, act.strip()) for text, came, act in seen] == [("written first", [], "")]


async def test_cancel_and_queue(desk, one):
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("send-keys", "-t", pane, "-l", "a draft")
    await desk.shows("one", "a draft")
    first, second = await asyncio.gather(*(desk("send", name="one", text=text) for text in ("first", "second")))
    assert [each["text"] for each in await desk("queue", name="one")] == ["first", "second"]
    await desk("cancel", act=first["id"])
    desk.tmux("send-keys", "-t", pane, "C-u")
    assert (await desk("wait", act=second["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["second"]


@pytest.fixture
async def drafted(desk, one):
    """Somebody's draft holds all prompts; the answer is its pane."""
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("send-keys", "-t", pane, "-l", "a draft")
    await desk.shows("one", "a draft")
    return pane


async def test_the_only_prompt_that_waits_is_cancelled_by_its_session(desk, drafted):
    with pytest.raises(Refused, match="no prompt waits for one"):
        await desk("cancel", act="one")
    receipt = await desk("send", name="one", text="first")
    cancelled = await desk("cancel", act="one")
    assert (cancelled["id"], cancelled["outcome"], cancelled["name"]) == (receipt["id"], "cancelled", "one")
    numbers = [(await desk("send", name="one", text=text))["number"] for text in ("second", "third")]
    with pytest.raises(Usage, match=f"2 prompts wait for one: {numbers[0]}, {numbers[1]}"):
        await desk("cancel", act="one")
    with pytest.raises(NotFound, match="neither a prompt nor a session"):
        await desk("cancel", act="nobody")


async def test_a_prompt_that_waits_has_a_short_number(desk, drafted):
    for text in ("first", "second"):
        await desk("send", name="one", text=text)
    first, second = await desk("queue", name="one")
    assert (first["number"], second["number"], first["text"]) == (1, 2, "first")
    assert (await desk("edit", act="1", text="better"))["id"] == first["act"]
    assert (await desk("queue", name="one"))[0]["text"] == "better"
    assert (await desk("cancel", act="2"))["id"] == second["act"]
    with pytest.raises(Refused, match="prompt 2 is cancelled already"):
        await desk("edit", act="2", text="too late")
    with pytest.raises(NotFound):
        await desk("cancel", act="9" * 30)


async def test_a_number_that_is_also_a_name_is_refused(desk, drafted):
    receipt = await desk("send", name="one", text="first")
    await desk("rename", name="one", new="1")
    with pytest.raises(Usage, match="1 is a prompt's number and a session's name"):
        await desk("cancel", act="1")
    assert (await desk("cancel", act=receipt["id"]))["outcome"] == "cancelled"


async def test_an_interrupt_says_what_was_pressed_and_in_which_state(desk, one):
    did = await desk("interrupt", name="one")
    assert (did["keys"], did["state"]) == (["Escape"], "idle")
    assert (await desk("log", name="one"))[-1]["words"].startswith("Escape, while idle, by ")


@pytest.mark.parametrize(("verb", "outcome"), [("kill", "undelivered"), ("respawn", "dropped")])
async def test_what_goes_with_an_agent_is_told_by_whoever_ended_it_and_by_who_sent_it(desk, drafted, verb, outcome):
    receipt = await desk("send", name="one", text="first")
    other = await Desk(desk.world).start()
    try:
        ended = await other(verb, name="one", **({"force": True} if verb == "respawn" else {}))
    finally:
        await other.close()
    assert [(each["id"], each["outcome"], each["name"]) for each in ended["unsent"]] == [
        (receipt["id"], outcome, "one")
    ]

    def told():
        return [each["data"] for each in desk.events if each["event"] == "Receipt"][-1]

    await desk.until(lambda: told()["outcome"] == outcome)
    assert (told()["id"], told()["name"]) == (receipt["id"], "one")


async def test_each_session_of_a_broadcast_has_an_act_of_its_own(desk, one):
    await desk.standin("two")
    for _ in range(2):
        receipts = await desk("broadcast", names=["one", "two", "one"], text="all", act="a")
        assert [each["id"] for each in receipts] == [f"a.{each['session']}" for each in receipts]
        assert [each["name"] for each in receipts] == ["one", "two"]
    assert desk.prompts("one") == desk.prompts("two") == ["all"]


async def test_a_broadcast_answers_with_what_became_meanwhile_of_the_quick(desk, drafted, monkeypatch):
    two, send = await desk.standin("two"), speech.send
    answered = asyncio.Event()

    async def slowly(helper, session, *args, **more):
        if session == two["id"]:
            await answered.wait()
            await desk("cancel", act="one")
        receipt = await send(helper, session, *args, **more)
        answered.set()
        return receipt

    monkeypatch.setattr(speech, "send", slowly)
    receipts = await desk("broadcast", names=["one", "two"], text="all")
    assert [each["outcome"] for each in receipts] == ["cancelled", "submitted"]


async def test_everybody_is_who_runs_and_has_work_and_is_no_shell(desk, one):
    for name in ("two", "over", "ended"):
        await desk.standin(name)
    await desk("open", name="no", agent="shell")
    await desk("settle", name="over")
    os.kill((await desk("get", name="ended"))["pid"], signal.SIGKILL)
    await desk.state("ended", "exited")
    assert [each["name"] for each in await desk("broadcast", text="all")] == ["one", "two"]
    assert await desk("broadcast", text="all", names=[]) == []


async def test_a_snapshot_has_what_waits(desk, drafted):
    receipt = await desk("send", name="one", text="first")
    assert [each["id"] for each in (await desk("snapshot"))["receipts"]] == [receipt["id"]]


async def test_the_log_tells_each_act_that_types_and_who_did_it(desk, one):
    editor = await Desk(desk.world, pid=os.getpid()).start()
    me, shell = {"who": "editor", "pid": os.getpid()}, {"who": "shell", "pid": os.getppid()}
    try:
        asked = await editor("send", name="one", text="ask may I")
        await desk.state("one", "blocked")
        await desk("send", name="one", text="/exit")
        held = await editor("send", name="one", text="behind")
        await desk("cancel", act=held["id"])
        with pytest.raises(Usage):
            await desk("answer", name="one", choice="perhaps")
        await desk("answer", name="one", choice="no")
        await editor("interrupt", name="one")
        story = await desk("log", name="one")
    finally:
        await editor.close()
    told = [(each["kind"], each["data"].get("id", ""), each["data"]["by"]) for each in story]
    (refused,) = [each["data"]["id"] for each in story if each["data"].get("text") == "/exit"]
    assert sorted(told, key=str) == sorted(
        [
            ("opened", "", shell),
            ("send", asked["id"], me),
            ("submitted", asked["id"], {}),
            ("refused", refused, shell),
            ("send", held["id"], me),
            ("held", held["id"], me),
            ("cancelled", held["id"], shell),
            ("refused", "", shell),
            ("answered", "", shell),
            ("interrupted", "", me),
        ],
        key=str,
    )
    (answered,) = [each["data"] for each in story if each["kind"] == "answered"]
    assert (answered["question"], answered["chosen"]) == ("Do you want to proceed?", "No")


@pytest.mark.parametrize(("verb", "outcome"), [("kill", "undelivered"), ("respawn", "dropped")])
async def test_the_log_tells_what_was_held_and_then_went_with_its_agent(desk, drafted, verb, outcome):
    receipt = await desk("send", name="one", text="first")
    await desk(verb, name="one", **({"force": True} if verb == "respawn" else {}))
    mine = [each for each in await desk("log", name="one") if each["data"].get("id") == receipt["id"]]
    assert [(each["kind"], each["data"].get("reason")) for each in mine[1:]] == [
        ("held", receipt["reason"]),
        (outcome, ANY),
    ]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1, -0.5, "60", None, True])
async def test_a_time_that_is_none_is_refused_before_anything_is_done(desk, one, bad):
    for method, params in (
        ("send", {"name": "one", "text": "hello", "wait": bad}),
        ("wait", {"act": "a", "seconds": bad}),
        ("idle", {"name": "one", "seconds": bad}),
    ):
        with pytest.raises(Usage, match="cannot be"):
            await desk(method, **params)
    assert desk.front.helper.outbox.counts() == {}


@pytest.mark.parametrize(
    "bad",
    [
        {"options": {"nice": "20"}},
        {"options": {"nice": -1}},
        {"options": {"history_limit": "many"}},
        {"restart": "often"},
    ],
)
async def test_an_option_that_is_none_opens_nothing(desk, bad):
    with pytest.raises(Usage, match="cannot be"):
        await desk("open", name="two", agent="standin", **bad)
    assert await desk("list") == []
