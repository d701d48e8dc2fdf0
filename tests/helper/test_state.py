"""Evidence -> state: signs that count, and signs that must not."""

from __future__ import annotations

import pytest

from covey.models import Exit
from covey.state import Evidence, judge, ready
from covey.tmux.screen import Screen
from drawn import CATALOG, aider, claude, codex, copilot, gemini, look, opencode, pi, qwen, standin

STATES = {
    "claude-idle": ("claude", claude("● Done.", "", "✻ Pondered for 12s"), None, "idle"),
    "claude-glyph": ("claude", claude("❯ go on", "", "✢ Whirring…"), None, "working"),
    "claude-counter": ("claude", claude("✳ Simplifying… (2m 18s · ↓ 4.8k tokens)"), None, "working"),
    "claude-verb-in-another-language": ("claude", claude("✻ Actualizando el código… (13m 23s · x)"), None, "working"),
    "claude-tip-below-the-glyph": ("claude", claude("* Musing… (4s)", "  ⎿  Tip: drink water"), None, "working"),
    "claude-only-the-foot": ("claude", claude("● Hm", foot="  ⏵⏵ auto mode on · esc to interrupt"), None, "working"),
    "claude-foot-cut": ("claude", claude("● Hm", foot="  ⏸ manual mode on · esc to…", width=30), None, "working"),
    "claude-title": ("claude", claude("● Hm"), "◑ Repair the parser", "working"),
    "claude-old-title": ("claude", claude("● Hm"), "⠂ Repair the parser", "working"),
    "claude-retry": ("claude", claude("✻ 529 overloaded · retrying in 9s · attempt 2/10"), None, "working"),
    "claude-no-ellipsis": ("claude", claude("✻ Compacting the talk (12s · x)"), None, "working"),
    "codex-asks-in-words": (
        "codex",
        "  Which one?\n  red (unanswered)\n  blue\n  green\n  enter to submit answer",
        None,
        "blocked",
    ),
    "codex-idle": ("codex", codex("• Done."), None, "idle"),
    "codex-title-only": ("codex", codex("• Some words"), "⠙ parser | project", "working"),
    "codex-row": ("codex", codex("• Reading files (1m 03s • Esc to interrupt)"), None, "working"),
    "codex-asks-in-title": ("codex", codex("• Hm"), "[ . ] Action Required | project", "blocked"),
    "codex-loads": ("codex", codex(" >_ OpenAI Codex (v0.171.0)", "    loading"), "box", "starting"),
    "gemini-idle": ("gemini", gemini("✦ Done."), None, "idle"),
    "gemini-title": ("gemini", gemini("✦ Done."), "✦  Working… (project)", "working"),
    "gemini-thought": ("gemini", gemini(" ⠧ Reading the parser (esc to cancel, 1m 2s)"), "Gemini CLI (p)", "working"),
    "gemini-asks-in-title": ("gemini", "╭──╮\n│ odd box │\n╰──╯", "✋  Action Required (project)", "blocked"),
    "opencode-idle": ("opencode", opencode("     ▣  Build · Big Model · 3.1s"), None, "idle"),
    "opencode-works": ("opencode", opencode(foot="   ⬝⬝■■■■⬝⬝  esc interrupt     ctrl+p"), None, "working"),
    "opencode-again": ("opencode", opencode(foot="   ■⬝⬝⬝⬝⬝⬝⬝  esc again to interrupt"), None, "working"),
    "opencode-narrow": (
        "opencode",
        opencode(foot="   ⬝⬝■■■⬝⬝⬝  esc     15 (0%\n             interru\n             pt"),
        None,
        "working",
    ),
    "opencode-asks": ("opencode", "  ┃\n  ┃  △ Always allow it\n  ┃  rm *\n  ┃  ls *\n", None, "blocked"),
    "opencode-asks-more": (
        "opencode",
        "  ┃ Which?\n  ┃  red\n  ┃  blue\n  ┃ ⇆ tab  ↑↓ select  enter confirm",
        None,
        "blocked",
    ),
    "opencode-shows-a-panel": (
        "opencode",
        opencode(
            "     Done.", "          Select agent                  esc", "          Search", "        ● build  native"
        ),
        None,
        "blocked",
    ),
    "opencode-shows-a-panel-in-little-room": (
        "opencode",
        opencode("   Help                 esc/enter", " x"),
        None,
        "blocked",
    ),
    "opencode-has-no-branch": ("opencode", opencode(foot="  ~/project                1.18.33"), "OpenCode", "starting"),
    "opencode-wraps-its-branch": ("opencode", opencode(foot="  ~/proj-     1.18.33\n  ect:main"), "OpenCode", "idle"),
    "opencode-no-blocks": ("opencode", opencode(foot="   esc interrupt      tab agents"), None, "working"),
    "pi-idle": ("pi", pi(" Done."), None, "idle"),
    "pi-works": ("pi", pi(rail="── ⠸ Working " + "─" * 40), None, "working"),
    "pi-lets-choose": (
        "pi",
        pi(draft=">\n\n→ ✓ big-model\n\n  Enter to select · Escape/Ctrl+C to cancel"),
        None,
        "blocked",
    ),
    "pi-settings": (
        "pi",
        pi(draft=">\n→ Auto\n  Type to search · Enter/Space to change · Esc to cancel"),
        None,
        "blocked",
    ),
    "pi-asks-how-to-log-in": (
        "pi",
        pi(draft=" → One\n   Two\n ↑↓ navigate  enter select  escape/ctrl+c cancel"),
        None,
        "blocked",
    ),
    "pi-resumes": ("pi", pi(draft="Resume Session\ntab scope · re:<pattern> regex\n>\n› hello"), None, "blocked"),
    "pi-retries": ("pi", pi(rail="── ⠹ Retrying (2/3) in 4s... (escape to cancel) ──"), None, "working"),
    "qwen-idle": ("qwen", qwen("  ◆ Done."), None, "idle"),
    "qwen-title": ("qwen", qwen("  ◆ Done."), "◐\ufe0e Qwen - project", "working"),
    "qwen-row": ("qwen", qwen("  .. Herding cats... (12s · ↓ 7 tokens · esc to cancel)"), None, "working"),
    "qwen-foot": ("qwen", qwen(foot="  Enter to steer · Ctrl+Q to queue"), None, "working"),
    "qwen-asks-in-title": ("qwen", "  ? Shell rm", "✳\ufe0e Qwen - project", "blocked"),
    "qwen-asks-in-a-frame": ("qwen", "┌────┐\n│ › Here │\n│   There │\n│   a  │\n│   b  │\n└────┘", None, "blocked"),
    "copilot-idle": ("copilot", copilot(" ● Done."), None, "idle"),
    "copilot-works": ("copilot", copilot(foot=" ◎ Working · 2.1 KB esc esc interrupt"), None, "working"),
    "copilot-narrow": ("copilot", copilot(foot=" ◎        esc esc edit prompt"), None, "working"),
    "copilot-thinks": ("copilot", copilot(foot=" ◉ Thinking esc esc edit prompt"), None, "working"),
    "copilot-tabs": (
        "copilot",
        " [Current]  Sessions\n ╭─╮\n ╰─╯  Copilot v1\n █ ▘\n ▔▔",
        "GitHub Copilot",
        "starting",
    ),
    "aider-idle": ("aider", aider("Tokens: 2k sent, 9 received."), None, "idle"),
    "aider-mode": ("aider", aider("Tokens: 2k sent.", last="architect> "), None, "idle"),
    "aider-spins": ("aider", aider(last="> fix it\n\n  ░█     Waiting for big/model"), None, "working"),
    "aider-streams": ("aider", aider(last="> fix it\n\nI will change the parser so that"), None, "working"),
    "aider-spins-alone": ("aider", "words\n   █░    Waiting for big/model", None, "working"),
    "aider-goes-on": ("aider", "Tokens: 2k sent, 9 received.\nRunning make", None, "working"),
    "aider-scrolled": ("aider", "\n".join(["some words of an answer"] * 60), None, "working"),
    "aider-retries": ("aider", "Some error\nRetrying in 4.0 seconds...\nhalf an answer", None, "working"),
    "aider-asks": ("aider", aider(last="> fix\n\na.py\nAdd file to the chat? (Y)es/(N)o [Yes]: "), None, "blocked"),
    "aider-asks-at-once": ("aider", aider(last="> fix it\nAdd a.py? (Y)es/(N)o [Yes]: "), None, "blocked"),
    "aider-greets": ("aider", "─" * 60 + "\nUpdate git name\nand email\nModel: big\nRepo-map: on", None, "starting"),
    "standin-idle": ("standin", standin("Done."), None, "idle"),
    "standin-works": ("standin", standin("⠹ Working… (3s · esc to interrupt)"), None, "working"),
    "standin-foot": ("standin", standin("Done.", foot="  standin · esc to interrupt"), None, "working"),
    "standin-title": ("standin", standin("Done."), "⠋ standin", "working"),
    "shell-is-not-known": ("shell", "$ make\nok\n$ ", "box", "unknown"),
    "shell-asks": ("shell", "rm: remove write-protected file? [y/N] ", "box", "blocked"),
    "custom-is-not-known": ("custom", "ready\n> ", "box", "unknown"),
    "custom-spins": ("custom", "⠼ compiling the world", "box", "working"),
    "custom-title": ("custom", "text", "⠼ fix it", "working"),
    "custom-asks-in-title": ("custom", "text", "[ ! ] Action Required", "blocked"),
    "custom-hint": ("custom", "answering (12s · esc to interrupt)", "box", "working"),
    "cursor-follow-up": ("cursor", " → Add a follow-up", "Cursor", "idle"),
    "cursor-works": ("cursor", " ⬢ Composing 23 tokens\n → Add a follow-up   ctrl+c to stop", "Cursor", "working"),
    "grok-footer": ("grok", "answer\n Ctrl+x:shortcuts", "grok", "idle"),
    "amp-title": ("amp", "text", "fix it - amp - ~/project", "idle"),
}


