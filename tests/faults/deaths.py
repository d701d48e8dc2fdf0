"""Every way a program can end, many times over: is each death seen, rightly, and how soon?

By hand, with a table at the end:
``python tests/faults/deaths.py [--total 5000] [--sessions 50] [--at-once 2] [--salvo 10] [--burners 1]``
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from covey.process import identify
from desk import Desk
from world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 30.0  # seconds after which a death counts as not seen
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
FATAL = sorted(set(signal.valid_signals()) - HARMLESS - STOPPING)
WAYS: list[tuple[str, int]] = [*(("code", n) for n in range(256)), *(("signal", int(n)) for n in FATAL)]

# Reads from a file (or a pipe, which makes it wait) how to end, writes down when, and ends so.
PROGRAM = """
import os, resource, signal, sys, time
kind, number = open(sys.argv[1]).read().split()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
number = int(number)
if kind == 'signal' and number not in (signal.SIGKILL, signal.SIGSTOP):
    signal.signal(number, signal.SIG_DFL)
with open(sys.argv[2], 'w') as file:
    file.write(repr(time.monotonic()))
if kind == 'code':
    os._exit(number)
os.kill(os.getpid(), number)
time.sleep(60)
"""
BURNER = "while True: pass"


@dataclass
class Tally:
    """What came of all the deaths so far."""

    seen: int = 0
    wrong: list[str] = field(default_factory=list)
    late: list[float] = field(default_factory=list)  # seconds from a death to its event

    def take(self, way: tuple[str, int], told: dict[str, Any]) -> None:
        kind, number = way
        wanted = {"code": None, "signal": None} | {kind: number}
        self.seen += 1
        if told["exit"] != wanted:
            self.wrong.append(f"{kind} {number} was told as {told['exit']}")

    def line(self, name: str) -> str:
        spread = sorted(value * 1000 for value in self.late)
        times = "" if not spread else f"p50 {statistics.median(spread):5.1f} ms  p95 {self.p95 * 1000:5.1f} ms"
        worst = f"  worst {spread[-1]:6.1f} ms" if spread else ""
        return f"{name:<44} {self.seen:5} seen  {len(self.wrong):3} wrong  {times}{worst}"

    @property
    def p95(self) -> float:
        return sorted(self.late)[int(len(self.late) * 0.95)]


class Ward:
    """Sessions whose agents end as they are told, over and over in the same panes."""

    def __init__(self, world: World, sessions: int) -> None:
        self.world = world
        self.names = [f"s{number}" for number in range(sessions)]
        self.free = list(self.names)
        self.desk = self._desk()

    def _desk(self) -> Desk:
        desk = Desk(self.world)
        desk.front._emit = self._told
        return desk

    def _told(self, event: dict[str, Any]) -> None:
        event["at"] = time.monotonic()
        data = event["data"]
        if event["event"] in ("Opened", "Exited") and data["state"] == "exited":
            self.ends.setdefault((data["name"], data["epoch"]), event)

    ends: dict[tuple[str, int], dict[str, Any]]

    async def start(self) -> None:
        self.ends = {}
        await self.desk.start()
        for number, name in enumerate(self.names):
            self._plan(name, ("code", 0))
            program = [sys.executable, "-I", "-S", "-c", PROGRAM, str(self._path(name)), str(self._path(name, "at"))]
            wrapped = ["sh", "-c", 'exec "$@"', "sh", *program] if number % 2 else program
            await self.desk("open", name=name, cmd=wrapped)
            await self._end(name, 1)

    def _path(self, name: str, kind: str = "plan") -> Path:
        return self.world.tmp / f"{name}.{kind}"

    def _plan(self, name: str, way: tuple[str, int]) -> None:
        self._path(name).unlink(missing_ok=True)
        self._path(name).write_text(f"{way[0]} {way[1]}")

    async def _end(self, name: str, epoch: int) -> dict[str, Any]:
        return await self.desk.until(lambda: self.ends.get((name, epoch)), PATIENCE, f"{name}.{epoch} was seen to end")

    async def watched(self, ways: list[tuple[str, int]], tally: Tally, at_once: int) -> None:
        """Deaths of agents that end as soon as they run, while this helper runs."""
        waiting = iter(ways)
        epochs = dict.fromkeys(self.names, 1)

        async def one_by_one() -> None:
            for way in waiting:
                name = self.free.pop(0)
                epochs[name] += 1
                self._plan(name, way)
                await self.desk("respawn", name=name)
                event = await self._end(name, epochs[name])
                tally.take(way, event["data"])
                tally.late.append(event["at"] - float(self._path(name, "at").read_text()))
                self.free.append(name)

        await asyncio.gather(*(one_by_one() for _ in range(at_once)))

    async def together(self, ways: Iterator[tuple[str, int]], tally: Tally, *, helper: bool) -> None:
        """As many agents as there are ways wait, then all end within a moment, with or without a running helper."""
        batch = dict(zip(self.free, ways, strict=False))
        self.free = [*(name for name in self.free if name not in batch), *batch]
        for name in batch:
            self._path(name).unlink(missing_ok=True)
            self._path(name, "at").unlink(missing_ok=True)
            os.mkfifo(self._path(name))
        views = {name: await self.desk("respawn", name=name) for name in batch}
        pids = {name: view["pid"] for name, view in views.items()}
        if not helper:
            await self.desk.close()
        await asyncio.gather(*(asyncio.to_thread(self._let_go, name, way) for name, way in batch.items()))
        await self.desk.until(lambda: not any(map(_runs, pids.values())), message="all have ended")
        if not helper:
            self.ends.clear()
            self.desk = self._desk()
            await self.desk.start()
        for name, way in batch.items():
            event = await self._end(name, views[name]["epoch"])
            tally.take(way, event["data"])
            if helper:
                tally.late.append(event["at"] - float(self._path(name, "at").read_text()))

    def _let_go(self, name: str, way: tuple[str, int]) -> None:
        self._path(name).write_text(f"{way[0]} {way[1]}")


def _runs(pid: int) -> bool:
    return identify(pid) is not None  # None also for a zombie


async def run(world: World, total: int, sessions: int, *, at_once: int, salvo: int) -> dict[str, Tally]:
    """Three kinds of deaths, a third of ``total`` each; every way to end comes in turn."""
    ways = itertools.cycle(random.Random(7).sample(WAYS, len(WAYS)))
    ward = Ward(world, sessions)
    await ward.start()
    kinds = {
        "as soon as they run, one by one": Tally(),
        f"{salvo} at one moment": Tally(),
        "with no helper running": Tally(),
    }
    alone, together, unseen = kinds.values()
    each = total // 3
    await ward.watched(list(itertools.islice(ways, total - 2 * each)), alone, at_once)
    for tally, helper in ((together, True), (unseen, False)):
        while tally.seen < each:
            await ward.together(itertools.islice(ways, min(salvo, each - tally.seen)), tally, helper=helper)
    await ward.desk.close()
    return kinds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("total", 5000), ("sessions", 50), ("at-once", 2), ("salvo", 10), ("burners", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    world = World()
    for name in [name for name in os.environ if name not in world.env]:
        del os.environ[name]
    os.environ.update(world.env)
    load = [subprocess.Popen([sys.executable, "-S", "-c", BURNER]) for _ in range(asked.burners)]
    try:
        tallies = asyncio.run(run(world, asked.total, asked.sessions, at_once=asked.at_once, salvo=asked.salvo))
    finally:
        for one in load:
            one.kill()
            one.wait()
        left = world.close()
    for name, tally in tallies.items():
        print(tally.line(name))
        for wrong, times in Counter(tally.wrong).items():
            print(f"    {wrong} ({times} ×)")
    print(f"{len(WAYS)} ways to end, {asked.burners} busy loops beside; left running: {left or 'nothing'}")


if __name__ == "__main__":
    main()
