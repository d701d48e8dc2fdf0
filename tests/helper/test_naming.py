"""Names, options and arguments, before anything runs. (What tmux makes of names: ``faults/test_names.py``.)"""

from __future__ import annotations

import pytest

from covey import naming
from covey.agents.profile import Flags, Profile
from covey.errors import Refused, Usage

PROFILE = Profile(
    "some",
    "Some",
    ("some",),
    flags=Flags(model=("--model", "{value}"), effort=("-c", "effort={value}"), tools=("-t", "{value}")),
)


def test_options_are_words():
    given = {"model": "fast", "tools": ["read", "write"], "nice": 10, "history_limit": "5000"}
    assert naming.options(given) == {"model": "fast", "tools": "read,write", "nice": "10", "history_limit": "5000"}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ([], ("old", "shell")),
        (["api"], ("api", "shell")),
        (["codex"], ("old", "codex")),
        (["api", "codex"], ("api", "codex")),
        (["codex", "api"], ("api", "codex")),
    ],
)
def test_a_name_and_an_agent_stand_in_any_order(words, meant):
    assert naming.meant(words, "old", "shell", ["claude", "codex"]) == meant


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["codex", "claude"], "codex and claude are both agents"),
        (["codx", "api"], "neither 'codx' nor 'api' is an agent"),
    ],
)
def test_words_that_may_be_either_are_refused(words, sentence):
    with pytest.raises(Usage, match=sentence):
        naming.meant(words, "", "", ["claude", "codex"])


@pytest.mark.parametrize("typed", ["codx", "coddex", "codax", "cdoex", "Codx", "codexe", "odex"])
def test_one_letter_from_an_agent_is_a_slip(typed):
    assert naming.slip(typed, ["claude", "codex"]) == "codex"
    with pytest.raises(Usage) as raised:
        naming.meant([typed, "api"], "", "", ["claude", "codex"])
    assert raised.value.hint == "did you mean codex?"


@pytest.mark.parametrize("typed", ["codex", "codex2", "codex-2", "cod", "docs", "oc", "ip", "amp", "api", ""])
def test_a_number_a_short_name_and_what_is_further_off_is_no_slip(typed):
    assert naming.slip(typed, ["claude", "codex", "pi", "amp"]) == ""


@pytest.mark.parametrize(
    "given",
    [{"colour": "red"}, {"nice": 20}, {"nice": -1}, {"nice": "x"}, {"history_limit": "²"}, {"history_limit": 10**7}],
)
def test_what_is_no_option_is_refused_by_name(given):
    with pytest.raises(Usage, match=next(iter(given))):
        naming.options(given)


def test_flags_are_arguments_as_the_agent_wants_them():
    chosen = {"effort": "high", "model": "a b;$(id)", "tools": "x,y", "nice": "3"}
    assert naming.flags(PROFILE, chosen) == ("--model", "a b;$(id)", "-c", "effort=high", "-t", "x,y")
    assert naming.flags(PROFILE, {}) == ()


def test_an_option_the_agent_has_not_is_refused():
    with pytest.raises(Refused, match="some for permission"):
        naming.flags(PROFILE, {"permission": "all"})


@pytest.mark.parametrize("value", ["", " ", "--dangerous", "a\nb", "\x1b[0m"])
def test_a_value_that_would_be_something_else_is_refused(value):
    with pytest.raises(Usage, match="model"):
        naming.flags(PROFILE, {"model": value})


def test_free_names_count_up():
    assert naming.free("claude", {"claude", "claude-2"}) == "claude-3"


def test_a_command_less_agent_needs_one():
    with pytest.raises(Usage):
        naming.argv(Profile("bare", "Bare", ()), {})
