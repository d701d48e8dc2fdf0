"""Which conversation an agent is in when it is started again: its own word, then the mark, then its history."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from author import Author, rollout
from covey import conversation, process
from covey.agents.history import SLACK
from covey.models import Identity, stamp
from desk import Desk, standin_that
from drawn import CATALOG, pane

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from covey.models import Pane
    from world import World

ONE, TWO = "01a22bd4-a0ce-7030-9c5b-fe6d58499202", "01a22bd4-b1df-7030-9c5b-0123456789ab"


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Author]:
    here = Author(tmp_path)
    yield here
    here.end()


def marked(one: Pane, **fields: str) -> Pane:
    return replace(one, spec=replace(one.spec, **fields))


async def now_in(one: Pane, home: Path, root: Identity | None = None) -> str:
    return await conversation.current(one, CATALOG.get(one.spec.agent), root, {"HOME": str(home)})


async def test_U02_what_the_agent_says_itself_goes_before_what_was_marked(agent: Author, tmp_path: Path) -> None:
    """A person began another one, or chose an older one, while it ran."""
    one = marked(replace(pane("claude"), pid=agent.pid), conversation=ONE)
    assert await now_in(one, tmp_path) == ONE
    agent.write(status="idle", sessionId=TWO)
    assert await now_in(one, tmp_path) == TWO
    agent.write(status="idle", sessionId="--resume")
    assert await now_in(one, tmp_path) == ONE
    agent.write(status="idle", sessionId=TWO)
    assert await now_in(replace(one, dead=True), tmp_path) == ONE


async def test_U02_where_nothing_is_marked_yet_its_history_is_asked_at_that_moment(tmp_path: Path) -> None:
    agent = Author(tmp_path)
    root = process.identify(agent.pid)
    assert root is not None
    one = marked(replace(pane("codex", epoch=2), pid=agent.pid), cwd="/project")
    assert await now_in(one, tmp_path, root) == ""
    rollout(tmp_path, ONE, at=process.started(root) - 60)
    assert await now_in(one, tmp_path, root) == "", "an earlier start had begun it"
    rollout(tmp_path, TWO, at=process.started(root) + 0.1)
    assert await now_in(one, tmp_path, root) == TWO
    agent.end()
    assert await now_in(replace(one, dead=True), tmp_path, root) == TWO
    assert await now_in(replace(one, dead=True), tmp_path) == "", "who knows when it was started?"
    first = marked(replace(one, dead=True, epoch=1), created=stamp(process.started(root) - SLACK))
    assert await now_in(first, tmp_path) == TWO


async def test_U02_a_session_keeps_the_conversation_that_its_agent_is_in_now(world: World) -> None:
    desk = await Desk(world).start()
    made = await desk("open", name="one", agent="claude", cmd=["sleep", "1000"], cwd=str(world.home))
    owner, folder = process.identify(made["pid"]), world.home / ".claude" / "sessions"
    assert owner is not None
    folder.mkdir(parents=True)
    facts = {"procStart": str(owner.start), "kind": "interactive", "status": "busy", "sessionId": TWO}
    (folder / f"{made['pid']}.json").write_text(json.dumps(facts))

    async def known() -> bool:
        return bool((await desk("get", name="one"))["conversation"] == TWO)

    await desk.until(known)
    await desk.close()


async def test_U02_what_an_agent_is_about_to_write_down_is_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude writes its history a moment after it asked its model (seen on a busy machine)."""
    standin_that(world, 'history = "~/kept/{id}"')
    looks, look = list[str](), conversation.glob.glob
    monkeypatch.setattr(conversation.glob, "glob", lambda pattern: looks.append(pattern) or look(pattern))
    desk = await Desk(world).start()
    session = await desk("open", name="one", agent="standin")
    await desk.state("one", "idle")
    await desk("send", name="one", text="remember me")
    respawning = asyncio.create_task(desk("respawn", name="one", force=True))
    await desk.until(lambda: len(looks) > 1)
    (world.home / "kept").mkdir()
    (world.home / "kept" / session["conversation"]).touch()
    again = await respawning
    assert (again["conversation"], "note" in again) == (session["conversation"], False)
    await desk.close()


async def test_an_agent_that_begins_anew_though_something_was_said_says_so(world: World) -> None:
    standin_that(world, 'history = "~/nowhere/{id}"')
    desk = await Desk(world).start()
    await desk("open", name="one", agent="standin")
    await desk.state("one", "idle")
    assert "note" not in await desk("respawn", name="one", force=True), "nothing was said"
    await desk.state("one", "idle")
    await desk("send", name="one", text="remember me")
    again = await desk("respawn", name="one", force=True)
    assert again["note"] == "nothing was found to go on with: it began a new conversation"
    assert [row["data"]["epoch"] for row in await desk("log", name="one") if row["kind"] == "began"] == [3]
    await desk.state("one", "idle")
    assert "note" not in await desk("respawn", name="one", force=True, fresh=True)
    await desk.close()