@pytest.mark.parametrize(("agent", "text", "title", "want"), STATES.values(), ids=STATES.keys())
def test_T03_each_agent_by_its_own_signs(agent: str, text: str, title: str | None, want: str) -> None:
    state, rule = look(agent, text, title)
    assert state == want, rule
    assert rule


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "pi", "qwen", "copilot"])
@pytest.mark.parametrize("text", ["Something entirely new\n(press a key)\nrow\nrow\nrow", "╭──╮\n│ hm │\n╰──╯\nx"])
def test_T01_what_fits_nothing_is_unknown_never_idle(agent: str, text: str) -> None:
    assert look(agent, text)[0] == "unknown"


NARROW = "\n".join(
    [
        "● Hm",
        "",
        "✻ Simplifying the parser…",
        "  (12s · ↓ 3 tokens)",
        "",
        "─" * 30,
        "❯ ",
        "─" * 30,
        "  ⏸ manual mode on · ? for …",
    ]
)


def test_T02_a_composer_is_no_sign_of_rest_in_a_narrow_pane() -> None:
    verdict = judge(Evidence(Screen.plain(NARROW, 30), "✳ x"), CATALOG.get("claude"))
    assert verdict.state == "working"
    rows = ["✦ Hm", "", " ⠦ Reading the whole of it", "(esc to cancel, 12s)"]
    assert judge(
        Evidence(Screen.plain(gemini(*rows, width=30), 30), "Gemini CLI (p)"), CATALOG.get("gemini")
    ).state == ("working")


