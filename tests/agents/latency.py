"""How soon covey knows what an installed agent does, and whether it ever says what is not so.

By hand, from the repository: ``python tests/agents/latency.py AGENT [ROUNDS]`` (5 where nothing is said). The agent is
found on PATH or in the directories that COVEY_AGENTS_BIN names, and talks to a model on the loopback.

The truth is what that model knows: when it was asked, when its last word was out, when the agent hung up. From there
to covey's event is the whole. A second pair of eyes reads the pane every 10 ms and says when the agent showed it: from
there to the event is covey's part. Where the model knows nothing (a question before the first prompt, a question that
went), the whole is counted from what was shown, too; the end of the agent from when its process was gone.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import sys
import time
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from witness import Frame, Witness

from covey.api import Front
from covey.errors import CoveyError
from covey.rehearsal import MADE, Failed, Stage, staged
from covey.state import composer
from covey.tmux.screen import Screen
from desk import Desk
from drawn import CATALOG
from world import World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PLACES = os.pathsep.join(part for part in (os.environ.get("COVEY_AGENTS_BIN", ""), os.environ["PATH"]) if part)
REST = 0.7  # seconds of quiet after each step, in which nothing may change
BACK = 2.5  # seconds in which an agent may put an interrupted prompt back into its composer
RETRIES = 8.0  # seconds in which it is left alone with a model that fails
PATIENCE = 60.0  # seconds for an agent to come to rest
ASKED = "(working )?blocked( working)? idle"
RIGHT = {"start": "starting( blocked( starting)?)*( idle)? working idle", "deny": ASKED, "allow": ASKED}
TURN = "working idle"  # what any other step looks like


@dataclass(frozen=True)
class Moment:
    """Something that became so. ``truth``: since when, by the model or the kernel; None: the screen alone knows."""

    what: str
    state: str
    truth: float | None
    after: float  # when the step began in which it happened


@dataclass
class Told(Desk):
    """A desk that keeps when each state was told."""

    world: World
    states: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.world)
        self.front = Front(self.hear)

    def hear(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["event"] in ("Opened", "State", "Exited"):
            self.states.append((time.time(), data["state"]))
        self.events.append(event)

    def since(self, when: float) -> list[str]:
        """The states told since then, each once in a row."""
        return [state for state, _ in groupby(state for at, state in self.states if at >= when)]


@dataclass
class Run:
    """One agent, led through all steps; ``moments`` and ``wrong`` are what came of it."""

    stage: Stage
    desk: Told
    moments: list[Moment] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    pane: str = ""
    witness: Witness | None = None

    async def all(self, rounds: int) -> None:
        steps = [self.stream, self.think, self.hang, self.interrupt, self.error]
        if self.stage.profile.rehearsal.asks:
            steps[3:3] = [self.deny, self.allow]
        await self.step("start", self.start)
        for _ in range(rounds):
            for step in steps:
                await self.step(step.__name__, step)
        await self.step("retry", self.retry)
        await self.quit()

    async def step(self, name: str, step: Callable[[float], Awaitable[None]]) -> None:
        """One step, all that was told of it until it is over, and whether that may be."""
        began = time.time()
        await step(began)
        await self.stage.state("idle", patience=PATIENCE)
        await asyncio.sleep(REST)
        told = " ".join(self.desk.since(began))
        if not re.fullmatch(RIGHT.get(name, TURN), told):
            self.wrong.append(f"{name}: {told}")

    def became(self, what: str, state: str, truth: float | None, after: float) -> None:
        self.moments.append(Moment(what, state, truth, after))

    def last_word(self) -> float:
        return max(each.ended for each in self.stage.model.requests)

    async def start(self, began: float) -> None:
        watching = asyncio.create_task(self._watch())
        asked = await self.stage.begin("Say hello.")
        await watching
        for _ in asked:
            self.became("start: asks", "blocked", None, began)

    async def _watch(self) -> None:
        await self.desk.until(lambda: self.desk.states)
        self.pane = (await self.desk("get", name=self.stage.name))["pane"]
        self.witness = Witness(self.desk.socket, self.pane, self.desk.world.tmp / "frames.jsonl")
        await self.witness.start()

    async def stream(self, began: float) -> None:
        await self._answered("stream", "mock:slow 3", began)

    async def think(self, began: float) -> None:
        await self._answered("think", "mock:think 2", began)

    async def hang(self, began: float) -> None:
        await self._answered("hang", "mock:hang 2", began)

    async def _answered(self, what: str, text: str, began: float) -> None:
        request = await self.stage.say(text)
        self.became(f"{what}: at work", "working", request.at, began)
        await self.stage.until(lambda: request.ended > 0, "the answer did not end")
        await self.stage.state("idle", patience=PATIENCE)
        self.became(f"{what}: finished", "idle", self.last_word(), began)

    async def deny(self, began: float) -> None:
        await self._asked("deny", "no", "touch {file}", began)

    async def allow(self, began: float) -> None:
        await self._asked("allow", "yes", "timeout 2 tail -f /dev/null; touch {file}", began)

    async def _asked(self, what: str, choice: str, command: str, began: float) -> None:
        asks = self.stage.profile.rehearsal.asks.replace("touch {file}", command).replace("{file}", MADE)
        await self.stage.say(asks)
        await self.stage.state("blocked", patience=PATIENCE)
        self.became(f"{what}: asks", "blocked", self.last_word(), began)
        await asyncio.sleep(REST)
        before, answered = len(self.stage.model.requests), time.time()
        await self.stage.call("answer", name=self.stage.name, choice=choice)
        await self.stage.state("idle", patience=PATIENCE)
        await asyncio.sleep(REST)
        more = [each.ended for each in self.stage.model.requests[before:]]
        self.became(f"{what}: finished", "idle", max(more, default=None), answered)
        (self.stage.project / MADE).unlink(missing_ok=True)

    async def interrupt(self, began: float) -> None:
        request = await self.stage.say("mock:slow 30")
        await self.stage.state("working")
        await asyncio.sleep(REST)
        await self._interrupt()
        self.became("interrupt", "idle", request.ended if request.cut else None, began)

    async def _interrupt(self) -> None:
        await self.stage.call("interrupt", name=self.stage.name)
        await self.stage.state("idle", patience=PATIENCE)
        await asyncio.sleep(REST)
        await self._clear()

    async def _clear(self) -> None:
        """Take out of the composer what an agent put back there, some time later: qwen does."""
        until = time.time() + BACK
        while time.time() < until:
            shown = Screen.plain(await self.desk.screen(self.stage.name), 120)
            if composer(shown, self.stage.profile):
                self.desk.tmux("send-keys", "-t", self.pane, "C-u")
            await asyncio.sleep(REST / 2)

    async def error(self, began: float) -> None:
        await self._refused("mock:fail 400")
        await self.stage.state("idle", patience=PATIENCE)
        await asyncio.sleep(REST)
        self.became("error", "idle", self.last_word(), began)

    async def retry(self, began: float) -> None:
        """An agent that asks again and again is at work until it gives up or is stopped."""
        await self._refused("mock:fail 500")
        await asyncio.sleep(RETRIES)
        if (await self.stage.call("get", name=self.stage.name))["state"] != "idle":
            await self._interrupt()

    async def _refused(self, text: str) -> None:
        receipt = await self.stage.call("send", name=self.stage.name, text=text, wait=PATIENCE)
        if receipt["outcome"] != "submitted":
            raise Failed(str(receipt))

    async def quit(self) -> None:
        began, pid = time.time(), (await self.stage.call("get", name=self.stage.name))["pid"]
        gone: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        handle = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(handle, lambda: gone.done() or gone.set_result(time.time()))
        await self.stage.call("send", name=self.stage.name, text=self.stage.profile.quit, raw=True)
        await self.stage.state("exited", patience=PATIENCE)
        self.became("quit", "exited", await gone, began)
        asyncio.get_running_loop().remove_reader(handle)
        os.close(handle)


@dataclass(frozen=True)
class Figure:
    """Seconds from the truth to the event, and from what was shown to the event."""

    moment: Moment
    whole: float
    ours: float


def figure(moment: Moment, told: list[tuple[float, str]], frames: list[Frame]) -> Figure | None:
    """None where covey never told of it."""
    heard = next((at for at, state in told if at >= moment.after and state == moment.state), None)
    if heard is None:
        return None
    shown = shown_since(moment, heard, frames) or heard
    truth = moment.truth or shown
    return Figure(moment, max(0.0, heard - truth), max(0.0, heard - max(shown, truth)))


def shown_since(moment: Moment, heard: float, frames: list[Frame]) -> float | None:
    """Since when the pane showed that state without a break, at the time when covey told of it."""
    since = None
    for frame in (each for each in frames if moment.after <= each.at <= heard):
        if frame.verdict.state != moment.state:
            since = None
        elif since is None:
            since = frame.at
    return since


def spread(values: list[float]) -> str:
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return f"p50 {statistics.median(ordered):.2f} p95 {p95:.2f} max {ordered[-1]:.2f}"


def table(agent: str, run: Run, frames: list[Frame]) -> str:
    figures = [figure(each, run.desk.states, frames) for each in run.moments]
    known = [each for each in figures if each]
    whole, ours = spread([each.whole for each in known]), spread([each.ours for each in known])
    lines = [f"{agent}: {len(known)} moments; whole {whole} s; covey's part {ours} s; {len(run.wrong)} wrong"]
    for what, group in groupby(sorted(known, key=lambda each: each.moment.what), key=lambda each: each.moment.what):
        rows = list(group)
        whole, ours = spread([each.whole for each in rows]), spread([each.ours for each in rows])
        lines.append(f"  {what:<18} {len(rows):>2}  whole {whole}   ours {ours}")
    never = [each.what for each, one in zip(run.moments, figures, strict=True) if one is None]
    return "\n".join([*lines, *(f"  never told: {what}" for what in never), *(f"  WRONG {each}" for each in run.wrong)])


async def main(agent: str, rounds: int) -> int:
    world = World()
    os.environ.update(world.env)
    desk = Told(world)
    await desk.start()
    good = False
    try:
        async with staged(agent, desk, CATALOG.get(agent), PLACES) as stage:
            run = Run(stage, desk)
            try:
                await run.all(rounds)
            except (Failed, CoveyError) as error:
                run.wrong.append(f"{error}\n{await desk.screen(agent)}")
            await run.witness.close()
            frames = list(run.witness.frames(stage.profile, started=True))
            print(table(agent, run, frames), flush=True)
            good = not run.wrong
            await desk("kill", name=agent)
    finally:
        await desk.close()
        leaks = await asyncio.to_thread(world.close)
    return 0 if good and not leaks else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)))
