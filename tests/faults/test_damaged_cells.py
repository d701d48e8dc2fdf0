"""Somebody wrote into the store: what one cell held is not known any more, everything else works, nothing is lost."""

from __future__ import annotations

import sqlite3

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


@pytest.mark.parametrize("moment", ["2999-01-01T00:00:00.000Z", "1999-01-01T00:00:00.000Z", "soon"])
async def test_what_lives_is_not_over_whatever_a_clock_once_said(again, moment):
    desk = await again()
    one = await desk.standin("one")
    damage(desk.front.helper.store.path, "sessions.ended_at", moment)

    async def lives():
        await desk("list")
        return not desk.front.helper.store.session(one["id"]).ended_at

    await desk.until(lives)
