"""How agents complain of an option that they do not know, each in the words of its own library."""

from __future__ import annotations

import pytest

from covey.agents import lacks
from drawn import CATALOG

COMPLAINTS = {
    "commander": ("claude", "error: unknown option '--session-id'", "--session-id"),
    "clap": ("codex", "error: unexpected argument '--no-daemon' found\n\nUsage: codex", "--no-daemon"),
    "yargs": ("gemini", "Usage: gemini [options]\n\nUnknown arguments: session-id, sessionId", "--session-id"),
    "yargs, wrapped": ("qwen", "Unknown\n  argument: resume", "--resume"),
    "argparse": ("aider", "aider: error: unrecognized arguments: --restore-chat-history", "--restore-chat-history"),
    "node": ("pi", "TypeError: Unknown option '--session-id'. To specify", "--session-id"),
    "another's": ("claude", "error: unknown option '--model'", ""),
    "a longer one's": ("claude", "error: unknown option '--resume-at'", ""),
    "a value's": ("claude", "Error: Session ID --session-id is already in use.", ""),
    "nothing": ("claude", "No conversation found with session ID", ""),
}


@pytest.mark.parametrize(("agent", "said", "option"), COMPLAINTS.values(), ids=COMPLAINTS)
def test_an_option_is_named_by_the_complaint(agent: str, said: str, option: str) -> None:
    assert lacks.complaint(said.split("\n"), CATALOG.get(agent), {}) == option
    if option:
        assert lacks.complaint(said.split("\n"), CATALOG.get(agent), lacks.adding({}, option)) == ""


def test_what_cannot_be_said_without_it_is_not_said() -> None:
    options = lacks.adding(lacks.adding({"model": "big"}, "--session-id"), "--no-daemon")
    assert lacks.without(CATALOG.get("claude"), options).new_id == ()
    assert lacks.without(CATALOG.get("claude"), options).resume == CATALOG.get("claude").resume
    assert "--no-daemon" not in lacks.without(CATALOG.get("codex"), options).argv
    assert lacks.without(CATALOG.get("claude"), {}) == CATALOG.get("claude")