def test_a_dead_pane_has_exited_whatever_it_shows() -> None:
    profile = CATALOG.get("claude")
    shown = Screen.plain(claude("✻ Computing…"), 60)
    verdict = judge(Evidence(shown, "◐ x", dead=True, exit=Exit(code=3)), profile)
    assert (verdict.state, verdict.rule, verdict.excerpt) == ("exited", "process", "code 3")
    assert judge(Evidence(None, dead=True, exit=Exit(signal=9)), profile).excerpt == "signal 9"
    assert judge(Evidence(None, dead=True), profile).excerpt == "status not known"


def test_without_a_screen_nothing_is_known() -> None:
    assert judge(Evidence(None, "◐ x"), CATALOG.get("claude")).state == "unknown"


def test_the_verdict_shows_what_decided() -> None:
    verdict = judge(Evidence(Screen.plain(claude("✻ Computing… (3s)"), 60), "✳ x"), CATALOG.get("claude"))
    assert (verdict.rule, verdict.excerpt) == ("spinner-row", "✻ Computing… (3s)")


def test_background_work_is_counted_beside_the_state() -> None:
    text = claude("● Hm", foot="  ⏸ manual mode on · 3 shells · ? for shortcuts")
    verdict = judge(Evidence(Screen.plain(text, 60), "✳ x"), CATALOG.get("claude"))
    assert (verdict.state, verdict.background) == ("idle", 3)
    text = claude("✻ Waiting for 2 background agents to finish")
    verdict = judge(Evidence(Screen.plain(text, 60), "✳ x"), CATALOG.get("claude"))
    assert (verdict.state, verdict.background) == ("idle", 2)
    text = codex("• Working (1s • esc to interrupt) · 2 background terminals running")
    verdict = judge(Evidence(Screen.plain(text, 60), "a | b"), CATALOG.get("codex"))
    assert (verdict.state, verdict.background) == ("working", 2)


