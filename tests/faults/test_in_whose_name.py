"""The log says who did a thing: the person through a shell or an editor, or the sweep by itself."""

from __future__ import annotations

import os
import subprocess

import pytest

from covey import story
from covey.store import Store, acting
from desk import Desk


@pytest.fixture
def editor():
    """The process of an editor that can end."""
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


def said(desk, session):
    """The rows of that session's log that say how it ended."""
    found = story.told(desk.front.helper.store, session, 100)
    return [each["words"] for each in found if each["kind"] in ("ended", "reaped")]


async def test_what_an_editors_leaving_ends_is_ended_by_the_sweep(world, editor):
    desk = await Desk(world, editor.pid).start()
    mine = await desk.standin("one", on_exit="reap")
    theirs = await desk.standin("two")
    await desk("kill", name="two")
    await desk.front.bye({})
    by_sweep = f"by the sweep after editor {editor.pid}"
    words = said(desk, mine["id"])
    assert len(words) == 2
    assert all(each.endswith(by_sweep) for each in words)
    assert said(desk, theirs["id"]) == [f"killed; 1 process, by editor {editor.pid}"]
    await desk.close()


async def test_what_an_editor_left_behind_is_ended_by_the_sweep_of_the_next(world, editor):
    first = await Desk(world, editor.pid).start()
    session = await first.standin("one", on_exit="reap")
    await first.close()
    editor.kill()
    editor.wait()
    desk = await Desk(world, os.getpid()).start()
    words = said(desk, session["id"])
    assert len(words) == 2
    assert all(each.endswith("by the sweep") for each in words)
    await desk.close()


async def test_what_is_closed_because_too_many_are_settled_is_closed_by_the_sweep(world):
    (world.config / "covey").mkdir()
    (world.config / "covey" / "config.toml").write_text("max_settled = 0\n")
    desk = await Desk(world).start()
    session = await desk.standin("one")
    await desk("settle", name="one")
    assert [each.endswith("by the sweep") for each in said(desk, session["id"])] == [True, True]
    await desk.close()


def test_a_name_holds_for_the_block_alone(tmp_path):
    store = Store(tmp_path / "covey.db")
    with acting({"who": "editor", "pid": 7}):
        store.log("s", "kept", {})
    store.log("s", "kept", {})
    assert [each["data"] for each in store.history("s")] == [{"by": {"who": "editor", "pid": 7}}, {}]
    store.close()
