"""The helper, tmux or the agent dies in the middle of a send; the large run is ``crash.py`` by hand."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from faults import crash

STEPS = [
    ("helper", "typing", "after"),  # it is said to be typed, and no byte was
    ("helper", "_enqueue", "after"),
    ("helper", "paste", "after"),
    ("helper", "keys", "before"),
    ("helper", "settle", "before"),
    ("tmux", "paste", "before"),
    ("agent", "keys", "before"),
]


class Fixed(random.Random):
    """Draws what it is told."""

    def __init__(self, *draws):
        super().__init__()
        self.draws = list(draws)

    def choice(self, _among):
        return self.draws.pop(0)

    def randint(self, _least, _most):
        return self.draws.pop(0)


@pytest.mark.parametrize(("who", "step", "when"), STEPS)
async def test_P02_no_prompt_is_lost_or_doubled(world, who, step, when):
    toll = crash.Toll()
    await crash.one_round(world, 0, Fixed(step, 3, when), toll, who)
    assert toll.wrong == []
    assert list(toll.struck) == [f"{who} {when} {step}"]


async def test_what_was_not_typed_goes_back_to_the_queue(world, monkeypatch):
    """``@covey_act`` on the pane says for certain that it was not. A second session might be typed into right then."""
    monkeypatch.setattr(crash, "SESSIONS", 1)
    toll = crash.Toll()
    await crash.one_round(world, 0, Fixed("typing", 1, "after"), toll, "helper")
    assert toll.wrong == []
    assert "unconfirmed" not in toll.outcomes


def test_the_judge_sees_what_is_lost_or_doubled():
    acts = {"a": "text a", "b": "text b", "c": "text c"}
    done = {"a": ("submitted", ""), "b": ("failed", "why"), "c": ("unconfirmed", "")}
    assert crash.judge(acts, done, Counter({"text a": 1})) == []
    assert len(crash.judge(acts, done, Counter())) == 1
    assert len(crash.judge(acts, done, Counter({"text a": 2}))) == 1
    assert len(crash.judge(acts, done, Counter({"text a": 1, "text b": 1}))) == 1
    assert len(crash.judge(acts, done, Counter({"text a": 1, "text d": 1}))) == 1
