"""The helper, tmux or the agent is killed at one step of many sends: no prompt is lost, none comes twice.

By hand, from the repository: ``python tests/faults/crash.py [ROUNDS [SEED]]`` (220, 1): each round sends 10 prompts
over two sessions from a process of its own, which kills its victim (SIGKILL) before or after the Nth time of one
step. A step is a commit to the store, a staged file, or a line to tmux; it is counted from outside, around the real
calls. Afterwards a new helper takes over, and what the store says of each prompt is compared with what the agents
noted. The shortened test is in ``test_crash.py``.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil

from covey.errors import CoveyError, NotFound
from covey.models import FINAL
from covey.outbox import Outbox
from covey.place import Files
from covey.session import lane
from covey.tmux import panes, reading
from covey.tmux.control import Control
from desk import Desk
from world import World, command, kill, parent

SESSIONS, PROMPTS = 2, 5  # a round
MOST = {"see": 60, "_enqueue": 150, "look_at": 15}  # how often a step is done in such a round, about; others 10 times
VICTIMS = ("helper", "helper", "tmux", "agent")
PATIENCE = 3.0  # seconds the sending process waits for a receipt
SETTLED = 40.0  # seconds until all that can be delivered is
STEPS = {
    Outbox: ("put", "head", "typing", "settle", "hold", "hold_behind"),
    Files: ("stage", "remove"),
    panes: ("paste", "keys", "raise_fence"),
    reading: ("see", "look_at"),
    Control: ("_enqueue",),
}


class Fuse:
    """Counts the steps of this process and kills at one of them."""

    def __init__(self, step: str, at: int, when: str, kill: Any, note: Path) -> None:
        self.step, self.at, self.when, self._kill, self._note = step, at, when, kill, note
        self._count, self._lock = 0, threading.Lock()
        self.armed = False
        for where, names in STEPS.items():
            for name in names:
                setattr(where, name, self._around(getattr(where, name), name))

    def _around(self, call: Any, name: str) -> Any:
        if inspect.iscoroutinefunction(call):

            @functools.wraps(call)
            async def later(*args: Any, **options: Any) -> Any:
                hit = self._step(name)
                answer = await call(*args, **options)
                self._strike(name, hit)
                return answer

            return later

        @functools.wraps(call)
        def at_once(*args: Any, **options: Any) -> Any:
            hit = self._step(name)
            answer = call(*args, **options)
            self._strike(name, hit)
            return answer

        return at_once

    def _step(self, name: str) -> bool:
        if not self.armed or name != self.step:
            return False
        with self._lock:
            self._count += 1
            hit = self._count == self.at
        if hit and self.when == "before":
            self._fire(f"before {name}")
        return hit

    def _strike(self, name: str, hit: bool) -> None:
        if hit and self.when == "after":
            self._fire(f"after {name}")

    def _fire(self, name: str) -> None:
        self._note.write_text(name)
        self._kill()


async def victim(root: str, names: str, tag: str, step: str, at: str, when: str, who: str) -> None:  # noqa: PLR0917
    """The sending process."""
    world = World.__new__(World)
    world.root = Path(root)
    desk = await Desk(world).start()
    target = {
        "helper": os.getpid(),
        "tmux": int(desk.tmux("display-message", "-p", "#{pid}")),
        "agent": (await desk("get", name=names.split(",", maxsplit=1)[0]))["pid"],
    }[who]
    fuse = Fuse(step, int(at), when, lambda: os.kill(target, signal.SIGKILL), world.root / "struck")
    fuse.armed = True

    async def send(name: str, number: int) -> None:
        with contextlib.suppress(CoveyError):
            await desk("send", name=name, text=text_of(tag, name, number), act=act_of(tag, name, number), wait=PATIENCE)

    await asyncio.gather(*(send(name, number) for number in range(PROMPTS) for name in names.split(",")))
    fuse.armed = False
    await desk.close()


def text_of(tag: str, name: str, number: int) -> str:
    return f"{tag}/{name}/{number}" + "\nand more\n\nof it" * (number % 2)


def act_of(tag: str, name: str, number: int) -> str:
    return f"{tag}.{name}.{number}"


@dataclass
class Toll:
    """What the rounds came to."""

    prompts: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    orphans: int = 0  # control clients of tmux that outlived their helper


async def settle(desk: Desk, names: list[str], acts: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The outcome of each act that was taken in, once nothing goes on: a person clears the drafts that were left."""
    deadline, outcomes = time.monotonic() + SETTLED, {}
    while True:
        outcomes = await asyncio.to_thread(look, desk.front.helper.outbox, acts)
        waiting = [act for act, (outcome, _) in outcomes.items() if outcome not in FINAL]
        dead = all("pane is gone" in outcomes[act][1] or "behind" in outcomes[act][1] for act in waiting)
        if not waiting or dead or time.monotonic() > deadline:
            return outcomes
        if any("half-typed" in outcomes[act][1] for act in waiting):
            await asyncio.gather(*(clear(desk, name) for name in names))
        await asyncio.sleep(0.05)


