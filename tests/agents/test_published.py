"""What agents write of themselves is believed of the very process that wrote it, and weighed against its screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from author import Author
from covey import process
from covey.agents.published import Published
from covey.models import Exit
from covey.state import Evidence, judge
from covey.tmux.screen import Screen
from desk import Desk
from drawn import CATALOG, MENU, claude, look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from world import World


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Author]:
    here = Author(tmp_path)
    yield here
    here.end()


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({"status": "busy"}, Published("working")),
        ({"status": "idle", "waitingFor": "old news"}, Published("idle")),
        ({"status": "waiting", "waitingFor": "permission prompt"}, Published("blocked", "permission prompt")),
        ({"status": "shell"}, Published("idle", background=1)),
        ({"status": "a new word"}, None),
        ({}, None),
        ({"status": "busy", "kind": "sdk"}, None),
        ({"status": "busy", "procStart": "1"}, None),
        ({"status": ["busy"]}, None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_its_words_are_read_by_the_profile(agent: Author, facts: dict[str, Any], wanted: Published | None) -> None:
    agent.write(**facts)
    assert agent.says() == wanted


def test_each_change_is_read(agent: Author) -> None:
    assert agent.says() is None
    agent.write(status="busy")
    assert agent.says() == Published("working")
    agent.write(status="idle")
    assert agent.says() == Published("idle")
    agent.file.unlink()
    assert agent.says() is None


@pytest.mark.parametrize(
    "text", ["", '{"status": "bu', "[1, 2]", "\0\1", "[" * 60_000], ids="empty half list binary deep".split()
)
def test_a_file_that_cannot_be_read_is_no_news(agent: Author, text: str) -> None:
    agent.write(status="busy")
    assert agent.says() == Published("working")
    agent.file.write_text(text)
    assert agent.says() in (Published("working"), None)


def test_a_huge_file_is_left_alone(agent: Author) -> None:
    agent.write(status="busy", more="x" * 100_000)
    assert agent.says() is None


def test_the_agents_own_variable_says_where_it_writes(tmp_path: Path) -> None:
    agent = Author(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "else"))
    try:
        agent.write(status="busy")
        assert agent.says() is None
        (tmp_path / "else" / "sessions").mkdir(parents=True)
        agent.file.rename(tmp_path / "else" / "sessions" / agent.file.name)
        assert agent.says() == Published("working")
    finally:
        agent.end()


def test_a_process_that_is_gone_says_nothing(agent: Author) -> None:
    agent.write(status="busy")
    agent.end()
    assert agent.says() is None


# What the screen shows, what the agent wrote, and for how long the screen has stood still -> what counts.
BUSY, WAITS, RESTS = Published("working"), Published("blocked", "dialog open"), Published("idle")
PANEL = "  Help  General  Commands\n  ! for shell mode\n  ←/→ to switch · Esc to close"
ODD = "something\nelse\nthan\nusual"
SPINS = claude("✻ Computing… (3s)")
FUSED = {
    "both-idle": (claude("● Done."), RESTS, 0.0, "idle", "composer"),
    "writes-later-than-it-shows": (SPINS, RESTS, 0.0, "working", "spinner-row"),
    "asks-before-it-writes": ("\n".join(MENU), BUSY, 0.0, "blocked", "dialog"),
    "works-behind-an-open-composer": (claude("● Hm"), BUSY, 0.0, "working", "session-file"),
    "composer-stands-still": (claude("● Hm"), BUSY, 10.0, "idle", "composer"),
    "waits-in-a-panel": (PANEL, WAITS, 0.0, "blocked", "session-file"),
    "waits-for-long": (PANEL, WAITS, 99.0, "blocked", "session-file"),
    "waits-before-it-paints": (SPINS, WAITS, 0.0, "blocked", "session-file"),
    "odd-screen-at-rest": (ODD, RESTS, 0.0, "idle", "session-file"),
    "odd-screen-at-work": (ODD, BUSY, 99.0, "working", "session-file"),
    "not-drawn": ("", RESTS, 0.0, "starting", "not-drawn"),
    "asks-at-the-start": ("", WAITS, 0.0, "blocked", "session-file"),
}


@pytest.mark.parametrize(("text", "told", "still", "state", "rule"), FUSED.values(), ids=FUSED.keys())
def test_what_an_agent_publishes_is_weighed_against_its_screen(
    text: str, told: Published, still: float, state: str, rule: str
) -> None:
    assert look("claude", text, published=told, changed_ago=still) == (state, rule)


def test_what_it_waits_for_is_in_its_own_words() -> None:
    verdict = judge(Evidence(Screen.plain(PANEL), "✳ x", published=WAITS), CATALOG.get("claude"))
    assert verdict.excerpt == "dialog open"


def test_a_dead_agent_has_nothing_to_say() -> None:
    assert look("claude", claude("● Hm"), dead=True, exit=Exit(0), published=BUSY) == ("exited", "process")


def test_a_task_of_which_it_writes_goes_on_beside_an_idle_screen() -> None:
    told = Published("idle", background=1)
    verdict = judge(Evidence(Screen.plain(claude("● Hm")), "✳ x", published=told), CATALOG.get("claude"))
    assert (verdict.state, verdict.background) == ("idle", 1)


OWN = """
name = "diarist"
like = "standin"

[session_file]
folder = "~/diary"
file = "{pid}.json"
start = "start"
state = "doing"
states = { toil = "working", rest = "idle" }
"""


async def test_a_session_is_what_its_agent_says_of_itself(world: World) -> None:
    profile = world.config / "covey" / "agents" / "diarist.toml"
    profile.parent.mkdir(parents=True)
    profile.write_text(OWN)
    desk = await Desk(world).start()
    try:
        await desk("open", name="ada", agent="diarist", cwd=str(world.home))
        pid = (await desk.state("ada", "idle"))["pid"]
        owner = process.identify(pid)
        assert owner is not None
        diary = world.home / "diary" / f"{pid}.json"
        diary.parent.mkdir()
        for word, state in (("toil", "working"), ("rest", "idle")):
            diary.write_text(json.dumps({"start": owner.start, "doing": word}))
            assert desk.front.helper is not None
            desk.front.helper.ring()
            await desk.state("ada", state)
    finally:
        await desk.close()
