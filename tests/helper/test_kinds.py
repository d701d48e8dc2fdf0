"""What comes in at the door is of the kind that a method takes, or a sentence says which is not."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import pytest

from covey import api, kinds, verbs
from covey.errors import Usage

NO_KIND = object()  # nothing that JSON knows
EXAMPLES = {str: "x", list[str]: ["x"], Any: 1}


@pytest.mark.parametrize(
    ("value", "kind", "fit"),
    [
        ("a", str, True),
        (5, str, False),
        (None, str, False),
        (None, str | None, True),
        (True, int, False),
        (2, float, True),
        (float("nan"), float, False),
        (True, float, False),
        (1, bool, False),
        (["a"], list[str], True),
        (["a", 1], list[str], False),
        ("a", list[str], False),
        ({}, list[str], True),
        ([], Mapping[str, Any], True),
        ([1], Mapping[str, Any], False),
        ({"a": 1}, Mapping[str, Any], True),
        ({"a": 1}, Mapping[str, str], False),
        ({1: "a"}, Mapping[str, str] | None, False),
        (object(), Any, True),
    ],
)
def test_a_value_fits_a_kind_or_not(value, kind, fit):
    assert kinds.fits(value, kind) is fit


def test_a_mistake_names_the_word_and_not_its_value():
    with pytest.raises(Usage) as caught:
        kinds.check("open", {"env": Mapping[str, Any] | None}, {"env": "TOKEN=secret"})
    assert caught.value.message == "open: env cannot be a text"


def _parameters(run) -> list[inspect.Parameter]:
    return list(inspect.signature(run, eval_str=True).parameters.values())[1:]  # but the helper


@pytest.mark.parametrize("method", sorted(verbs.METHODS))
async def test_no_method_takes_what_is_of_no_kind(method):
    asked = _parameters(verbs.METHODS[method])
    right = {each.name: EXAMPLES[each.annotation] for each in asked if each.default is each.empty}
    for each in asked:
        if each.annotation is not Any:
            with pytest.raises(Usage, match=f"{method}: {each.name} cannot be"):
                api.understood(method, right | {each.name: NO_KIND})


async def test_names_that_a_method_does_not_know_are_said(desk):
    for method, given in {
        "get": {},
        "list": {"x": 1},
        "run": {"prompt": "hi", "frob": 1},
        "kill": {"helper": 1},
    }.items():
        with pytest.raises(Usage, match=f"{method}: "):
            await desk(method, **given)
    with pytest.raises(Usage, match="no method"):
        await desk("frob")


@pytest.mark.parametrize("config", [{"tmux": 5}, {"agents_dirs": "x"}, {"log_level": 1}, {"preview_interval": "25"}])
async def test_a_configuration_of_the_wrong_kind_is_refused(world, config):
    with pytest.raises(Usage, match=f"{next(iter(config))} cannot be"):
        await api.Front(print).hello({"config": config})


async def test_what_lua_sends_of_nothing_is_taken(desk):
    await desk.front.hello({"config": []})
    session = await desk("open", name="one", agent="shell", env=[], options=[], environ=[], cmd={})
    assert session["opened"]
