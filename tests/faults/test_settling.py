"""Sessions opened for one task: settled by whoever sees first that they are done, not before, and not too many kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from desk import Desk, standin_that

if TYPE_CHECKING:
    from world import World

AGENT = ["{python}", "-m", "covey.standin", "--work", "0.1"]
UPTAKE = 3.0  # seconds that an agent may take, in these tests, to show that it works
REPLY = "You said 5 bytes"


async def run(desk: Desk, name: str) -> dict[str, Any]:
    """One task, up to where its agent has its prompt."""
    session = await desk("run", name=name, agent="standin", cmd=AGENT, prompt="do it")
    assert (await desk("wait", act=session["receipt"]["id"]))["outcome"] == "submitted"
    return session


async def settled(desk: Desk, name: str) -> dict[str, Any]:
    """The row of its log that says so, once there is one."""

    async def look() -> dict[str, Any] | None:
        return next((each for each in await desk("log", name=name) if each["kind"] == "settled"), None)

    return await desk.until(look, message=f"{name} is settled")


async def test_what_finished_while_nobody_looked_is_settled_by_the_next_who_looks(world: World) -> None:
    first = await Desk(world).start()
    session = await run(first, "task")
    await first.close()
    await first.until(lambda: REPLY in first.tmux("capture-pane", "-p", "-t", session["pane"]))
    second = await Desk(world).start()
    assert (await settled(second, "task"))["words"] == "its agent has finished"
    assert (await second("get", name="task"))["settled"]
    await second.close()


async def test_who_comes_right_after_the_prompt_waits_for_the_work_to_begin(world: World) -> None:
    standin_that(world, f"uptake = {UPTAKE}")
    first = await Desk(world).start()
    await run(first, "task")
    await first.close()
    began = datetime.now(UTC)
    second = await Desk(world).start()
    done = datetime.fromisoformat((await settled(second, "task"))["at"])
    assert (done - began).total_seconds() >= UPTAKE
    await second.close()


async def test_settled_by_itself_counts_for_the_cap(world: World) -> None:
    (world.config / "covey").mkdir()
    (world.config / "covey" / "config.toml").write_text("max_settled = 1\n")
    desk = await Desk(world).start()
    await run(desk, "one")
    await settled(desk, "one")
    await run(desk, "two")
    await settled(desk, "two")
    await desk.until(lambda: [e["data"]["name"] for e in desk.events if e["event"] == "Reaped"] == ["one"])
    assert [each["name"] for each in await desk("list")] == ["two"]
    await desk.close()


async def test_who_says_that_it_is_no_longer_settled_is_not_overruled(world: World) -> None:
    desk = await Desk(world).start()
    await run(desk, "task")
    await settled(desk, "task")
    task = await desk("settle", name="task", on=False)
    assert (task["settled"], "once" in task["options"]) == (False, False)
    await desk.front.helper.settling.catch_up()
    assert not (await desk("get", name="task"))["settled"]
    assert (await desk("log", name="task"))[-1]["words"].startswith("no longer, by ")
    await desk.close()
