"""The place to type: where it is, and what stands in it."""

from __future__ import annotations

import pytest

from covey.agents.composer import locate, talk
from covey.state import composer
from covey.tmux.screen import Screen, parse
from drawn import CATALOG, aider, claude, codex, copilot, gemini, opencode, pi, qwen, standin

DRAFTS = {
    "empty": ("claude", claude("● Hm"), ""),
    "no-break-blank": ("claude", claude("● Hm", draft="❯\u00a0"), ""),
    "one-row": ("claude", claude("● Hm", draft="❯\u00a0fix it"), "fix it"),
    "rows": ("claude", claude("● Hm", draft="❯ one\n  two"), "one\ntwo"),
    "pasted": ("claude", claude("● Hm", draft="❯ [Pasted text #1 +11 lines]"), "[Pasted text #1 +11 lines]"),
    "queue-hint": ("claude", claude("● Hm", draft="❯ Press up to edit queued messages"), ""),
    "rail-in-the-draft": ("claude", claude("● Hm", draft="❯ a\n  ─────\n  b"), "a\n─────\nb"),
    "codex-placeholder": ("codex", codex("• Hm"), ""),
    "codex-draft": ("codex", codex("• Hm", draft="› fix\n  it"), "fix\nit"),
    "codex-no-foot": ("codex", "• Hm\n\n› a\n  b\n  c", "a\nb\nc"),
    "codex-long-without-a-foot": (
        "codex",
        "• Hm\n\n› a\n\n" + "\n".join(["  b"] * 12),
        "a\n\n" + "\n".join(["b"] * 12),
    ),
    "gemini-placeholder": ("gemini", gemini("✦ Hm"), ""),
    "gemini-draft": ("gemini", gemini("✦ Hm", draft=" > fix it"), "fix it"),
    "gemini-blank-rows": ("gemini", gemini("✦ Hm", draft=" >\n\n   after two"), "after two"),
    "opencode-empty": ("opencode", opencode(), ""),
    "opencode-draft": ("opencode", opencode(draft="fix it"), "fix it"),
    "opencode-side-bar": (
        "opencode",
        "  ┃\n  ┃  fix             side\n  ┃\n  ┃  Build · M\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀      bar\n   ~/project",
        "fix",
    ),
    "pi-empty": ("pi", pi(), ""),
    "pi-draft": ("pi", pi(draft="fix it"), "fix it"),
    "qwen-zero-width": ("qwen", qwen(draft="> fix it \u200b"), "fix it"),
    "aider-rows": ("aider", aider(last="> fix\n> it"), "fix\nit"),
    "aider-draft": ("aider", aider(last="diff> fix it"), "fix it"),
    "copilot-empty": ("copilot", copilot(), ""),
    "claude-shell": ("claude", claude("● Hm", draft="!\u00a0", foot="  ! for shell mode"), "!"),
    "gemini-shell": ("gemini", gemini("✦ Hm", draft=" !   ls"), "!   ls"),
    "qwen-shell": ("qwen", qwen(draft="!"), "!"),
    "copilot-shell": ("copilot", copilot(draft="! ls"), "! ls"),
    "opencode-shell": ("opencode", opencode(draft="ls").replace("Build · Big Model", "Shell"), "┃\n┃  ls\n┃\n┃  Shell"),
    "none": ("claude", "just text", None),
    "shell": ("shell", "$ ls", None),
}


@pytest.mark.parametrize(("agent", "text", "want"), DRAFTS.values(), ids=DRAFTS.keys())
def test_the_draft_is_read_by_structure(agent: str, text: str, want: str | None) -> None:
    assert composer(Screen.plain(text, 60), CATALOG.get(agent)) == want


@pytest.mark.parametrize(
    "ghost", ["\x1b[2mType a prompt\x1b[0m", "\x1b[7mF\x1b[0;2mix the build?\x1b[0m", "\x1b[38;5;245mfix it\x1b[39m"]
)
def test_ghost_text_is_no_draft(ghost: str) -> None:
    text = standin("Done.", draft=f"❯ {ghost}")
    assert composer(parse(text, 60), CATALOG.get("standin")) == ""


def test_the_mark_of_a_shell_counts_in_whatever_colour() -> None:
    """Qwen draws it as it draws placeholders."""
    text = qwen(draft="\x1b[38;5;103m! \x1b[39m\x1b[48;5;252mH\x1b[38;5;103m\x1b[49meard 1548 bytes.\x1b[39m")
    assert composer(parse(text, 60), CATALOG.get("qwen")) == "! Heard 1548 bytes."


TALK = {
    "claude": ("claude", claude("● Hm.\n\n✻ Cogitated for 6s · done 7:13 AM"), "● Hm."),
    "claude-at-work": (
        "claude",
        claude("✢ Musing… (2s)\n  ⎿  Tip: Press shift+tab\n     twice to enable."),
        "✢ Musing… (2s)",
    ),
    "claude-fresh": ("claude", claude(""), ""),
    "a-rule-says-nothing": ("claude", claude("● Hm.\n───"), "● Hm."),
    "codex": ("codex", codex("• Hm.\n\nWorked for 6s • 07:06"), "• Hm."),
    "gemini": ("gemini", gemini("✦ Hm.\n\n? for shortcuts"), "✦ Hm."),
    "copilot": ("copilot", copilot("● Hm.          ┃").replace("[main]", "[⎇ main]"), "● Hm."),
    "aider": ("aider", aider("Hm.\n\nTokens: 614 sent, 53 received."), "Hm."),
    "opencode-side-bar": (
        "opencode",
        "  Hm.            a side\n\n  ▣  Build · M\n                     bar\n"
        + opencode().replace("▀" * 50, "▀" * 10),
        "Hm.",
    ),
}


@pytest.mark.parametrize(("agent", "text", "want"), TALK.values(), ids=TALK.keys())
def test_what_was_said_last_is_over_the_composer_and_not_aside(agent: str, text: str, want: str) -> None:
    screen, rule = Screen.plain(text, 60), CATALOG.get(agent).composer
    assert talk(screen, rule, locate(screen, rule)) == want
