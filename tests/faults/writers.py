"""Many writers, few sessions: every prompt whole, in its own session, each writer's in the order he wrote them.

By hand, from the repository: ``python tests/faults/writers.py [WRITERS [PROMPTS [SESSIONS]]]`` (20, 50, 10): half of
the writers are tasks of one helper, the others processes, every fifth of those with one ``covey send`` a prompt.
The shortened test is in ``test_writers.py``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from covey.models import FINAL
from desk import Desk
from world import World

PATIENCE = 300.0  # seconds for one receipt
MINE = "a person's own"


def text_of(writer: str, number: int) -> str:
    """A prompt that cannot be cut, joined or moved unseen; every third has several lines, every fifth is long."""
    lines = "\nsecond\n\nlast" if number % 3 == 0 else ""
    return f"<{writer}:{number:03}{lines}{' ' + 'x' * 900 if number % 5 == 0 else ''}{writer}:{number:03}>"


def plan(prompts: int, sessions: int) -> list[tuple[int, str]]:
    """What one writer sends, and to which session."""
    return [(number, f"w{number % sessions}") for number in range(prompts)]


async def write(desk: Desk, writer: str, prompts: int, sessions: int) -> list[dict[str, Any]]:
    """All at once, as a loop in an editor would: the order is that of the calls."""

    async def one(number: int, name: str) -> dict[str, Any]:
        receipt = await desk("send", name=name, text=text_of(writer, number), wait=PATIENCE)
        while receipt["outcome"] not in FINAL:
            receipt = await desk("wait", act=receipt["id"], seconds=PATIENCE)
        return receipt | {"text": text_of(writer, number), "name": name}

    return list(await asyncio.gather(*(one(number, name) for number, name in plan(prompts, sessions))))


async def write_by_command(writer: str, prompts: int, sessions: int) -> list[dict[str, Any]]:
    """One ``covey send`` a prompt, each after the one before."""
    receipts = []
    for number, name in plan(prompts, sessions):
        words = ["send", name, text_of(writer, number), "--wait", "submitted", "--timeout", str(PATIENCE), "--json"]
        argv = [sys.executable, "-m", "covey.cli", *words]
        run = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
        said, _ = await run.communicate()
        receipts.append(json.loads(said) | {"text": text_of(writer, number), "name": name})
    return receipts


async def process(world: World, writer: str, *words: str) -> list[dict[str, Any]]:
    """A writer in a process of its own."""
    argv = [sys.executable, str(Path(__file__)), "write", str(world.root), writer, *words]
    run = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE, env={**os.environ, **world.env})
    said, _ = await run.communicate()
    return json.loads(said)


def judge(receipts: list[dict[str, Any]], came: dict[str, list[str]]) -> list[str]:
    """Everything that is not as it should be. ``came``: session -> what its agent noted."""
    sent = {each["text"]: each for each in receipts}
    wrong = [
        f"{each['text'][:12]!r} ended {each['outcome']}: {each['reason']}"
        for each in receipts
        if each["outcome"] != "submitted"
    ]
    for name, texts in came.items():
        wrong += [f"{text[:40]!r} in {name} came {n} times" for text, n in Counter(texts).items() if n > 1]
        wrong += [
            f"{text[:40]!r} is not what was sent to {name}" for text in texts if sent.get(text, {}).get("name") != name
        ]
        order: dict[str, list[int]] = defaultdict(list)
        for text in texts:
            writer, number = text[1:].split(":")[:2]
            order[writer].append(int(number[:3]))
        wrong += [
            f"{who} in {name}: {then} before {now}"
            for who, all_ in order.items()
            for then, now in itertools.pairwise(all_)
            if then > now
        ]
    missing = sent.keys() - {text for texts in came.values() for text in texts}
    return wrong + [f"{text[:12]!r} never came" for text in missing]


async def crowd(desk: Desk, writers: int, prompts: int, sessions: int, *, commands: bool = True) -> list[str]:
    """All writers at once; what went wrong."""
    for at in range(sessions):
        await desk.standin(f"w{at}")
    desk.tmux("set-buffer", MINE)
    tasks = []
    for at in range(writers):
        if at % 2 == 0:
            tasks.append(write(desk, f"t{at}", prompts, sessions))
        else:
            how = "command" if commands and at % 10 == 9 else "front"
            tasks.append(process(desk.world, f"p{at}", str(prompts), str(sessions), how))
    receipts = [receipt for each in await asyncio.gather(*tasks) for receipt in each]
    wrong = judge(receipts, {f"w{at}": desk.prompts(f"w{at}") for at in range(sessions)})
    if (kept := desk.tmux("list-buffers", "-F", "#{buffer_sample}")) != MINE:
        wrong.append(f"buffers: {kept!r}")
    left = [path.name for path in desk.front.helper.place.files.directory.iterdir() if ".start." not in path.name]
    return wrong + [f"left in the spool: {name}" for name in left]


async def writer_main(root: str, writer: str, prompts: int, sessions: int, how: str) -> int:
    if how == "command":
        receipts = await write_by_command(writer, prompts, sessions)
    else:
        world = World.__new__(World)  # the caller's, which he ends
        world.root = Path(root)
        desk = await Desk(world).start()
        receipts = await write(desk, writer, prompts, sessions)
        await desk.close()
    print(json.dumps(receipts))
    return 0


async def main(writers: int, prompts: int, sessions: int) -> int:
    world = World()
    os.environ.update(world.env)
    desk = await Desk(world).start()
    began = time.monotonic()
    try:
        wrong = await crowd(desk, writers, prompts, sessions)
    finally:
        await desk.close()
        leaks = await asyncio.to_thread(world.close)
    took = time.monotonic() - began
    print(
        f"{writers} writers x {prompts} prompts x {sessions} sessions in {took:.1f} s: {len(wrong)} wrong",
        *wrong[:20],
        sep="\n  ",
    )
    print("processes left:", leaks or "none")
    return 1 if wrong or leaks else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        root, writer, prompts, sessions, how = sys.argv[2:]
        sys.exit(asyncio.run(writer_main(root, writer, int(prompts), int(sessions), how)))
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(asyncio.run(main(*(given + [20, 50, 10][len(given) :]))))
