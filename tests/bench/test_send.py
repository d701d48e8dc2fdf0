"""From a prompt that is safely stored to bytes at the agent, and to the proof that it was taken."""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.bare import Client
from bench.table import Budget
from desk import Desk
from waiting import eventually, eventually_async, written

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from bench.table import Report
    from editor import Editor
    from world import World

PANE = str(Path(__file__).with_name("pane.py"))
SENDS, SUBMITS, MANY = 200, 60, 100
TEXT = "fix the failing test in tests/test_parser.py, and say why it failed"

SEND = """
    local seconds, micros = vim.uv.gettimeofday()
    receipt = nil
    require('covey').send({ name = 'r', text = ... }, function(_, r) receipt = r end)
    return seconds * 1000000000 + micros * 1000
"""
OPEN = "require('covey').open(..., function(err) failure, ready = err, true end)"
SEND_MANY = """
    receipts = {}
    for number = 1, ... do
      require('covey').send({ name = 'many', text = 'prompt ' .. number }, function(err, receipt)
        table.insert(receipts, err and err.message or receipt.outcome)
      end)
    end
"""


@pytest.fixture
async def desk(world: World, reader: str) -> AsyncIterator[Desk]:
    """A helper in the bench's own process, so that the moment of the commit is known to the nanosecond."""
    here = Desk(world)
    await here.start()
    yield here
    await here.close()


@pytest.fixture
def committed(desk: Desk) -> list[int]:
    """The moments (ns since 1970) at which a prompt was in the store."""
    outbox, moments = desk.front.helper.outbox, []
    put = outbox.put

    def timed(*args: Any, **options: Any) -> Any:
        receipt = put(*args, **options)
        moments.append(time.time_ns())
        return receipt

    outbox.put = timed
    return moments


class Notes:
    """What a reader noted, line by line, as it comes."""

    def __init__(self, path: Path, moment: Callable[[str], int | None]) -> None:
        self.path, self._moment, self._read = path, moment, 0

    def skip(self) -> None:
        self._read = len(written(self.path))

    def next(self) -> int | None:
        """The moment (ns since 1970) of the first prompt that came since ``skip``; None while there is none."""
        return next(filter(None, map(self._moment, written(self.path)[self._read :])), None)


def reader_moment(line: str) -> int | None:
    """None where it was not a prompt that was read, but an Enter behind one."""
    moment, size = line.split()
    return int(moment) if int(size) >= len(TEXT) else None


def record_moment(line: str) -> int:
    return int(json.loads(line)["at"] * 1e9)


async def bare(client: Client, pane: str, notes: Notes) -> float:
    """Milliseconds from the bare line's write to what the notes say."""
    notes.skip()
    began = time.time_ns()
    client.prompt(pane, TEXT)
    return (await eventually_async(notes.next) - began) / 1e6


async def test_text_at_the_agent(desk: Desk, committed: list[int], reader: str, world: World, report: Report) -> None:
    notes = Notes(world.tmp / "reader", reader_moment)
    argv = [sys.executable, PANE, "read", str(notes.path)]
    session = await desk("open", name="reader", agent=reader, cmd=argv, cwd=str(world.home))
    await eventually_async(lambda: written(notes.path))
    client, mine, floor = Client(desk.socket), [], []
    for _ in range(SENDS):
        notes.skip()
        receipt = await desk("send", name="reader", text=TEXT)
        assert receipt["outcome"] == "pasted", receipt
        mine.append((await eventually_async(notes.next) - committed[-1]) / 1e6)
        floor.append(await bare(client, session["pane"], notes))
    client.close()
    report.add("send committed → text at the agent", "ms", mine, floor=floor, budget=Budget(most=10, ratio=3))


async def test_submit_verified(desk: Desk, committed: list[int], world: World, report: Report) -> None:
    session = await desk.standin("one")
    notes, client, mine, floor = Notes(world.tmp / "one.jsonl", record_moment), Client(desk.socket), [], []
    for _ in range(SUBMITS):
        receipt = await desk("send", name="one", text=TEXT)
        mine.append((time.time_ns() - committed[-1]) / 1e6)
        assert receipt["outcome"] == "submitted", receipt
        floor.append(await bare(client, session["pane"], notes))
        await desk.state("one", "idle")
    client.close()
    report.add("send committed → submit verified, stand-in", "ms", mine, floor=floor, budget=Budget(most=150))


def test_send_from_the_editor(nvim: Editor, reader: str, world: World, report: Report) -> None:
    notes = Notes(world.tmp / "reader", reader_moment)
    nvim.lua(OPEN, {"name": "r", "agent": reader, "cmd": [sys.executable, PANE, "read", str(notes.path)]})
    nvim.wait("ready")
    eventually(lambda: written(notes.path))
    mine = []
    for _ in range(SUBMITS):
        notes.skip()
        began = nvim.lua(SEND, TEXT)
        mine.append((eventually(notes.next) - began) / 1e6)
        nvim.wait("receipt")
    report.add("covey.send() in the editor → text at the agent", "ms", mine)


def test_a_hundred_prompts(nvim: Editor, world: World, report: Report) -> None:
    record = world.tmp / "many.jsonl"
    argv = ["{python}", "-m", "covey.standin", "--record", str(record), "--work", "0"]
    nvim.lua(OPEN, {"name": "many", "agent": "standin", "cmd": argv})
    nvim.wait("(require('covey').get('many') or {}).state == 'idle'")
    began = time.monotonic()
    nvim.lua(SEND_MANY, MANY)
    nvim.wait(f"#receipts == {MANY}", timeout=120)
    took = time.monotonic() - began
    wanted = [f"prompt {number}" for number in range(1, MANY + 1)]
    came = [json.loads(line)["text"] for line in record.read_text().splitlines()]
    lost = len(set(wanted) - set(came)) + nvim.lua("return receipts").count("failed")
    early = sum(1 for here, then in itertools.pairwise(map(wanted.index, came)) if then < here)
    report.add("100 prompts to one session", "s", [took], budget=Budget("", most=2))
    report.add("100 prompts to one session: not delivered", "prompts", [lost], budget=Budget("", most=0))
    report.add("100 prompts to one session: before their turn", "prompts", [early], budget=Budget("", most=0))
