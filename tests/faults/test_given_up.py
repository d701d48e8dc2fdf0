"""Whoever asked may give up at any moment (Ctrl-C in a shell): what was asked for is done or not, and never half."""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from covey.errors import CoveyError
from covey.models import FINAL
from waiting import PATIENCE

if TYPE_CHECKING:
    from desk import Desk

STEPS = 60  # of each run
TURNS, SECONDS = 120, 0.15  # of the loop, or by the clock, after which somebody gives up at the latest
SLEEPER = ["sleep", "3999"]
OFTEN = ("open",) * 10  # it does most by the way
WITH_ONE_OF_ITS_OWN = ("kill", "delete", "rename", "settle")


def asked(number: int) -> dict[str, dict[str, Any]]:
    """Verbs and what goes with them."""
    own = f"n{number}"
    standin = [sys.executable, "-m", "covey.standin"]
    return {
        "open": {"name": own, "cmd": SLEEPER, "env": {"A": "cmd:echo x"}},
        "run": {"name": own, "agent": "standin", "cmd": standin, "prompt": "hi"},
        "kill": {"name": own},
        "delete": {"name": own},
        "rename": {"name": own, "new": f"{own}x"},
        "settle": {"name": own},
        "respawn": {"name": "base", "force": True},
        "send": {"name": "base", "text": f"act-{number}", "act": f"act-{number}", "wait": 5},
        "broadcast": {"names": ["base"], "text": "to all"},
        "interrupt": {"name": "base"},
        "reap": {},
        "restore": {},
        "capture": {"name": "base"},
        "explain": {"name": "base"},
        "stats": {},
        "doctor": {},
        "queue": {"name": "base"},
    }


async def give_up(task: asyncio.Task[Any], chance: random.Random) -> None:
    """Cancel it after some turns or a while; it ends at once, and by no bug."""
    if chance.random() < 0.5:
        for _ in range(chance.randrange(chance.choice([TURNS // 4, TURNS]))):
            await asyncio.sleep(0)
    else:
        await asyncio.sleep(chance.uniform(0, SECONDS))
    task.cancel()
    _, hanging = await asyncio.wait([task], timeout=PATIENCE)
    assert not hanging, task
    assert task.cancelled() or isinstance(task.exception(), CoveyError | None), task


async def final(desk: Desk, act: str) -> dict[str, Any]:
    receipt = await desk("wait", act=act)
    while receipt["outcome"] not in FINAL:
        receipt = await desk("wait", act=act, seconds=5)
    return receipt


@pytest.mark.parametrize("seed", [1, 2])
async def test_who_gives_up_leaves_nothing_half_done(desk: Desk, seed: int) -> None:
    await desk.standin("base")
    chance, acts = random.Random(seed), []
    for number in range(STEPS):
        verb = chance.choice([*asked(number), *OFTEN])
        given = asked(number)[verb]
        if verb in WITH_ONE_OF_ITS_OWN:
            await desk("open", name=given["name"], cmd=SLEEPER)
        await give_up(asyncio.ensure_future(desk(verb, **given)), chance)
        if verb == "send":  # and asks again
            acts.append((await desk(verb, **given))["id"])
        assert "lost" not in {view["state"] for view in await desk("list")}
    if (await desk("get", name="base"))["state"] == "exited":  # a respawn was given up after its kill
        await desk("respawn", name="base")
    last = await desk("send", name="base", text="last", act="last")
    assert (await final(desk, last["id"]))["outcome"] == "submitted"
    came = Counter(desk.prompts("base"))
    for act in acts:
        outcome = (await final(desk, act))["outcome"]
        assert came[act] in {"submitted": {1}, "unconfirmed": {0, 1}, "pasted": {0, 1}}.get(outcome, {0}), (
            act,
            outcome,
        )
