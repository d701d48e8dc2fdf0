"""Bottoms of real screens: narrow panes, light themes, models that fail; each in a state that its model told."""

from __future__ import annotations

import pytest

from covey.state import Evidence, composer, judge
from covey.tmux.screen import parse
from drawn import CATALOG

SCREENS: dict[str, tuple[str, str, str, list[str]]] = {
    "claude-34-streams": (
        "claude",
        "✳ w",
        "working",
        [
            "     shift+tab twice to enable.",
            "",
            "─" * 34,
            "❯ ",
            "─" * 34,
            "  ⏸ manual mode on · esc to int…",
        ],
    ),
    "claude-34-retries": (
        "claude",
        "✳ w",
        "working",
        [
            "❯ mock:fail 500",
            "",
            "✻ 500 mock … · retrying in 1s ·",
            "  attempt 3/10",
            "",
            "─" * 34,
            "❯ ",
            "─" * 34,
            "  ⏸ manual mode on",
        ],
    ),
    "claude-34-rests": (
        "claude",
        "✳ w",
        "idle",
        [
            "● The tool answered.",
            "",
            "✻ Sautéed for 0s · done 4:06 PM",
            "",
            "─" * 34,
            "❯ ",
            "─" * 34,
            "  ⏸ manual mode on · ? for shor…",
        ],
    ),
    "claude-34-suggests-after-an-answer-that-was-none": (
        "claude",
        "✳ w",
        "idle",
        [
            "  StreamNoEventsError; 0",
            "  stream events received.",
            "",
            "─" * 34,
            "❯ \x1b[2mResend your message to try again\x1b[0m",
            "─" * 34,
            "  ⏸ manual mode on · ? for shor…",
        ],
    ),
    "codex-52-asks-again": (
        "codex",
        "w | w",
        "blocked",
        [
            "• I will use a tool.",
            "",
            "• Running rm -rf zz",
            "",
            "  Would you like to run the following command?",
            "",
            "  Environment: local",
            "",
            "  Reason: mock wants it",
            "",
            "  $ rm -rf zz",
            "",
            "› 1. Yes, proceed (y)",
            "  2. Yes, and don't ask again for commands that",
            "     start with `rm -rf zz` (p)",
            "  3. No, and tell Codex what to do differently (esc)",
            "",
            "  Press enter to confirm or esc to cancel",
        ],
    ),
    "qwen-34-asks": (
        "qwen",
        "Qwen - w",
        "blocked",
        [
            "  ? Shell rm -rf zz (a         ←",
            "    rehearsal)",
            "",
            "     rm -rf zz",
            "",
            "   Allow execution of: 'rm'?",
            "",
            "   › 1. Yes, allow once",
            "     2. Always allow run 'rm…",
            "     3. Always allow run 'rm…",
            "     4. No, suggest changes …",
            "",
            "  ⠏ Waiting for user confirmation.",
            "..",
        ],
    ),
    "pi-34-retries": (
        "pi",
        "π - w",
        "working",
        [
            ' imit_error"}',
            "",
            "── ⠙ Retrying (2/3) in 3s... ─────",
            "",
            "─" * 34,
            "/tmp/rec/w...",
            "↑50 ↓25 0.7%/200k (auto)  mock-mod",
        ],
    ),
    "opencode-52-works": (
        "opencode",
        "OC | Rehearsal",
        "working",
        [
            "     ▣  Build · Mock Model",
            "",
            "  ┃",
            "  ┃",
            "  ┃",
            "  ┃  Build · Mock Model Mock",
            "  ╹" + "▀" * 48,
            "   ⬝⬝⬝⬝⬝⬝⬝⬝  esc         tab agents ctrl+p commands",
            "             interrupt",
        ],
    ),
    "opencode-retries": (
        "opencode",
        "OC | Rehearsal",
        "working",
        [
            "  ┃",
            "  ┃",
            "  ┃",
            "  ┃  Build · Mock Model Mock",
            "  ╹" + "▀" * 110,
            "   ⬝⬝⬝⬝⬝⬝⬝⬝ mock error 429 [retrying in 4s attempt #2]          esc interrupt    • OpenCode 1.18.33",
        ],
    ),
    "codex-60-finds": (
        "codex",
        "w | w",
        "blocked",
        [
            "  Worked for 13s • 16:28",
            "",
            "› Ask Codex to do anything",
            "",
            "  mock-model default · /tmp/rec/codex-60x30/w ·",
            "  Rehearsal",
            "  Find: resume",
            "  No matches · full transcript · esc cancel",
        ],
    ),
    "copilot-34-works-beside-a-draft": (
        "copilot",
        "hello - GitHub Copilot",
        "working",
        [
            " ❯ mock:hang 5             16:20 ┃",
            "                                 ┃",
            " /tmp/lab/x/.../w [⎇ master]",
            "─" * 34,
            "❯ und dann noch",
            "─" * 34,
            "  esc esc interrupt · ctrl+q enqu",
        ],
    ),
    "copilot-120-after-one-esc": (
        "copilot",
        "hello - GitHub Copilot",
        "working",
        [
            " ● word1 word2 word3 word4",
            "",
            " /tmp/w [⎇ master]",
            "─" * 120,
            "❯",
            "─" * 120,
            " ◎ Working · 24 B esc again to interrupt" + " " * 60 + "mock-model",
        ],
    ),
    "qwen-120-starts": (
        "qwen",
        "Qwen - project",
        "starting",
        [
            "  │ >_ Qwen Code (v0.24.4)                      │",
            "  Tips: Add a QWEN.md file to give Qwen Code persistent project context.",
            "│ Falling back to built-in grep.              │",
            "╰─────────────────────────────────────────────╯",
            "  ➜ project · git:(master) · mock-model",
            "  ⠋ Initializing...",
        ],
    ),
    "gemini-52-light-thinks": (
        "gemini",
        "Gemini CLI (w)",
        "working",
        [
            " > mock:think 5",
            "",
            " ⠼ Thinking... (esc to cancel, 2s)",
            "",
            "─" * 52,
            " Shift+Tab to accept edits",
            "",
            " >   Type your message or @path/to/file",
            "",
            " workspace (/directory)    branch    sandbox",
            " /tmp/.../w   master    no sandbox   …",
        ],
    ),
}

