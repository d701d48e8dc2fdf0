"""Many prompts to one installed agent: what its model heard is compared with what was sent, byte for byte.

By hand, from the repository: ``python tests/agents/prompts.py AGENT [COUNT]`` (100 of them where nothing is said). The
agent is found on PATH or in the directories that COVEY_AGENTS_BIN names; it gets a home and a key made up for it, and
talks to a model on the loopback. Among ten prompts are two of many lines, two of 5 KB, one of 100 KB, one with emoji.
What is longer than the agent takes by a paste goes as a file, which the agent gives to its model or names to it; where
it reads none, it must be refused before a byte is typed.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from covey.prompt import reads_files, size
from covey.rehearsal import Failed, Stage, staged
from desk import Desk
from drawn import CATALOG
from world import World

if TYPE_CHECKING:
    from covey.mockmodel import Request

PLACES = os.pathsep.join(part for part in (os.environ.get("COVEY_AGENTS_BIN", ""), os.environ["PATH"]) if part)
PATIENCE = 60.0  # seconds for one receipt, and for the agent to be idle again
ENOUGH = 3  # prompts that went wrong, after which no more are sent
FOX = "The quick brown fox jumps over the lazy dog. "
SHAPES = (
    "in plain words",
    "two lines\n  indented\n\nand the fourth" + "".join(f"\nrow {row}" for row in range(8)),
    FOX * 115,
    (FOX * 18 + "\n") * 6,
    "\n".join([" row"] * 30) + "\nend",
    "emoji 👩‍👩‍👧 你好 äöü 🏳️‍🌈 end",
    "quotes ' \" ` $HOME $(id) \\n {x} #{pid} %d; & | < > * end",
    "a line\n```\ncode {\n    four\n}\n```\nend",
    FOX * 2222,
    "",
)
MANY_LINES = ("a line of a long text, " * 8 + "\n") * 540


# As it was; with something of the agent's own around it; too long for a paste, in three ways.
RIGHT = ("equal", "framed", "given as a file", "named as a file", "refused")


@dataclass(frozen=True)
class Sent:
    """One prompt, its receipt and the seconds that took; whether it went as a file, or was too long to go at all."""

    text: str
    receipt: dict[str, Any]
    took: float
    as_file: bool = False
    refusable: bool = False


def text_of(number: int) -> str:
    """A prompt of any shape, begun with a word that none of the others holds."""
    turn, shape = divmod(number, len(SHAPES))
    body = MANY_LINES if size(SHAPES[shape]) > 1 << 16 and turn % 2 == 0 else SHAPES[shape]
    return f"q{number:03}x {body}".rstrip(" \n")


def judge(sent: Sent, requests: list[Request]) -> str:
    """One of ``RIGHT``, or what is wrong."""
    mark = sent.receipt["id"] if sent.as_file else sent.text[:5]
    heard = [each for each in requests if not each.results and any(mark in said for said in each.said)]
    outcome = sent.receipt["outcome"]
    if outcome == "refused" and sent.refusable and not heard:
        return "refused"
    if outcome not in ("submitted", "held" if sent.as_file else "") or len(heard) != 1:
        return f"{outcome}: {sent.receipt['reason']} ({len(heard)} requests)"
    if sent.as_file:
        return "given as a file" if sent.text in "\n".join(heard[0].said) else "named as a file"
    if sent.text in heard[0].said:
        return "equal"
    return "framed" if any(sent.text in said for said in heard[0].said) else difference(sent.text, heard[0].said)


def difference(text: str, said: list[str]) -> str:
    """Where what was heard leaves what was sent."""
    heard = next(each for each in said if text[:5] in each)
    heard = heard[heard.index(text[:5]) :]
    at = next((at for at, (a, b) in enumerate(itertools.zip_longest(text, heard)) if a != b), len(text))
    return f"at {at}: sent {text[at : at + 30]!r}, heard {heard[at : at + 30]!r}"


async def prompts(stage: Stage, count: int) -> list[Sent]:
    """All prompts, one after the other; the first is the session's own."""
    began = time.monotonic()
    await stage.begin(text_of(0))
    done = [Sent(text_of(0), {"id": "", "outcome": "submitted", "reason": ""}, time.monotonic() - began)]
    while len(done) < count and sum(judge(each, stage.model.requests) not in RIGHT for each in done) < ENOUGH:
        done.append(await prompt(stage, text_of(len(done))))
        if done[-1].receipt["outcome"] != "submitted":
            print(f"{done[-1].receipt}\n{await screen(stage)}", flush=True)
        await settle(stage)
    return done


async def settle(stage: Stage) -> None:
    """Wait until the agent is idle; whether it may read a file is answered with yes."""
    while await stage.state("idle", "blocked", patience=PATIENCE) == "blocked":
        await stage.call("answer", name=stage.name, choice="yes")


async def prompt(stage: Stage, text: str) -> Sent:
    long = size(text) > stage.profile.paste_limit
    as_file = long and reads_files(stage.profile)
    began = time.monotonic()
    receipt = await stage.call("send", name=stage.name, text=text, as_file=as_file, wait=PATIENCE)
    return Sent(text, receipt, time.monotonic() - began, as_file, long and not as_file)


async def screen(stage: Stage) -> str:
    rows = (await stage.call("capture", name=stage.name))["lines"]
    return "\n".join(row for row in rows if row.strip())


def table(agent: str, done: list[Sent], requests: list[Request]) -> tuple[str, bool]:
    """What is told of all prompts, and whether each came as it was sent."""
    verdicts = [judge(each, requests) for each in done]
    wrong = [
        f"  {each.text[:5]} {size(each.text)} bytes: {said}"
        for each, said in zip(done, verdicts, strict=True)
        if said not in RIGHT
    ]
    took = sorted(each.took for each in done[1:]) or [done[0].took]
    kinds = Counter(said for said in verdicts if said in RIGHT)
    ways = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    came = f"{sum(kinds.values())} of {len(done)} came once and whole ({ways})"
    rows = [f"{agent}: {came}; p50 {statistics.median(took):.2f} s, most {took[-1]:.2f} s", *wrong]
    return "\n".join(rows), not wrong


async def main(agent: str, count: int) -> int:
    world = World()
    os.environ.update(world.env)
    desk = await Desk(world).start()
    try:
        async with staged(agent, desk, CATALOG.get(agent), PLACES) as stage:
            try:
                done = await prompts(stage, count)
                said, good = table(agent, done, stage.model.requests)
            except Failed as error:
                said, good = f"{agent}: {error}\n{await screen(stage)}", False
            killed = await desk("kill", name=agent)
    finally:
        await desk.close()
        leaks = await asyncio.to_thread(world.close)
    print(said)
    print(f"ended {killed['ended']}, left: {[*killed['survivors'], *killed['left'], *leaks] or 'nothing'}")
    return 0 if good and len(done) == count and not leaks else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100)))
