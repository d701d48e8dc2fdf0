"""What time adds to a screen: a new agent that is not ready yet, a prompt whose work has not begun."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from covey import watch
from covey.models import Pane
from covey.tmux.screen import Screen
from covey.watch import Eyes
from desk import Desk, standin_that
from drawn import CATALOG, MENU, NOW, claude, codex, gemini, pane

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from covey.tmux.server import Server
    from world import World

IDLE = Screen.plain(claude("● Done."), 120)
LATER = Screen.plain(claude("● Done.", "", "● And more."), 120)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def time(self) -> float:
        return self.now

    monotonic = time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    here = Clock()
    monkeypatch.setattr(watch, "time", here)
    monkeypatch.setattr(watch, "_age", lambda _pane: here.now - NOW)
    return here


@pytest.fixture
def rung() -> list[str]:
    return []


@pytest.fixture
def eyes(rung: list[str]) -> Eyes:
    return Eyes(cast("Server", None), CATALOG, lambda: rung.append("bell"))


def looked(eyes: Eyes, one: Pane, shot: Screen) -> str:
    """As ``read`` does it, without a server."""
    eyes.seen = {one.spec.id: eyes._sight(one)}
    eyes.saw(one, shot)
    eyes._conclude(one)
    return eyes.seen[one.spec.id].verdict.rule


def test_a_new_agent_is_idle_once_its_screen_stands_still(clock: Clock, eyes: Eyes) -> None:
    assert looked(eyes, pane(), IDLE) == "not-still"
    clock.now += 0.3
    assert looked(eyes, pane(), LATER) == "not-still"
    clock.now += 0.4
    assert looked(eyes, pane(), LATER) == "not-still"
    clock.now += 0.2
    assert looked(eyes, pane(), LATER) == "composer"
    assert looked(eyes, pane(), IDLE) == "composer"  # what it shows from now on is no greeting


def test_a_session_that_is_not_new_is_taken_as_it_looks(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    assert looked(eyes, pane(), IDLE) == "composer"


def test_a_restarted_agent_is_new_again(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    assert looked(eyes, pane(epoch=2, active=clock.now), IDLE) == "not-still"


def test_an_agent_that_has_started_is_never_starting_again(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    looked(eyes, pane(), Screen.plain("", 120))
    clock.now += watch.CONFIRM
    assert looked(eyes, pane(), Screen.plain("", 120)) == "nothing-fits"


def test_an_agent_whose_title_comes_last_is_not_ready_before_it(clock: Clock, eyes: Eyes) -> None:
    shot, host = Screen.plain(codex("• Hm"), 120), eyes._host
    assert looked(eyes, pane("codex", host), shot) == "not-still"
    clock.now += 5.0
    assert looked(eyes, pane("codex", host), shot) == "not-still"
    assert looked(eyes, pane("codex", "x | project"), shot) == "composer"


def test_right_after_a_prompt_an_idle_screen_means_that_work_has_not_begun(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    eyes.entered("ab234567")
    assert looked(eyes, pane(), IDLE) == "composer"
    eyes.submitted("ab234567")
    assert looked(eyes, pane(), IDLE) == watch.SUBMITTED
    assert eyes.judge(pane(), IDLE).state == "working"
    assert eyes.judge(pane(), Screen.plain("", 120)).rule == watch.SUBMITTED  # it draws itself anew
    clock.now += CATALOG.get("claude").uptake
    assert looked(eyes, pane(), IDLE) == "composer"  # it has been idle all the while: nothing is left to confirm


def test_what_a_prompt_led_to_before_it_was_seen_to_leave_counts(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    eyes.entered("ab234567")
    assert looked(eyes, pane(), Screen.plain("\n".join(MENU), 120)) == "dialog"
    assert looked(eyes, pane(), Screen.plain(claude("✻ Computing… (3s)"), 120)) == "spinner-row"  # a person answered
    eyes.submitted("ab234567")
    looked(eyes, pane(), IDLE)
    clock.now += watch.CONFIRM
    assert looked(eyes, pane(), IDLE) == "composer"  # what was asked is done


def test_a_prompt_to_an_agent_at_work_is_worked_on_after_that(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    works = Screen.plain(claude("✻ Computing… (3s)"), 120)
    looked(eyes, pane(), works)
    eyes.entered("ab234567")
    looked(eyes, pane(), works)
    eyes.submitted("ab234567")
    clock.now += watch.CONFIRM
    assert looked(eyes, pane(), IDLE) == watch.SUBMITTED


def test_T05_an_agent_that_clears_and_redraws_is_at_work_all_the_while(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    works, blank = Screen.plain(claude("✻ Computing… (3s)"), 120), Screen.plain("", 120)
    assert looked(eyes, pane(), works) == "spinner-row"  # work is believed at once
    for number in range(50):
        clock.now += 0.1
        looked(eyes, pane(), (IDLE, works, blank, works)[number % 4])
        assert eyes.seen["ab234567"].verdict.state == "working"
    looked(eyes, pane(), IDLE)
    clock.now += watch.CONFIRM
    assert looked(eyes, pane(), IDLE) == "composer"


def test_T05_a_moment_without_a_question_is_no_end_of_it(clock: Clock, eyes: Eyes) -> None:
    """Between an answer and the work on it copilot shows its composer."""
    clock.now += watch.GREETING
    assert looked(eyes, pane(), Screen.plain("\n".join(MENU), 120)) == "dialog"
    assert looked(eyes, pane(), IDLE) == "dialog"
    clock.now += 0.42  # the longest of six, on a busy machine
    assert looked(eyes, pane(), IDLE) == "dialog"
    assert looked(eyes, pane(), Screen.plain(claude("✻ Computing… (3s)"), 120)) == "spinner-row"


def test_T05_a_screen_that_can_be_read_again_was_never_unknown(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    blank = Screen.plain("", 120)
    for seen, rule in ((IDLE, "composer"), (Screen.plain("\n".join(MENU), 120), "dialog")):
        assert looked(eyes, pane(), seen) == rule
        assert looked(eyes, pane(), blank) == rule
        assert eyes.pause(10.0) <= watch.CONFIRM
        clock.now += watch.CONFIRM / 2
        assert looked(eyes, pane(), seen) == rule
        clock.now += watch.CONFIRM / 2
        assert looked(eyes, pane(), blank) == rule
        clock.now += watch.CONFIRM
        assert looked(eyes, pane(), blank) == "nothing-fits"


def test_T05_a_question_in_a_pause_is_told_at_once(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), Screen.plain(claude("✻ Computing… (3s)"), 120))
    looked(eyes, pane(), IDLE)
    assert looked(eyes, pane(), Screen.plain("\n".join(MENU), 120)) == "dialog"


def test_work_that_was_seen_ends_the_waiting_for_it(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    eyes.entered("ab234567")
    eyes.submitted("ab234567")
    looked(eyes, pane(title="◐ Claude Code"), IDLE)
    assert eyes.judge(pane(), IDLE).rule == "composer"


def test_eyes_rest_where_nothing_can_change(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    assert eyes.pause(10.0) == 10.0
    looked(eyes, pane(active=clock.now), IDLE)  # tmux tells the second: more may have come in it
    assert eyes.pause(10.0) < 0.2
    eyes.seen |= {f"x{number}": replace(eyes.seen["ab234567"]) for number in range(39)}
    assert 0.5 < eyes.pause(10.0) < 0.6


def test_a_pause_in_work_is_confirmed_soon_however_many_there_are(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), Screen.plain(claude("✻ Computing… (3s)"), 120))
    eyes.seen |= {f"x{number}": replace(eyes.seen["ab234567"]) for number in range(39)}
    assert eyes.pause(10.0) > 0.5
    eyes.seen["x7"].doubted = True
    assert eyes.pause(10.0) == watch.CONFIRM


def test_an_act_of_ours_is_news_and_is_followed_for_a_moment(clock: Clock, eyes: Eyes, rung: list[str]) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    eyes.acted("ab234567")
    assert rung == ["bell"]
    assert eyes.pause(10.0) < 0.2
    clock.now += watch.AFTERMATH
    assert eyes.pause(10.0) == 10.0


def test_eyes_look_more_often_until_they_know_what_an_enter_led_to(clock: Clock, eyes: Eyes) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    eyes.acted("ab234567")
    usual = eyes.pause(10.0)
    eyes.entered("ab234567")
    assert eyes.pause(10.0) < usual / 2
    looked(eyes, pane(), Screen.plain(claude("✻ Computing… (3s)"), 120))
    assert eyes.pause(10.0) == usual


def test_a_submitted_prompt_is_news(clock: Clock, eyes: Eyes, rung: list[str]) -> None:
    clock.now += watch.GREETING
    looked(eyes, pane(), IDLE)
    eyes.submitted("ab234567")
    assert rung == ["bell"]


async def test_T06_an_agent_that_hangs_is_not_kept_busy_by_its_neighbour(desk: Desk) -> None:
    """Two in one directory: what one does is no evidence of the other."""
    hangs = ["sh", "-c", "printf '⠋ thinking'; exec sleep 1000"]
    session = (await desk("open", name="still", cmd=hangs, cwd=str(desk.world.home)))["id"]
    await desk.standin("busy")
    await desk.state("still", "working")
    assert desk.front.helper is not None
    sight = desk.front.helper.eyes.seen[session]
    moved = sight.changed_at
    for _ in range(3):
        await desk("send", name="busy", text="work 0.5")
        await desk.state("busy", "working")
        await desk.state("busy", "idle")
    assert desk.front.helper.eyes.seen[session].changed_at == moved
    assert (await desk("get", name="still"))["state"] == "working"


GREETING = """\
  ▗▟▀    Gemini CLI v0.61.0

