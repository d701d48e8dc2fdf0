"""A receipt says what became of a prompt, whatever the agent, a person or another helper does meanwhile."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from covey import courier, delivery
from covey.models import FINAL
from covey.tmux import panes
from desk import Desk
from faults import storm

if TYPE_CHECKING:
    from terminal import Terminal

SHORT = (
    storm.Squad("", 2, 12),
    storm.Squad("--ready-after 1", 1, 4),
    storm.Squad("--ignore-enter 4", 1, 3),
    storm.Squad("--sticky 1.5", 1, 3),
    storm.Squad("--dialog-after-paste", 1, 4),
    storm.Squad("--swallow 5", 1, 12),
    storm.Squad("--burst-gap 120", 1, 5, feeds=1),
    storm.Squad("--slow-echo 300", 1, 4),
    storm.Squad("--exit-mid-paste", 1, 3),
    storm.Squad("--shell-after 3", 1, 6),
)


async def test_no_receipt_is_wrong_in_a_storm(desk):
    tallies = await storm.storm(desk, squads=SHORT)
    assert [tally.wrong for tally in tallies] == [[]] * len(SHORT), storm.table(tallies)
    sure = {"--exit-mid-paste", "--shell-after 3"}
    lost = [tally for tally in tallies if tally.squad.options not in sure and set(tally.outcomes) != {"submitted"}]
    assert not lost, storm.table(tallies)
    assert desk.tmux("list-buffers") == ""


def test_the_storm_sees_each_kind_of_wrong_receipt():
    sent = {"a": "submitted", "b": "refused", "c": "submitted", "d": "submitted", "e": "pasted"}
    wrong = storm.judge(sent, ["c", "a", "c", "b", "x", "e"])
    assert wrong == [
        "'x' was given to the agent and never sent",
        "'b' was called refused and came",
        "'c', submitted, came 2 times",
        "'d' was called submitted and never came",
        "'e' was called pasted and came",
        "prompt 2 came after prompt 0",
        "prompt 2 came after prompt 1",
    ]


def test_the_storm_sees_a_line_feed_too_many():
    sent = {"a": "submitted", "b": "submitted"}
    assert storm.judge(sent, storm.fed(["a\n", "b"], sent, 1)) == []
    assert len(storm.judge(sent, storm.fed(["a\n", "b"], sent, 0))) == 2
    assert len(storm.judge(sent, storm.fed(["a\n\n", "b"], sent, 1))) == 2


async def test_prompts_are_taken_in_the_order_of_the_calls(desk):
    await desk.standin("one")
    texts = [f"prompt {number}" for number in range(40)]
    receipts = await asyncio.gather(*(desk("send", name="one", text=text) for text in texts))
    assert {each["outcome"] for each in receipts} == {"submitted"}
    assert desk.prompts("one") == texts


@pytest.mark.parametrize("text", ["1. first\n2. second", "❯ 1. Yes\n  2. No", "❯ 1. Yes"])
async def test_words_that_look_like_a_dialog_are_sent(desk, text):
    await desk.standin("one")
    assert (await desk("send", name="one", text=text))["outcome"] == "submitted"
    assert (await desk("send", name="one", text="after"))["outcome"] == "submitted"
    assert desk.prompts("one") == [text, "after"]


async def test_a_prompt_that_a_dialog_overtook_goes_out_behind_it_once(desk):
    await desk.standin("one", "--dialog-after-paste")
    receipt, behind = await asyncio.gather(desk("send", name="one", text="mine"), desk("send", name="one", text="next"))
    assert (receipt["outcome"], behind["outcome"]) == ("held", "held")
    assert "dialog" in receipt["reason"]
    assert "behind" in behind["reason"]
    await desk("answer", name="one", choice="no")
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    await desk.state("one", "blocked")
    await desk("answer", name="one", choice="yes")
    assert (await desk("wait", act=behind["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["mine", "next"]


async def test_another_helper_goes_on_with_what_waits_in_the_composer(desk):
    await desk.standin("one", "--dialog-after-paste")
    receipt = await desk("send", name="one", text="mine")
    assert receipt["outcome"] == "held"
    await desk.close()
    other = await Desk(desk.world).start()
    try:
        assert [each["text"] for each in await other("queue", name="one")] == ["mine"]
        await other("answer", name="one", choice="yes")
        assert (await other("wait", act=receipt["id"]))["outcome"] == "submitted"
        assert other.prompts("one") == ["mine"]
    finally:
        await other.close()


async def test_a_helper_that_leaves_in_the_middle_loses_nothing(desk):
    """Its prompt waits in the composer, the others in the store; the next helper delivers all, once."""
    await desk.standin("one", "--ignore-enter", "5")
    receipts = [await desk("send", name="one", text=f"prompt {number}", wait=0.4) for number in range(3)]
    assert receipts[0]["outcome"] == "queued"
    await desk.close()
    other = await Desk(desk.world).start()
    try:
        done = [await other("wait", act=receipt["id"]) for receipt in receipts]
        assert [each["outcome"] for each in done] == ["submitted"] * 3
        assert other.prompts("one") == ["prompt 0", "prompt 1", "prompt 2"]
    finally:
        await other.close()


async def test_a_shell_where_the_agent_was_gets_nothing(desk):
    await desk.standin("one", "--shell-after", "1")
    await desk("send", name="one", text="the last one")
    await desk.until(lambda: desk.tmux("list-panes", "-a", "-F", "#{pane_current_command}").count("sh"))
    receipt = await desk("send", name="one", text="touch planted\ntouch planted\n")
    assert (receipt["outcome"], "left a shell behind" in receipt["reason"]) == ("refused", True)
    assert "planted" not in await desk.screen("one")
    assert not list(desk.world.root.rglob("planted"))


async def wrapped(desk, then: str, *options: str) -> None:
    """The stand-in, run by a shell that does ``then`` when it has ended."""
    record = desk.world.tmp / "one.jsonl"
    run = shlex.join([sys.executable, "-m", "covey.standin", "--work", "0", "--record", str(record), *options])
    await desk("open", name="one", agent="standin", cmd=["/bin/sh", "-c", f"{run}; {then}"], cwd=str(desk.world.home))
    await desk.state("one", "idle")


async def test_a_shell_that_ends_with_its_agent_is_not_left_behind(desk, monkeypatch):
    """Between the end of the agent and its own, the shell that ran it has the pane alone."""
    fifo, alone = desk.world.tmp / "fifo", courier.Courier._shell
    os.mkfifo(fifo)

    async def looked(self, pane):
        found = await alone(self, pane)
        if found:
            os.close(os.open(fifo, os.O_RDWR))  # its reader sees the end of file, and the shell ends
        return found

    await wrapped(desk, f"read _ < {fifo}; exit 4", "--exit-after", "2")
    await desk("send", name="one", text="the first one")
    await desk("send", name="one", text="the last one")
    shell, processes = (await desk("get", name="one"))["pid"], desk.front.helper.place.processes
    await desk.until(lambda: not processes.snapshot().children(shell))
    monkeypatch.setattr(courier.Courier, "_shell", looked)
    receipt = await desk("send", name="one", text="too late")
    assert (receipt["outcome"], receipt["reason"]) == ("refused", "the agent has exited; respawn it first")
    assert (await desk.state("one", "exited"))["exit"]["code"] == 4


async def test_an_agent_in_a_wrapping_shell_is_no_shell(desk):
    await wrapped(desk, "exit 0")
    assert (await desk("send", name="one", text="hello"))["outcome"] == "submitted"
    assert desk.prompts("one") == ["hello"]


async def test_a_person_who_types_is_not_interrupted(desk, terminal: Terminal, monkeypatch):
    monkeypatch.setattr(delivery, "PERSON_PAUSE", 60.0)
    await desk.standin("one")
    attach = await desk("attach", name="one")
    terminal.start(attach["argv"])
    await desk.until(lambda: desk.tmux("list-clients", "-F", "#{client_control_mode}").split().count("0"))
    receipt = await desk("send", name="one", text="mine")  # who has just come counts as somebody who types
    assert (receipt["outcome"], receipt["reason"]) == ("held", "somebody is typing in the session")
    monkeypatch.setattr(delivery, "PERSON_PAUSE", 0.5)
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["mine"]


def tries(monkeypatch, number):
    """A callable: whether so many deliveries were begun from now on."""
    begun, deliver = [], courier.Courier._deliver

    async def counted(*given):
        begun.append(given)
        return await deliver(*given)

    monkeypatch.setattr(courier.Courier, "_deliver", counted)
    return lambda: len(begun) > number  # the last of them has but begun


async def test_a_hold_that_nothing_announces_ends_all_the_same(desk, monkeypatch):
    """A draft goes without any change of state, long after it was seen."""
    await desk.standin("one")
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("send-keys", "-t", pane, "-l", "half")
    await desk.shows("one", "half")
    receipt = await desk("send", name="one", text="mine")
    await desk.until(lambda: [e for e in desk.events if e["event"] == "Changed" and e["data"]["queued"]])
    held = len([each for each in desk.events if each["event"] == "Receipt"])
    await desk.until(tries(monkeypatch, 2), message="it was looked at again, and again")
    assert len([each for each in desk.events if each["event"] == "Receipt"]) == held  # no news, no noise
    desk.tmux("send-keys", "-t", pane, "C-u")
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"


@pytest.mark.parametrize("verb", ["interrupt", "kill", "respawn"])
async def test_a_busy_lane_lets_others_pass(desk, monkeypatch, verb):
    pressed, press = [], panes.keys
    monkeypatch.setattr(panes, "keys", lambda *words, **more: pressed.append(words[2:]) or press(*words, **more))
    await desk.standin("one", "--ignore-enter", "60")
    sending = asyncio.create_task(desk("send", name="one", text="never taken"))
    await desk.until(lambda: pressed.count(("Enter",)) > 1, message="an Enter was ignored")
    await desk(verb, name="one", **({"force": True} if verb == "respawn" else {}))
    receipt = await sending
    assert receipt["outcome"] == "unconfirmed"
    assert desk.prompts("one") == []


async def test_an_answer_finds_the_lane_free_while_a_prompt_is_held(desk):
    await desk.standin("one", "--dialog-after-paste", "--ignore-enter", "60")
    assert (await desk("send", name="one", text="mine"))["outcome"] == "held"
    assert (await desk("answer", name="one", choice="yes"))["chosen"] == "Yes"


async def test_an_interrupt_leaves_the_queue_as_it_was(desk):
    await desk.standin("one", "--work", "1")
    texts = [f"prompt {number}" for number in range(12)]
    sending = asyncio.gather(*(desk("send", name="one", text=text) for text in texts))
    await desk.until(lambda: desk.prompts("one"))
    await desk("interrupt", name="one")
    for receipt in await sending:
        done = receipt if receipt["outcome"] in FINAL else await desk("wait", act=receipt["id"])
        assert done["outcome"] in ("submitted", "pasted", "unconfirmed", "held")
    assert len(set(desk.prompts("one"))) == len(desk.prompts("one"))


@pytest.fixture
async def stopped(desk) -> Any:
    """A process that holds the lane of session ``one`` and is stopped while it does."""
    session = await desk.standin("one")
    code = (
        "import asyncio, os, sys\nfrom pathlib import Path\nfrom covey import paths, process\n"
        "from covey.lane import Lane\nasync def main():\n"
        "    async with Lane(paths.lanes_dir(), sys.argv[1], me=process.identify(os.getpid())):\n"
        "        print('held', flush=True)\n        await asyncio.sleep(3600)\nasyncio.run(main())"
    )
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, session["id"], stdout=asyncio.subprocess.PIPE
    )
    assert await holder.stdout.readline() == b"held\n"
    os.kill(holder.pid, signal.SIGSTOP)
    yield holder
    if holder.returncode is None:
        holder.kill()
        await holder.wait()


async def test_P02_a_stopped_holder_is_named_and_its_death_frees_the_lane(desk, stopped):
    receipt = await desk("send", name="one", text="patient", wait=30)
    assert (receipt["outcome"], f"process {stopped.pid}" in receipt["reason"]) == ("held", True)
    assert desk.prompts("one") == []
    stopped.kill()
    await stopped.wait()
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["patient"]


@pytest.mark.parametrize("verb", ["interrupt", "kill", "respawn"])
async def test_P02_a_stopped_holder_stops_nobody(desk, stopped, verb):
    await desk(verb, name="one", **({"force": True} if verb == "respawn" else {}))
    assert stopped.returncode is None


async def test_a_tmux_that_stops_answering_delays_a_prompt(desk):
    await desk.standin("one")
    server = int(desk.tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        receipt = await desk("send", name="one", text="patient", wait=25)
    finally:
        os.kill(server, signal.SIGCONT)
    assert receipt["outcome"] == "held"
    assert "tmux" in receipt["reason"]
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["patient"]


async def test_a_tmux_that_stops_in_the_middle_of_a_paste_is_asked_what_it_did(desk, monkeypatch):
    await desk.standin("one")
    server = int(desk.tmux("display-message", "-p", "#{pid}"))
    paste, over = panes.paste, asyncio.Event()

    async def stopping(*args, **options):
        if not over.is_set():
            os.kill(server, signal.SIGSTOP)
        try:
            await paste(*args, **options)
        finally:
            over.set()

    monkeypatch.setattr(panes, "paste", stopping)
    sending = asyncio.create_task(desk("send", name="one", text="mine", wait=40))
    await over.wait()
    os.kill(server, signal.SIGCONT)
    receipt = await sending
    done = await desk("wait", act=receipt["id"])
    assert done["outcome"] in ("submitted", "unconfirmed")
    assert desk.prompts("one") == (["mine"] if done["outcome"] == "submitted" else [])