def test_I10_a_composer_without_the_agents_title_is_still_starting() -> None:
    for agent in ("claude", "gemini", "pi", "qwen", "copilot", "opencode", "standin"):
        text = {"claude": claude, "gemini": gemini, "pi": pi, "qwen": qwen}.get(agent, standin)("Hello.")
        if agent == "opencode":
            text = opencode()
        assert look(agent, text, "box", title_is_set=False) == ("starting", "title-not-set")


def test_I10_a_draft_that_shows_was_taken() -> None:
    assert look("claude", claude("● Hm", draft="❯ half a thought"), "box", title_is_set=False)[0] == "idle"


def test_I10_a_title_that_never_comes_does_not_keep_an_agent_from_its_work() -> None:
    patience = CATALOG.get("claude").ready.patience
    late = Evidence(Screen.plain(claude("● Hm"), 60), "box", title_is_set=False, changed_ago=patience)
    assert judge(late, CATALOG.get("claude")).state == "idle"


def test_I10_nothing_drawn_yet_is_starting_for_a_while() -> None:
    profile = CATALOG.get("claude")
    assert judge(Evidence(Screen.plain("\n\n", 60), ""), profile).state == "starting"
    slow = Evidence(Screen.plain("\n\n", 60), "", changed_ago=profile.ready.patience + 30.0)
    assert judge(slow, profile).state == "starting"
    assert judge(Evidence(Screen.plain("\n\n", 60), "", changed_ago=60.0), profile).state == "unknown"


def test_I10_ready_wants_rest_as_well() -> None:
    profile = CATALOG.get("standin")
    shown = Screen.plain(standin("Hello"), 60)
    assert not ready(Evidence(shown, "standin", changed_ago=0.0), profile)
    assert ready(Evidence(shown, "standin", changed_ago=1.0), profile)
    assert not ready(Evidence(shown, "⠋ standin", changed_ago=1.0), profile)


def test_claudes_missing_hints_are_starting_only_while_the_screen_moves() -> None:
    text = claude("   Claude Code v2.1.332", "   Opus", foot="  ⏸ manual mode on", width=80)
    shown, profile = Screen.plain(text, 80), CATALOG.get("claude")
    assert judge(Evidence(shown, "✳ x", changed_ago=0.1), profile).state == "starting"
    assert judge(Evidence(shown, "✳ x", changed_ago=5.0), profile).state == "idle"


def test_a_screen_of_long_rows_is_judged_in_time() -> None:
    rows = "\n".join(("─ " * 400 + "(3s · esc", "⠋ " * 400, "a" * 800, "1. " * 200, " " * 800 + "x")) + "\n"
    for profile in CATALOG.profiles.values():
        assert judge(Evidence(Screen.plain(rows * 20, 800), "⠋" * 300), profile).state
