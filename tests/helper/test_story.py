"""A session's log: each verb that changes it leaves a row, in whose name, in words."""

from __future__ import annotations

import os

import pytest

from covey import story
from desk import Desk


@pytest.fixture
async def editor(desk):
    """A second helper, as an editor's: it belongs to a process of its own."""
    here = await Desk(desk.world, os.getpid()).start()
    yield here
    await here.close()


BY = f"by shell {os.getppid()}"  # who runs the tests


async def _told(desk, session, row):
    return row in rows(await desk("log", name=session["id"]))


def rows(log):
    return [f"{each['kind']} {each['words']}".strip() for each in log]


async def test_each_change_leaves_one_row_that_says_who(desk):
    await desk.standin("one")
    await desk("rename", name="one", new="two")
    await desk("keep", name="two")
    await desk("keep", name="two")  # it is kept already
    await desk("keep", name="two", on=False)
    await desk("settle", name="two")
    await desk("respawn", name="two", force=True)
    await desk("reset", name="two")
    await desk.state("two", "idle")
    await desk("send", name="two", text="words\nand more")
    await desk("kill", name="two")
    told = [row for row in rows(await desk("log", name="two")) if not row.startswith("exited")]
    assert told == [
        f"opened standin as 'one' in {desk.world.home}, {BY}",
        f"renamed 'one' → 'two', {BY}",
        f"kept from every sweep, {BY}",
        f"kept no longer, {BY}",
        f"settled {BY}",
        f"respawned start 2, {BY}",
        f"reset start 3, {BY}",
        f"send 1: 'words' …, {BY}",
        "submitted 1",
        f"ended killed; 1 process, {BY}",
    ]


async def test_an_editor_is_named_by_its_pid(desk, editor):
    await desk.standin("one")
    await editor("adopt", name="one")
    await editor("send", name="one", text="hi")
    assert rows(await desk("log", name="one"))[1:] == [
        f"adopted by editor {os.getpid()}",
        f"send 1: 'hi', by editor {os.getpid()}",
        "submitted 1",
    ]


async def test_within_one_millisecond_a_prompt_comes_after_all_else_and_before_its_outcome(desk):
    session = await desk.standin("one")
    await desk("keep", name="one")
    await desk("send", name="one", text="hi")
    store = desk.front.helper.store
    with store.transaction() as db:
        db.execute("UPDATE log SET at = '2026-01-01T00:00:00.000Z'")
        db.execute("UPDATE tickets SET created = '2026-01-01T00:00:00.000Z', settled = '2026-01-01T00:00:00.000Z'")
    told = [each["kind"] for each in await desk("log", name=session["id"])]
    assert [kind for kind in told if kind != "opened"] == ["kept", "send", "submitted"]


async def test_what_was_sent_and_what_became_of_it_have_times_of_their_own(desk):
    await desk.standin("one")
    await desk("send", name="one", text="ask may I")
    await desk.state("one", "blocked")
    held = await desk("send", name="one", text="behind it")
    await desk("answer", name="one", choice="yes")
    await desk("wait", act=held["id"])
    log = await desk("log", name="one")
    assert [row.split(",")[0] for row in rows(log)[1:]] == [
        "send 1: 'ask may I'",
        "submitted 1",
        "send 2: 'behind it'",
        "held 2: the agent is blocked: Do you want to proceed?",
        "answered 'Do you want to proceed?' with 'Yes'",
        "submitted 2",
    ]
    assert [each["at"] for each in log] == sorted(each["at"] for each in log)
    (sent,) = [each for each in log if each["kind"] == "send" and each["data"]["number"] == 2]
    assert log[-1]["at"] == sent["data"]["settled"] > sent["at"]


async def test_what_covey_does_by_itself_is_told_too(desk):
    session = await desk("open", name="one", cmd=["sh", "-c", "sleep 0.2; exit 3"], restart="on_failure")
    await desk.until(lambda: _kinds(desk, session, 4), message="it was started again")
    kinds = [each["kind"] for each in await desk("log", name="one")]
    assert kinds[:4] == ["opened", "exited", "restarted", "exited"]
    await desk("kill", name="one")
    argv = ["{python}", "-m", "covey.standin", "--work", "0.1"]
    task = await desk("run", name="task", agent="standin", cmd=argv, prompt="do it")
    await desk.until(lambda: _told(desk, task, "settled its agent has finished"), message="it was settled")


async def _kinds(desk, session, number):
    return len(await desk("log", name=session["id"])) >= number


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("exited", {"by": {"who": "shell", "pid": 7}, "code": 3, "signal": None, "screen": ["x"]}, "with 3"),
        ("exited", {"code": None, "signal": 9}, "by signal 9"),
        ("exited", {"code": None, "signal": None}, "how is unknown"),
        (
            "reaped",
            {"reason": "settled: its work is done", "by": {"who": "editor", "pid": 7}},
            "settled: its work is done, by editor 7",
        ),
        ("restored", {"epoch": [1, 2], "by": {}}, "start 2"),
        ("exited", {}, ""),
        ("of tomorrow", {"x": 1}, '{"x": 1}'),
        ("answered", {"question": "May I?", "chosen": "Yes", "by": {}}, "'May I?' with 'Yes'"),
        ("interrupted", {"keys": ["Escape"], "state": "idle", "by": {}}, "Escape, while idle"),
        ("interrupted", {"by": {"who": "shell", "pid": 7}}, "by shell 7"),
        ("settled", {"settled": [True, False], "by": {}}, "no longer"),
        ("submitted", {"id": "a", "number": 7, "reason": "", "by": {}}, "7"),
        ("failed", {"id": "a", "number": 7, "reason": "the agent has exited", "by": {}}, "7: the agent has exited"),
        ("refused", {"id": "a", "number": 7, "reason": "it ended", "by": {}}, "7: it ended"),
        ("refused", {"id": "a", "text": "hi", "reason": "the prompt is empty"}, "the prompt is empty: 'hi'"),
        ("held", {"id": "a", "reason": "it waits for a decision"}, "it waits for a decision"),
    ],
)
def test_words_are_found_for_every_row(kind, data, said):
    assert story.words(kind, data) == said


async def test_a_prompt_that_was_edited_is_told_as_it_was_sent_and_as_it_became(desk):
    await desk.standin("one", "--ready-after", "60", wait=False)
    sent = await desk("send", name="one", text="first words", wait=0)
    await desk("edit", act=sent["id"], text="second words")
    rows = [(each["kind"], each["words"].split(", by ")[0]) for each in await desk("log", name="one")]
    said = [row for row in rows if row[0] in ("send", "edited")]
    assert said == [("send", "1: 'first words'"), ("edited", "1: 'second words'")]
