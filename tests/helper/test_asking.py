"""``when = ask``: what becomes of a prompt for an agent that works is for its sender to say."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest

from covey.errors import Usage
from covey.tickets import ASKS
from desk import Desk, standin_that

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from terminal import Terminal
    from world import World


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    """A stand-in that does not queue what it is given while it works."""
    standin_that(world, "queues_itself = false")
    here = await Desk(world).start()
    yield here
    await here.close()


async def busy(desk: Desk) -> None:
    await desk.standin("one")
    await desk("send", name="one", text="work 300")
    await desk.state("one", "working")


async def test_a_prompt_that_asks_is_held_and_says_so(desk):
    await busy(desk)
    receipt = await desk("send", name="one", text="mine", when="ask")
    assert (receipt["outcome"], receipt["reason"], receipt["asks"], receipt["name"]) == ("held", ASKS, True, "one")
    assert "asks" not in await desk("send", name="one", text="mine too", when="idle")


async def test_it_goes_now_where_that_is_said(desk):
    await busy(desk)
    receipt = await desk("send", name="one", text="mine", when="ask")
    await desk("edit", act=receipt["id"], when="now")
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    assert (await desk("get", name="one"))["state"] == "working"


async def test_it_goes_by_itself_once_the_agent_is_idle(desk):
    await busy(desk)
    first = await desk("send", name="one", text="mine", when="ask")
    assert (await desk("edit", act=first["id"], when="idle"))["outcome"] == "queued"
    await desk("interrupt", name="one")
    assert (await desk("wait", act=first["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["work 300", "mine"]


async def test_an_idle_agent_is_given_it_at_once(desk):
    await desk.standin("one")
    assert (await desk("send", name="one", text="mine", when="ask"))["outcome"] == "submitted"


async def test_what_an_editor_says_of_all_prompts_counts_where_nothing_else_is_said(desk):
    desk.front.helper.when = "ask"
    await busy(desk)
    assert (await desk("send", name="one", text="mine"))["asks"]


async def test_other_words_are_a_mistake(desk):
    await busy(desk)
    receipt = await desk("send", name="one", text="mine", when="ask")
    with pytest.raises(Usage):
        await desk("edit", act=receipt["id"], when="later")
    with pytest.raises(Usage, match="nothing to change"):
        await desk("edit", act=receipt["id"])
    with pytest.raises(Usage):
        await desk("send", name="one", text="mine", when="later")


@pytest.mark.parametrize(
    ("typed", "says", "came"),
    [("now", "submitted", True), ("idle", "the agent is working", False), ("no", "cancelled", False)],
)
async def test_a_person_at_a_terminal_is_asked(desk, terminal: Terminal, typed, says, came):
    await busy(desk)
    terminal.start([sys.executable, "-m", "covey.cli", "send", "one", "mine", "--when", "ask", "--timeout", "1"])
    await desk.until(lambda: "one is working: send now, when idle, or not at all?" in terminal.screen())
    terminal.keys("x", "Enter")
    await desk.until(lambda: terminal.screen().count("not at all?") == 2)
    terminal.keys(typed, "Enter")
    await desk.until(lambda: says in terminal.screen())
    assert ("mine" in desk.prompts("one")) == came
    assert len(await desk("queue", name="one")) == (typed == "idle")


async def test_without_a_terminal_nobody_is_asked(desk):
    await busy(desk)
    argv = [sys.executable, "-m", "covey.cli", "send", "one", "mine", "--when", "ask"]
    pipes = dict.fromkeys(("stdin", "stdout"), asyncio.subprocess.PIPE)
    said, _ = await (await asyncio.create_subprocess_exec(*argv, **pipes)).communicate()
    assert f"held: {ASKS}" in said.decode()


ENDS = 'status=$?; echo "ended $status"; sleep 1000'


def at_a_shell(*words: str) -> list[str]:
    """A verb as in a shell that shows how it ended."""
    return ["bash", "-c", f'"$@"; {ENDS}', "bash", sys.executable, "-m", "covey.cli", *words]


async def test_a_prompt_is_typed_at_the_terminal(desk, terminal: Terminal):
    await desk.standin("one")
    terminal.start(at_a_shell("send", "one"))
    await desk.until(lambda: "type the prompt, and end it with Ctrl-D" in terminal.screen())
    terminal.keys("h", "i", "Enter", "C-d")
    await desk.until(lambda: "ended 0" in terminal.screen())
    assert desk.prompts("one") == ["hi"]


@pytest.mark.parametrize("words", [["send", "one"], ["send", "one", "mine", "--when", "ask"]])
async def test_one_interrupt_ends_what_reads_the_terminal(desk, terminal: Terminal, words):
    await busy(desk)
    before = desk.prompts("one")
    terminal.start(at_a_shell(*words))
    await desk.until(lambda: "Ctrl-D" in terminal.screen() or "not at all?" in terminal.screen())
    terminal.keys("C-c")
    await desk.until(lambda: "ended 130" in terminal.screen())
    assert desk.prompts("one") == before
