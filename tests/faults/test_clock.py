"""The clock of the machine is put back by a day while agents run: what lasts seconds lasts seconds."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from desk import Desk

if TYPE_CHECKING:
    from terminal import Terminal

DAY = timedelta(days=1)


class Yesterday(datetime):
    """The clock as it is from then on."""

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) - DAY


@pytest.fixture
def put_back(monkeypatch):
    def put():
        right = time.time
        monkeypatch.setattr(time, "time", lambda: right() - DAY.total_seconds())
        monkeypatch.setattr("covey.watch.datetime", Yesterday)

    return put


async def test_an_agent_that_was_just_prompted_is_idle_again(desk, put_back):
    await desk.standin("one")
    await desk("send", name="one", text="hello")
    put_back()
    await desk.state("one", "idle")
    assert (await desk("send", name="one", text="again"))["outcome"] == "submitted"


async def test_who_comes_after_it_takes_no_agent_for_one_that_starts(desk, put_back, world):
    await desk.standin("one")
    put_back()
    other = await Desk(world).start()
    try:
        assert (await other("get", name="one"))["state"] == "idle"
    finally:
        await other.close()


async def test_who_typed_before_it_types_no_more(desk, put_back, terminal: Terminal):
    await desk.standin("one")
    terminal.start((await desk("attach", name="one"))["argv"])
    await desk.until(lambda: desk.tmux("list-clients", "-F", "#{client_control_mode}").split().count("0"))
    put_back()
    assert (await desk("send", name="one", text="hello"))["outcome"] == "submitted"