async def clear(desk: Desk, name: str) -> None:
    """Take the draft out of the composer, while nothing is being typed."""
    view = await desk("get", name=name)
    async with lane(desk.front.helper.kit, view["id"]):
        desk.tmux("send-keys", "-t", view["pane"], "C-u")
        await desk.shows(name, "Type a prompt")


def look(outbox: Outbox, acts: dict[str, str]) -> dict[str, tuple[str, str]]:
    found = {}
    for act in acts:
        with contextlib.suppress(NotFound):
            receipt = outbox.receipt(act)
            found[act] = (receipt.outcome, receipt.reason)
    return found


def judge(acts: dict[str, str], outcomes: dict[str, tuple[str, str]], came: Counter[str]) -> list[str]:
    """Each prompt that was lost, doubled, or whose receipt is not true."""
    wrong = []
    for act, text in acts.items():
        outcome, reason = outcomes.get(act, ("not taken in", ""))
        if came[text] > 1:
            wrong.append(f"{act} came {came[text]} times ({outcome}: {reason})")
        if outcome == "submitted" and not came[text]:
            wrong.append(f"{act} was called submitted and never came")
        if outcome not in ("submitted", "unconfirmed") and came[text]:
            wrong.append(f"{act} was called {outcome} ({reason}) and came")
    return wrong + [f"{text!r} was never sent" for text in came.keys() - set(acts.values())]


async def one_round(world: World, number: int, draw: random.Random, toll: Toll, who: str) -> None:
    tag = f"r{number}"
    names = [f"{tag}s{at}" for at in range(SESSIONS)]
    desk = await Desk(world).start()
    try:
        for name in names:
            await desk.standin(name)
    finally:
        await desk.close()
    step = draw.choice([name for steps in STEPS.values() for name in steps])
    at = draw.randint(1, MOST.get(step, SESSIONS * PROMPTS))
    words = [",".join(names), tag, step, str(at), draw.choice(("before", "after")), who]
    run = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        "victim",
        str(world.root),
        *words,
        env=os.environ.copy(),
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await run.communicate()
    if run.returncode not in (0, -signal.SIGKILL):
        toll.wrong.append(f"the sending process ended {run.returncode}: {said.decode()[-500:]}")
    struck = world.root / "struck"
    toll.struck[f"{who} {struck.read_text() if struck.exists() else 'not at all'}"] += 1
    struck.unlink(missing_ok=True)
    toll.orphans += await asyncio.to_thread(end_orphans, world)
    await take_stock(world, names, tag, toll)


def end_orphans(world: World) -> int:
    """End control clients that outlived their helper, and count them.

    tmux <= 3.3a keeps one for ever whose helper died while an answer to it was being written.
    """
    left = [each for each in world.processes() if command(each) == "tmux: client" and parent(each) == 1]
    _, left = psutil.wait_procs(left, timeout=0.5)
    for each in left:
        kill(each)
    return len(left)


async def take_stock(world: World, names: list[str], tag: str, toll: Toll) -> None:
    desk = await Desk(world).start()
    acts = {act_of(tag, name, n): text_of(tag, name, n) for name in names for n in range(PROMPTS)}
    try:
        outcomes = await settle(desk, names, acts)
        came = Counter(text for name in names for text in desk.prompts(name))
        toll.wrong += judge(acts, outcomes, came)
        toll.prompts += len(acts)
        toll.outcomes.update(outcomes.get(act, ("not taken in", ""))[0] for act in acts)
        toll.reasons.update(f"{outcome}: {reason}" for outcome, reason in outcomes.values() if outcome != "submitted")
        for name in names:
            with contextlib.suppress(CoveyError):
                await desk("kill", name=name)
        if desk.tmux("list-buffers"):
            toll.wrong.append(f"{tag}: buffers left: {desk.tmux('list-buffers')}")
    finally:
        await desk.close()


async def rounds(world: World, count: int, seed: int, victims: tuple[str, ...] = VICTIMS) -> Toll:
    draw, toll = random.Random(seed), Toll()
    for number in range(count):
        await one_round(world, number, draw, toll, victims[number % len(victims)])
    return toll


def table(toll: Toll) -> str:
    rows = [f"{toll.prompts} prompts, {toll.struck.total()} kills, {toll.orphans} tmux clients left"]
    rows += [f"  {n:>4} {outcome}" for outcome, n in toll.outcomes.most_common()]
    rows += [f"  {n:>4} struck {where}" for where, n in sorted(toll.struck.items())]
    rows += [f"  {n:>4} {reason}" for reason, n in toll.reasons.most_common()]
    return "\n".join([*rows, f"WRONG: {len(toll.wrong)}", *(f"  {each}" for each in toll.wrong[:20])])


async def main(count: int, seed: int) -> int:
    world = World()
    os.environ.update(world.env)
    try:
        toll = await rounds(world, count, seed)
    finally:
        leaks = await asyncio.to_thread(world.close)
    print(table(toll))
    print("processes left:", leaks or "none")
    return 1 if toll.wrong or leaks else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["victim"]:
        asyncio.run(victim(*sys.argv[2:]))
    else:
        given = [int(word) for word in sys.argv[1:]]
        sys.exit(asyncio.run(main(*(given + [220, 1][len(given) :]))))
