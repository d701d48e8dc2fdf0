"""An agent may say anything: rows of other agents, old words, lists and questions in its answer are no state."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.state import Evidence, judge
from covey.tmux.screen import Screen
from drawn import CATALOG, OWN_TITLES, aider, claude, codex, copilot, gemini, opencode, pi, qwen, standin

ROWS = (
    "✻ Computing… (3s · esc to interrupt)",
    "⠋ Working… (3s · esc to interrupt)",
    "• Working (3s • esc to interrupt)",
    "⠸ Thinking... (esc to cancel, 3s)",
    "⬝⬝■■■■⬝⬝  esc interrupt",
    "◉ Working esc esc interrupt",
    "── ⠸ Working ───",
    ".. Herding cats... (12s · ↓ 7 tokens · esc to cancel)",
    "Enter to steer · Ctrl+Q to queue",
    "░█  Waiting for big/model",
    "529 overloaded · retrying in 9s · attempt 2/10",
    "Retrying in 4.0 seconds...",
    "Waiting for 2 background agents to finish",
    "Do you want to proceed?",
    "❯ 1. Yes",
    "› 1. Yes, proceed (y)",
    "● 1. Allow once",
    "  2. No (esc)",
    "Esc to cancel · Tab to amend",
    "Press enter to confirm or esc to cancel",
    "Allow once   Allow always   Reject",
    "△ Permission required",
    "Run shell command? (Y)es/(N)o [Yes]: ",
    "Overwrite it? [y/N]",
    "Waiting for user confirmation...",
    "Möchten Sie fortfahren? 1. Ja 2. Nein",
    "正在处理… 按 esc 取消",
    "続行しますか? はい / いいえ",
    "هل تريد المتابعة؟",
    "> to be or not to be",
    "* item",
    "- [x] done",
    "│ a │ b │",
    "12s",
    "",
)
# How each agent sets what it says: the first row, and those below it.
SAYS: dict[str, tuple[Callable[..., str], str, str]] = {
    "claude": (claude, "● ", "  "),
    "codex": (codex, "• ", "  "),
    "gemini": (gemini, "✦ ", "  "),
    "opencode": (opencode, "     ", "     "),
    "pi": (pi, " ", " "),
    "qwen": (qwen, "  ◆ ", "    "),
    "copilot": (copilot, " ● ", "   "),
    "aider": (aider, "", ""),
    "standin": (standin, "  ", "  "),
}


@pytest.mark.parametrize("agent", SAYS)
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.sampled_from(ROWS), min_size=1, max_size=16), cols=st.sampled_from([30, 45, 80, 120, 200]))
def test_T01_what_an_agent_says_is_no_state(agent: str, rows: list[str], cols: int) -> None:
    draw, first, below = SAYS[agent]
    width = cols - len(below) - 2
    said = [part for row in rows for part in textwrap.wrap(row, width, drop_whitespace=False) or [""]]
    text = draw(*((first if at == 0 else below) + row for at, row in enumerate(said)))
    verdict = judge(Evidence(Screen.plain(text, cols), OWN_TITLES[agent]), CATALOG.get(agent))
    assert verdict.state == "idle", (verdict, text)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "pi", "qwen", "copilot", "standin"])
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.sampled_from(ROWS), min_size=4, max_size=16))
def test_T01_without_a_composer_what_it_says_is_not_rest(agent: str, rows: list[str]) -> None:
    _, first, below = SAYS[agent]
    text = "\n".join((first if at == 0 else below) + row for at, row in enumerate(rows))
    assert judge(Evidence(Screen.plain(text, 200), OWN_TITLES[agent]), CATALOG.get(agent)).state != "idle"
