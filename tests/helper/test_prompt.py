"""What of a text is typed, and whether it may be typed now."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey import prompt
from covey.agents.profile import ComposerRule, Profile
from covey.errors import CoveyError, Refused
from covey.models import Verdict
from covey.tickets import ASKS
from drawn import CATALOG

COMPOSER = ComposerRule("box", *(re.compile(each) for each in ("❯ ?", "─", "─")))
AGENT = Profile(
    name="agent",
    title="Agent",
    argv=("agent",),
    reference="@{path}",
    paste_limit=100,
    leading={"/": "refuse", "!": "space"},
    trailing={"\\": "refuse", "@": "space", "?": "space"},
    words=("exit", ":q"),
    composer=COMPOSER,
)
BARE = Profile(name="bare", title="Bare", argv=("bare",))
IDLE = Verdict("idle", "composer")


def held(state: str, composer: str | None = "", *, when: str = "now", profile: Profile = AGENT):
    found = prompt.obstacle(Verdict(state, "rule", "the question"), composer, profile, when=when)
    return found and (found.outcome, found.reason)


@given(st.text(st.characters(codec=None)))
def test_what_is_typed_has_no_control_characters_but_tab_and_line_feed(text):
    clean = prompt.sanitise(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", clean.text)
    assert not clean.text.endswith("\n")
    assert prompt.sanitise(clean.text) == prompt.Clean(clean.text, 0)
    clean.text.encode()


def test_the_end_of_a_paste_cannot_be_made_of_what_is_left():
    assert "\x1b" not in prompt.sanitise("a\x1b[20\x1b[201~1~b").text


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("see @file.py", "see @file.py "),
        ("see\n@file.py", "see\n@file.py "),
        ("@file", "@file "),
        ("@", "@ "),
        ("mail a@b.c", "mail a@b.c"),
        ("@file is good", "@file is good"),
        ("see @file ", "see @file "),
        ("why?", "why? "),
        ("!important", " !important"),
        (" !important", " !important"),
        ("plain", "plain"),
    ],
)
def test_rules_about_the_first_and_the_last(text, typed):
    assert prompt.plain(text, AGENT) == typed
    assert prompt.plain(text, BARE) == text


@pytest.mark.parametrize("text", ["/clear", "  /clear", "ends with \\", "exit", " :q "])
def test_what_would_not_arrive_as_text_is_refused_and_raw_is_not(text):
    with pytest.raises(Refused):
        prompt.typed(prompt.Clean(text, 0), AGENT, raw=False)
    assert prompt.typed(prompt.Clean(text, 0), AGENT, raw=True).text == text


@pytest.mark.parametrize(
    ("text", "says"), [("", "empty"), (" \t\n", "empty"), ("x" * 101, "101 bytes"), ("ä" * 51, "102")]
)
def test_what_cannot_arrive_is_refused_by_name(text, says):
    with pytest.raises(Refused, match=says):
        prompt.typed(prompt.Clean(text, 0), AGENT, raw=True)


def test_a_file_is_named_in_the_agents_own_words():
    assert prompt.reference(Path("/spool/one"), AGENT) == "Read @/spool/one and do what it says."


@pytest.mark.parametrize("words", ["", "{path}"])
def test_who_reads_no_file_is_given_none_and_no_such_hint(words):
    deaf = replace(AGENT, reference=words)
    with pytest.raises(Refused, match="no way to be given a file"):
        prompt.reference(Path("/spool/one"), deaf)
    for agent in (AGENT, deaf):
        with pytest.raises(Refused) as caught:
            prompt.typed(prompt.Clean("x" * 101, 0), agent, raw=False)
        assert ("--as-file" in caught.value.hint) == (agent is AGENT)


IN_THE_WAY = "a half-typed draft is in the composer: {}; attach and clear it, or send by force"


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (held("idle"), None),
        (held("unknown"), None),
        (held("exited"), ("refused", "the agent has exited; respawn it first")),
        (held("blocked", None), ("held", "the agent is blocked: the question")),
        (held("working"), None),
        (held("working", when="idle"), ("held", "the agent is working")),
        (held("working", when="ask"), ("held", ASKS)),
        (held("idle", when="ask"), None),
        (held("idle", None), ("held", "no composer is on the screen")),
        (held("idle", "half a"), ("held", IN_THE_WAY.format("'half a'"))),
        (held("idle", "@a\n  b"), ("held", IN_THE_WAY.format("'@a b'"))),
        (held("idle", "x" * 61), ("held", IN_THE_WAY.format(f"'{'x' * 60} …'"))),
        (held("idle", None, profile=BARE), None),
    ],
)
def test_what_stands_in_the_way(found, wanted):
    assert found == wanted


@pytest.mark.parametrize(
    ("given", "profile", "configured", "queues_itself", "when"),
    [
        ("", "", "", True, "now"),
        ("", "", "", False, "idle"),
        ("", "", "ask", False, "ask"),
        ("", "", "ask", True, "now"),
        ("", "idle", "ask", True, "idle"),
        ("", "ask", "now", False, "ask"),
        ("now", "idle", "ask", False, "now"),
        ("ask", "now", "", False, "ask"),
        ("ask", "idle", "", True, "now"),
    ],
)
def test_when_is_said_by_the_sender_the_profile_the_configuration_or_the_agent(
    given, profile, configured, queues_itself, when
):
    agent = replace(AGENT, queues_itself=queues_itself, when=profile)
    assert prompt.occasion(given, agent, configured) == when


def test_an_enter_taken_as_a_line_feed_leaves_the_draft_the_same():
    assert prompt.is_same("draft\n", "draft")
    assert not prompt.is_same("draft more", "draft")


def test_the_longest_line_is_counted_in_bytes():
    assert prompt.longest_line("ab\näöü\nx") == 6


ORDERS = {
    "aider": "/!",
    "claude": "/!",
    "codex": "/!",
    "copilot": "/!",
    "gemini": "/!",
    "opencode": "/!",
    "pi": "/!",
    "qwen": "/!",
}


@pytest.mark.parametrize(("agent", "first"), ORDERS.items(), ids=ORDERS.keys())
def test_I09_what_an_agent_would_take_for_an_order_is_refused_as_a_prompt(agent: str, first: str) -> None:
    profile = CATALOG.get(agent)
    for character in first:
        with pytest.raises(CoveyError):
            prompt.plain(f"{character}clear", profile)
    assert prompt.plain("clear it", profile) == "clear it"
