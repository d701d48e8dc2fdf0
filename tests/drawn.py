"""Screens drawn for the tests, as each agent draws its own."""

from __future__ import annotations

from covey.agents import load
from covey.models import Exit, Pane, Spec, stamp
from covey.state import Evidence, judge
from covey.tmux.screen import Screen

CATALOG = load()
NOW = 1_800_000_000.0
OWN_TITLES = {
    "claude": "✳ Repair the parser",
    "codex": "parser | project",
    "gemini": "◇  Ready (project)",
    "opencode": "OC | Repair the parser",
    "pi": "π - project",
    "qwen": "Qwen - project",
    "copilot": "Repair the parser - GitHub Copilot",
    "standin": "standin",
    "aider": "",
}


MENU = ["Do you want to proceed?", "❯ 1. Yes", "  2. Yes, always", "  3. No", "", "Esc to cancel · Tab to amend"]


def claude(*above: str, draft: str = "❯", foot: str = "  ⏸ manual mode on · ? for shortcuts", width: int = 60) -> str:
    rail = "─" * width
    return "\n".join([*above, "", rail, draft, rail, foot])


def codex(*above: str, draft: str = "› Ask Codex to do anything", foot: str = "  gpt-9 high · ~/project") -> str:
    return "\n".join([*above, "", draft, "", foot])


def gemini(*above: str, draft: str = " >   Type your message or @path/to/file", width: int = 60) -> str:
    return "\n".join([*above, "─" * width, " Shift+Tab to accept edits", "▄" * width, draft, "▀" * width, " ~/project"])


def opencode(*above: str, draft: str = "", foot: str = "   ~/project          ctrl+p commands") -> str:
    bar = "  ┃"
    return "\n".join([*above, "", bar, f"{bar}  {draft}", bar, f"{bar}  Build · Big Model", "  ╹" + "▀" * 50, foot])


def pi(*above: str, draft: str = "", rail: str = "─" * 60) -> str:
    return "\n".join([*above, "", rail, draft, "─" * 60, "~/project (main)", "0.4%/200k (auto)"])


def qwen(*above: str, draft: str = ">   Type your message or @path/to/file", foot: str = "  ⏸ Ask permissions") -> str:
    rail = "─" * 60
    return "\n".join([*above, rail, draft, rail, "  ➜ project · git:(main)", foot])


def copilot(*above: str, draft: str = "❯", foot: str = " Interactive · Manual Approval · ? help") -> str:
    rail = "─" * 60
    return "\n".join([*above, "", " ~/project [main]", rail, draft, rail, foot])


def aider(*above: str, last: str = "> ") -> str:
    return "\n".join([*above, "─" * 60, last])


def standin(*above: str, draft: str = "❯ ", foot: str = "  standin · idle") -> str:
    rail = "─" * 60
    return "\n".join([*above, rail, draft, rail, foot])


def look(agent: str, text: str, title: str | None = None, **more: object) -> tuple[str, str]:
    shown = OWN_TITLES.get(agent, "") if title is None else title
    verdict = judge(Evidence(Screen.plain(text, 80), shown, **more), CATALOG.get(agent))  # type: ignore[arg-type]
    return verdict.state, verdict.rule


def pane(agent: str = "claude", title: str = "✳ Claude Code", epoch: int = 1, active: float = NOW) -> Pane:
    """A row of tmux's list, of a session opened at ``NOW``."""
    spec = Spec("ab234567", "x", agent, (agent,), "/", stamp(NOW))
    size = {"cols": 120, "rows": 40, "cursor": (0, 0), "cursor_visible": True}
    flags = {"dead": False, "in_mode": False, "input_off": False, "attached": 0, "alternate": False}
    marks = {"exit": Exit(), "epoch": epoch, "fence": 0, "act": "", "spec": spec}
    times = {"died_at": 0.0, "active_at": active, "progress": "", "title": title}
    return Pane(pane="%1", tmux_session="$1", pid=1, **marks, **flags, **size, **times)  # type: ignore[arg-type]