# A turn of codex from its answer on, under a title that says nothing: it can be turned off.
FOOT = ["", "› Ask Codex to do anything", "", "  mock-model default · ~/w", "  ← for agents · ? for shortcuts"]
TURNS = {
    "streams": ("working", ["› mock:slow 6", "", "• word1 word2"]),
    "has-just-been-asked": ("working", ["• Ready.", "", "  Worked for 4s • 07:14", "", "› mock:slow 6"]),
    "has-finished": ("idle", ["› mock:slow 6", "", "• word1 word2", "  That was all.", "", "  Worked for 6s • 07:06"]),
    "has-finished-at-once": ("idle", ["› hello", "", "• Hi.", "", "  Worked for <1s • 7:06 PM"]),
    "was-interrupted": ("idle", ["› mock:slow 6", "", "• word1", "", "■ Conversation interrupted - use /feedback"]),
    "has-failed": ("idle", ["› hello", "", '■ {"type": "error", "error": {"message": "mock', 'error 400"}}']),
    "is-given-a-command": ("idle", ["• Hi.", "", "  Worked for 6s • 07:06", "", "› /quit  exit Codex"]),
    "was-asked-nothing": ("idle", ["  >_ OpenAI Codex (v0.171.0)", "     ~/w"]),
}


@pytest.mark.parametrize(("state", "rows"), TURNS.values(), ids=TURNS)
@pytest.mark.parametrize("cols", [40, 120])
def test_codex_is_read_without_its_title(state: str, rows: list[str], cols: int) -> None:
    shot = parse("\n".join([*rows, *FOOT]), cols)
    for evidence in (Evidence(shot), Evidence(shot, "host", title_is_set=False, started=True)):
        assert judge(evidence, CATALOG.get("codex")).state == state
    assert judge(Evidence(shot, "host", title_is_set=False), CATALOG.get("codex")).state == "idle"  # it is old talk
    assert judge(Evidence(shot, "hello | w"), CATALOG.get("codex")).state == "idle"  # the title knows better
    assert judge(Evidence(shot, changed_ago=10.0), CATALOG.get("codex")).state == "idle"  # nothing streams


@pytest.mark.parametrize(("agent", "title", "state", "rows"), SCREENS.values(), ids=SCREENS)
def test_a_bottom_is_read_as_its_model_tells(agent: str, title: str, state: str, rows: list[str]) -> None:
    verdict = judge(Evidence(parse("\n".join(rows), max(map(len, rows))), title), CATALOG.get(agent))
    assert verdict.state == state, verdict


def test_what_is_suggested_after_a_failure_is_no_draft() -> None:
    agent, _, _, rows = SCREENS["claude-34-suggests-after-an-answer-that-was-none"]
    assert composer(parse("\n".join(rows), 34), CATALOG.get(agent)) == ""