Tips for getting started:
1. Create GEMINI.md files to customize your interactions
2. /help for more information
"""
TRUST = "│ Do you trust the files in this folder? │\n│ ● 1. Trust folder │\n│   2. Don't trust │\n╰─────────╯\n\n"
BEFORE = {
    "nothing": "? for shortcuts",
    "restarts": f"{GREETING}{TRUST} Gemini CLI is restarting to apply the trust changes...\n\n? for shortcuts",
}


@pytest.mark.parametrize("above", BEFORE)
def test_a_composer_that_is_drawn_before_the_question_is_not_ready(clock: Clock, eyes: Eyes, above: str) -> None:
    ready = pane("gemini", "◇  Ready (project)")
    early, greeted = (Screen.plain(gemini(*rows.split("\n")), 120) for rows in (BEFORE[above], GREETING))
    assert looked(eyes, ready, early) != "composer"
    clock.now += 4.0
    assert looked(eyes, ready, early) != "composer"
    looked(eyes, ready, greeted)
    clock.now += 1.5
    assert looked(eyes, ready, greeted) == "composer"


def test_a_composer_without_a_greeting_is_ready_in_the_end(clock: Clock, eyes: Eyes) -> None:
    """Greetings can be switched off."""
    ready, bare = pane("gemini", "◇  Ready (project)"), Screen.plain(gemini("? for shortcuts"), 120)
    looked(eyes, ready, bare)
    clock.now += 6.0
    assert looked(eyes, ready, bare) == "composer"


NOTHING_ABOVE = (
    "[[starting]]",
    'name = "no-greeting"',
    'where = "above"',
    "joined = true",
    "match = '^$'",
    "quiet = 20",
)


@pytest.fixture
async def wary(world: World) -> AsyncIterator[Desk]:
    """A helper that knows what the composer of the stand-in has over it when it listens."""
    standin_that(world, *NOTHING_ABOVE)
    here = await Desk(world).start()
    yield here
    await here.close()


async def test_nothing_is_typed_into_a_composer_that_a_question_is_about_to_cover(wary: Desk) -> None:
    """An Enter would have taken the first option, which ends the agent."""
    desk = wary
    made = await desk.standin("new", "--trust", "--ask-after", "1", wait=False, prompt="hello")
    await desk.shows("new", "standin · idle")
    assert (await desk.state("new", "idle", "working", "blocked", "exited"))["state"] == "blocked"
    assert (await desk("get", name="new"))["exit"] is None
    await desk("answer", name="new", choice="yes")
    assert (await desk("wait", act=made["receipt"]["id"]))["outcome"] == "submitted"
    assert desk.prompts("new") == ["hello"]


async def test_T07_a_question_at_the_start_is_told_with_its_words(desk: Desk) -> None:
    made = await desk.standin("new", "--trust", wait=False, prompt="hello")
    asked = await desk.state("new", "blocked")
    assert "trust the files" in asked["evidence"]["excerpt"]
    assert (await desk("wait", act=made["receipt"]["id"], seconds=0.2))["outcome"] in ("queued", "held")
    await desk("answer", name="new", choice="yes")
    assert (await desk("wait", act=made["receipt"]["id"]))["outcome"] == "submitted"
    assert desk.prompts("new") == ["hello"]
