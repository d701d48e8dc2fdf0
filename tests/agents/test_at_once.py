"""P*: prompts that are asked of an installed agent all at once come in their order, each once and whole."""

from __future__ import annotations

import re

import pytest

from covey.rehearsal import staged
from drawn import CATALOG

REHEARSED = [name for name in CATALOG.names() if CATALOG.get(name).rehearsal is not None]
COUNT = 20
FOX = "The quick brown fox jumps over the lazy dog. "
LONG = 100_000  # bytes of the longest, where the agent's profile has no lower limit
PATIENCE = 150.0  # seconds for all of them together
MARK = re.compile(r"q\d{3}x")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("agent", REHEARSED)
async def test_what_is_asked_at_once_comes_in_order_each_once_and_whole(agent, path, desk):
    texts = list(of_all_shapes(min(LONG, CATALOG.get(agent).paste_limit)))
    async with staged(agent, desk, CATALOG.get(agent), path) as stage:
        await stage.begin("Say hello.")
        queued = [await stage.call("send", name=agent, text=text, wait=0) for text in texts]
        await stage.until(lambda: len(marks(stage)) >= COUNT, lambda: f"only {marks(stage)} came", PATIENCE)
        receipts = [await stage.call("wait", act=each["id"]) for each in queued]
        await stage.state("idle")
        await desk("kill", name=agent)
    assert [each["outcome"] for each in receipts] == ["submitted"] * COUNT
    assert marks(stage) == [text[:5] for text in texts], [(each.before, each.said) for each in stage.model.requests]
    assert [text[:5] for text in texts if text not in "\n".join(heard(stage))] == []


def of_all_shapes(longest):
    """Texts that each begin with a mark of their own."""
    long = FOX * (longest // len(FOX) - 1)
    shapes = ("in plain words", "two lines\n  indented\n\nand the fourth", long, (FOX * 4 + "\n") * 29 + "end", "")
    for number in range(COUNT):
        yield f"q{number:03}x {shapes[number % len(shapes)]}".strip()


def heard(stage):
    """What was said to the model, in order."""
    return [said for each in stage.model.requests if not each.results for said in each.said]


def marks(stage):
    return [mark for said in heard(stage) for mark in MARK.findall(said)]
