"""What proves, after an Enter, that a prompt has left."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import covey.delivery
from covey.delivery import Delivery, Look
from covey.look import poll
from covey.models import StateName, Verdict
from covey.prompt import Draft
from covey.tmux.screen import Screen
from drawn import CATALOG
from waiting import PATIENCE

if TYPE_CHECKING:
    from desk import Desk

DRAFT = "fix it"


def delivery(state: StateName) -> Delivery:
    nothing: Any = None

    def shows(*_: object) -> Verdict:
        return Verdict(state, "rule")

    rooms = dict.fromkeys(("server", "pane", "stage", "begin", "canonical", "entered", "unread", "shell"), nothing)
    each = Delivery(profile=CATALOG.get("copilot"), act="a", verdict=shows, draft=Draft(DRAFT, 1), **rooms)
    each._busy = False
    return each


@pytest.mark.parametrize(
    ("composer", "state", "left"),
    [
        ("", "idle", True),
        ("", "working", True),
        (None, "working", True),  # it works and shows no composer
        ("another", "working", True),  # it works, and suggests what to say next
        (DRAFT, "working", None),  # it still ends what it did before, and the Enter was lost on that
        (DRAFT, "idle", None),
        (None, "idle", None),
    ],
)
async def test_a_prompt_that_still_shows_has_not_left(
    monkeypatch: pytest.MonkeyPatch, composer: str | None, state: StateName, left: bool | None
) -> None:
    async def look(_: Delivery) -> Look:
        pane: Any = None
        return Look(pane, Screen.plain(""), dialog=False, composer=composer, pointed=False)

    monkeypatch.setattr(Delivery, "_look", look)
    assert await poll(delivery(state)._left, PATIENCE if left else 2 * covey.delivery.REDRAW_FIRST) is left


async def test_what_stood_there_before_it_stands_there_again_once_it_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent into gemini's shell mode by force leaves that mode as it was."""

    async def look(_: Delivery) -> Look:
        pane: Any = None
        return Look(pane, Screen.plain(""), dialog=False, composer="! Type your command", pointed=False)

    monkeypatch.setattr(Delivery, "_look", look)
    one, other = delivery("idle"), delivery("idle")
    one._before, other._before = "! Type your command", "half a thought"
    assert await poll(one._left, 0.3) is True
    assert await poll(other._left, 0.3) is None


async def test_a_draft_that_is_away_for_a_moment_has_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work that shows meanwhile is of the prompt before (seen with gemini)."""
    shown = [None, None, DRAFT]

    async def look(_: Delivery) -> Look:
        pane: Any = None
        composer = shown.pop(0) if len(shown) > 1 else DRAFT
        return Look(pane, Screen.plain(""), dialog=False, composer=composer, pointed=False)

    monkeypatch.setattr(Delivery, "_look", look)
    assert await poll(delivery("working")._left, 0.3) is None


async def test_an_agent_that_is_busy_for_long_gets_one_enter(desk: Desk) -> None:
    """Several that wait unread would be taken in one go, and submit the prompt several times (seen with gemini)."""
    await desk.standin("one", "--deaf", "2")
    receipt = await desk("send", name="one", text="hello")
    assert receipt["outcome"] == "submitted"
    await desk("send", name="one", text="and more")
    assert desk.prompts("one") == ["hello", "and more"]


async def test_an_agent_that_reads_nothing_keeps_its_prompt_waiting(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covey.delivery, "LEFT_DEADLINE", 1.0)
    await desk.standin("one", "--deaf", "5")
    receipt = await desk("send", name="one", text="hello")
    assert (receipt["outcome"], receipt["reason"]) == ("held", "the agent does not read what is typed")
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["hello"]


ASKS = """
import sys, tty
tty.setraw(0)
print("ready", end="\\r\\n", flush=True)
sys.stdin.read(1)
print("Do you want to proceed?", "❯ 1. Yes", "  2. No", sep="\\r\\n", end="\\r\\n", flush=True)
said = ""
while (char := sys.stdin.read(1)) != "\\r":
    said += char
print("entered", end="\\r\\n", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(("typed", "entered"), [("go", False), ("1. Yes or 2. No", True)])
async def test_a_program_without_a_composer_is_not_answered_by_a_prompt(desk: Desk, typed: str, entered: bool) -> None:
    """A question that opens by what was typed gets no Enter, but for one that is quoted in it."""
    await desk("open", name="one", cmd=[sys.executable, "-c", ASKS])
    await desk.shows("one", "ready")
    receipt = await desk("send", name="one", text=typed, wait=10)
    assert receipt["outcome"] == ("pasted" if entered else "unconfirmed")
    await desk.shows("one", "entered" if entered else "2. No")
    assert ("entered" in await desk.screen("one")) == entered
