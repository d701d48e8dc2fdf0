"""An agent may say anything: rows of other agents, old words, lists and questions in its answer are no state."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.state import Evidence, judge
from covey.tmux.screen import Screen
from drawn import CATALOG, MENU, OWN_TITLES, aider, claude, codex, copilot, gemini, look, opencode, pi, qwen, standin

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


NEGATIVES = {
    "claude-quotes-a-dialog": ("claude", claude("● It looked like this:", "", *("  " + row for row in MENU))),
    "claude-quotes-at-the-edge": ("claude", claude("● It looked like this:", *MENU)),
    "claude-lists": ("claude", claude("● Choose one:", "", "  1. Yes", "  2. No", "", "  Do you want to proceed?")),
    "claude-lists-with-its-bullet": ("claude", claude("● 1. Read", "  2. Write", "  Enter to confirm")),
    "claude-speaks-of-the-hint": ("claude", claude("● Press esc to interrupt, or escape to cancel.")),
    "claude-quotes-a-spinner": ("claude", claude("● It said:", "  ✻ Computing… (3s · esc to interrupt)")),
    "claude-old-spinner": ("claude", claude("✻ Computing… (3s)", *(f"  row {n}" for n in range(14)))),
    "claude-summary": ("claude", claude("✻ Cogitated for 1m 6s · done 7:12 AM")),
    "claude-draft-is-a-menu": ("claude", claude("● Hm", draft="❯ 1. Yes\n  2. No\n  Enter to confirm")),
    "claude-draft-speaks": ("claude", claude("● Hm", draft="❯ ✻ Computing… (3s · esc to interrupt)")),
    "claude-status-line": ("claude", claude("● Hm", foot="  Opus ❯ main ❯ 3 files · 12s\n  ⏸ manual mode on")),
    "claude-asked-in-prose": ("claude", claude("● Shall I delete it? [y/n]")),
    "codex-prompt-is-a-list": ("codex", codex("› 1. Read", "  2. Write", "", "• Done.")),
    "codex-draft-is-a-list": ("codex", codex("• Done.", draft="› 1. Read\n  2. Write")),
    "codex-speaks-of-the-hint": ("codex", codex("• Press esc to interrupt.", "• It took (3s in all)")),
    "gemini-quotes-a-spinner": ("gemini", gemini("✦ It said", "   ⠧ Thinking... (esc to cancel, 3s)")),
    "gemini-rests-by-its-title": ("gemini", gemini("✦ It said:", " ⠸ Thinking... (esc to cancel, 3s)")),
    "gemini-lists": ("gemini", gemini("✦ ● 1. Yes", "    2. No")),
    "opencode-quotes": ("opencode", opencode("     esc interrupt", "     △ Permission required")),
    "pi-draft-speaks": ("pi", pi(" Done.", draft="type esc to cancel the search, then\nenter selects")),
    "opencode-speaks-of-esc": ("opencode", opencode("     To leave press esc", "     Keys: esc   enter")),
    "pi-quotes-its-rail": ("pi", pi(" ── ⠸ Working ───", " (esc to cancel)")),
    "pi-draws-a-line": ("pi", pi("─" * 60, " ⠸ Working", "─" * 60)),
    "qwen-quotes": ("qwen", qwen("  ◆ (3s · esc to cancel)", "    .. joke... (3s · esc to cancel)", "  ◆ End", "")),
    "copilot-retried": ("copilot", copilot(" ● Request failed. Retrying...", " ◎ Working esc esc interrupt")),
    "aider-asked-before": ("aider", aider("Run it? (Y)es/(N)o [Yes]: y", "Running it")),
    "aider-draft": ("aider", aider("Tokens: 1", last="> is it (Y)es or (N)o")),
    "aider-draft-asks": ("aider", aider("Tokens: 1", last="diff> ask it: Overwrite the\ndiff> file? [y/N]")),
    "claude-menu-long-gone": ("claude", claude("Enter to confirm", foot="  status\n  ⏸ manual mode on")),
    "aider-draft-of-rows": ("aider", aider("Tokens: 1", last="> first\n> second\n> third")),
    "standin-quotes": ("standin", standin("⠹ Working… (3s · esc to interrupt)", *(f"row {n}" for n in range(13)))),
}


@pytest.mark.parametrize(("agent", "text"), NEGATIVES.values(), ids=NEGATIVES.keys())
def test_words_that_look_like_a_state_do_not_fool_it(agent: str, text: str) -> None:
    assert look(agent, text)[0] == "idle"


def test_T01_a_panel_below_a_framed_prompt_of_the_talk_is_no_rest() -> None:
    bar = "▄" * 60, " > /resume", "▀" * 60
    panel = "\n".join(
        ["✦ Done.", "─" * 60, *bar, " Chat Sessions (1 total)", " Navigate: ↑/↓   Quit: q", "❯ #1 │ hello"]
    )
    assert look("gemini", panel.replace("─" * 60, "╰──╯"))[0] != "idle"
    assert look("gemini", panel)[0] == "idle"


LISTS = {
    "two-pointers": "› 1. read\n› 2. write\n\nEsc to cancel it, says the text",
    "text-below": "❯ 1. read\n  2. write\n\n" + "\n".join(f"row {n}, esc to cancel" for n in range(8)),
    "choices-long-gone": "❯ Yes\n  No\n\n" + "\n".join(f"row {n}, enter to confirm" for n in range(8)),
    "one-option": "❯ 1. read\n\nEsc to cancel the whole",
    "no-hint": "❯ 1. read\n  2. write\n\nand so on",
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS.keys())
def test_a_list_that_is_no_menu_is_no_question(text: str) -> None:
    assert look("custom", text)[0] == "unknown"


def test_T01_a_quote_at_the_end_of_an_answer_is_no_prompt() -> None:
    assert look("aider", "Tokens: 1k sent\n\nHe said\nthis\n> to be")[0] == "working"


def test_T01_a_list_in_prose_without_a_composer_is_no_question() -> None:
    text = "The plan:\n1. read\n2. write\n> 3. rest\nThat is all, press enter to start your day."
    assert look("custom", text)[0] == "unknown"
