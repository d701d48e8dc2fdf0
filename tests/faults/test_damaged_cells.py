"""Somebody wrote into the store: what one cell held is not known any more, everything else works, nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
import sys

import pytest

from desk import Desk

BAD = ["no JSON", "null", "[]", "5", '{"pid": []}', '{"draft": {"shown": 1}}', b"\xff\x00", "[" * 100_000]
CELLS = [
    *("sessions.spec", "sessions.state", "sessions.server", "sessions.epoch", "sessions.pane"),
    *("fleet.value", "log.data", "log.kind", "log.at"),
    *("tickets.options", "tickets.text", "tickets.writer", "tickets.epoch", "tickets.created"),
]


def damage(store, cell, value):
    table, column = cell.split(".")
    with sqlite3.connect(store) as base:
        assert base.execute(f"UPDATE {table} SET {column} = ?", (value,)).rowcount
    base.close()


@pytest.fixture
async def again(world):
    """A callable that gives one more helper, as the next command would."""
    desks = []

    async def start():
        desks.append(await Desk(world).start())
        return desks[-1]

    yield start
    for desk in desks:
        await desk.close()


CASES = [(CELLS, value, "refused") for value in BAD] + [([*CELLS, "tickets.typer"], "[]", "unconfirmed")]


@pytest.mark.parametrize(("cells", "value", "outcome"), CASES, ids=range(len(CASES)))
async def test_damaged_cells_cost_themselves_alone(again, cells, value, outcome):
    first = await again()
    await first.standin("one")
    await first("send", name="one", text="ask may I")
    await first.state("one", "blocked")
    waits = await first("send", name="one", text="before")
    assert waits["outcome"] == "held"
    await first.close()
    for cell in cells:
        damage(first.front.helper.store.path, cell, value)
    desk = await again()
    assert [each["name"] for each in await desk("list")] == ["one"]
    for method in ("get", "log", "explain", "queue"):
        await desk(method, name="one")
    await desk("stats")
    await desk("answer", name="one", choice="yes")
    settled = await desk("wait", act=waits["id"])
    assert (settled["outcome"], settled["reason"]) == (outcome, "what is written of it is damaged")
    await desk.state("one", "idle")
    assert (await desk("send", name="one", text="after"))["outcome"] == "submitted"
    assert desk.prompts("one") == ["ask may I", "after"]
    await desk("rename", name="one", new="two")
    assert not (await desk("kill", name="two"))["survivors"]
    assert await desk("list") == []


STRANGE = [
    *(
        (cell, '{"pid": 1e999, "start": 1, "host": "h"}')
        for cell in ("fleet.value", "sessions.server", "tickets.writer")
    ),
    ("sessions.state", '{"state": "idle", "root": {"pid": 1e999, "start": 1, "host": "h"}}'),
    ("sessions.state", '{"state": "unknown", "since": "2026-01-01"}'),
    *((cell, "9999-12-31T23:59:59-12:00") for cell in ("log.at", "tickets.created", "tickets.settled")),
    *((cell, "0001-01-01T00:00:00+14:00") for cell in ("log.at", "tickets.created", "tickets.settled")),
    *((cell, b"\xff") for cell in ("tickets.outcome", "tickets.reason", "tickets.settled", "tickets.writer")),
    *(("log.data", f'{{"{key}": {value}}}') for key in ("screen", "text", "id", "epoch") for value in ("5", "[1]")),
]


async def test_what_no_reader_expects_is_no_bug(again, world):
    first = await again()
    await first("open", name="one", cmd=["cat"])
    await first("send", name="one", text="words")
    store = first.front.helper.store.path
    await first.close()
    whole = sqlite3.connect(":memory:")
    with contextlib.closing(sqlite3.connect(store)) as base:
        base.backup(whole)
    said = []
    for cell, value in STRANGE:
        damage(store, cell, value)
        for words in (
            (["log", "one", "--full"], ["log", "one", "--json"]) if cell[:3] in ("log", "tic") else (["list"],)
        ):
            argv = [sys.executable, "-m", "covey.cli", *words]
            done = await asyncio.to_thread(subprocess.run, argv, env=world.env, capture_output=True, text=True)
            said += [(cell, value, words, done.stderr)] if done.returncode else []
        with contextlib.closing(sqlite3.connect(store)) as base:
            whole.backup(base)
    whole.close()
    assert said == []
    await (await again())("kill", name="one")


@pytest.mark.parametrize("moment", ["2999-01-01T00:00:00.000Z", "1999-01-01T00:00:00.000Z", "soon"])
async def test_what_lives_is_not_over_whatever_a_clock_once_said(again, moment):
    desk = await again()
    one = await desk.standin("one")
    damage(desk.front.helper.store.path, "sessions.ended_at", moment)

    async def lives():
        await desk("list")
        return not desk.front.helper.store.session(one["id"]).ended_at

    await desk.until(lives)
