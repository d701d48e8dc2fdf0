"""A whole helper is stopped in the middle of a send, and goes on after somebody else has acted on the session."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from covey.models import FINAL
from desk import Desk, standin_that
from waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from world import World

ENTER_DELAY = 1.0  # seconds between draft and Enter of the agent in these tests: time to stop a process in
TRIES = 30  # prompts until one is caught where it is wanted
SEND = "receipt = nil; require('covey').send(..., function(_, told) receipt = told end)"
LONG = " and so on" * 60_000  # what takes a moment to stage


@dataclass
class Command:
    """A ``covey send`` of its own."""

    act: str
    run: asyncio.subprocess.Process

    @classmethod
    async def start(cls, act: str, text: str) -> Command:
        argv = ["-m", "covey.cli", "send", "one", "-", "--act", act, "--json", "--timeout", "40"]
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        run = await asyncio.create_subprocess_exec(sys.executable, *argv, **pipes)
        run.stdin.write(text.encode())
        run.stdin.close()
        return cls(act, run)

    @property
    def pid(self) -> int:
        return self.run.pid

    async def told(self) -> dict[str, Any]:
        return json.loads((await self.run.communicate())[0])


class Host:
    """The host of an editor, which sends for it. pynvim brings a loop of its own: it is asked from other threads."""

    def __init__(self, nvim: Any, desk: Desk) -> None:
        self._nvim = nvim
        nvim.lua("require('covey').list({}, function() ready = true end)")
        nvim.wait("ready")
        (self.pid,) = [one.pid for one in desk.world.hosts()]

    async def start(self, act: str, text: str) -> Host:
        self.act = act
        given = {"name": "one", "act": act, "text": text}
        await asyncio.to_thread(self._nvim.lua, SEND, given)
        return self

    async def told(self) -> dict[str, Any]:
        return await asyncio.to_thread(self._nvim.wait, "receipt", 40)


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    """A helper that knows an agent which wants a pause before Enter."""
    standin_that(world, f"enter_delay = {ENTER_DELAY}")
    here = await Desk(world).start()
    yield here
    await here.close()


def is_begun(desk: Desk, act: str) -> bool:
    return bool(desk.front.helper.store.rows("SELECT 1 FROM tickets WHERE act = ? AND typer IS NOT NULL", (act,)))


def is_pasted(desk: Desk, act: str) -> bool:
    return desk.tmux("list-panes", "-a", "-F", "#{@covey_act}").find(act) >= 0


def is_seen(desk: Desk, act: str) -> bool:
    return f"❯ {act}" in desk.tmux("capture-pane", "-p", "-t", "%1")


def is_entered(desk: Desk, act: str) -> bool:
    """The agent made a line feed of an Enter."""
    shown = desk.tmux("capture-pane", "-p", "-t", "%1")
    return re.search(rf"❯ {act}\n\s*\n─", shown) is not None


@dataclass(frozen=True)
class Point:
    """Where a send is stopped: once ``reached``, and before ``passed``."""

    reached: Callable[[Desk, str], bool]
    passed: Callable[[Desk, str], bool]
    more: str = ""
    options: tuple[str, ...] = ()


def is_submitted(desk: Desk, act: str) -> bool:
    return any(text.startswith(act) for text in desk.prompts("one"))


POINTS = {
    "before the paste": Point(is_begun, is_pasted, LONG),
    "before it is seen": Point(is_pasted, is_seen, options=("--slow-echo", "1000")),
    "before Enter": Point(is_seen, is_submitted),
    "after an Enter": Point(is_entered, is_submitted, options=("--burst-gap", "60000")),
}


async def caught(desk: Desk, sender: Any, point: Point) -> Any:
    """A send that is stopped at that point; those that were not caught there have gone out."""
    for number in range(TRIES):
        act = f"act-{number}"
        sending = await sender(act, act + point.more)
        deadline = time.monotonic() + PATIENCE
        while not point.reached(desk, act) and time.monotonic() < deadline:  # noqa: ASYNC110  # no event: it is watched
            await asyncio.sleep(0)
        os.kill(sending.pid, signal.SIGSTOP)
        if not point.passed(desk, act):
            return sending
        os.kill(sending.pid, signal.SIGCONT)
        assert (await sending.told())["outcome"] == "submitted"
    raise AssertionError("no send was caught")


@pytest.fixture
def sender(request: pytest.FixtureRequest, desk: Desk) -> Any:
    """What sends: a ``covey send``, or the host of an editor."""
    if request.param == "command":
        return Command.start
    return Host(request.getfixturevalue("nvim"), desk).start


def gone_on(sending: Any) -> Any:
    os.kill(sending.pid, signal.SIGCONT)
    return sending.told()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    ("sender", "verb"), [("command", "kill"), ("command", "respawn"), ("host", "respawn")], indirect=["sender"]
)
async def test_P02_a_stopped_send_types_nothing_into_what_came_after_it(desk, sender, verb, point):
    await desk.standin("one", *POINTS[point].options)
    sending = await caught(desk, sender, POINTS[point])
    await desk(verb, name="one", **({"force": True} if verb == "respawn" else {}))
    before = desk.prompts("one")
    told = await gone_on(sending)
    known = await desk("wait", act=sending.act)
    assert (told["outcome"], told["reason"]) == (known["outcome"], known["reason"])
    assert known["outcome"] in FINAL - {"submitted", "pasted"}
    if verb == "respawn":
        await desk.shows("one", "Type a prompt")
    assert desk.prompts("one") == before


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("sender", ["host"], indirect=True)
async def test_P02_a_stopped_send_that_was_interrupted_looks_again_before_it_types(desk, sender, point):
    """What had waited goes out once; what may have gone out does not go out again."""
    await desk.standin("one", *POINTS[point].options)
    sending = await caught(desk, sender, POINTS[point])
    await desk("interrupt", name="one")
    await gone_on(sending)
    known = await desk("wait", act=sending.act)
    came = [text for text in desk.prompts("one") if text.startswith(sending.act)]
    assert len(came) == (known["outcome"] == "submitted")


@pytest.mark.parametrize("sender", ["command", "host"], indirect=True)
async def test_P02_who_sends_behind_a_stopped_send_is_told_who_it_is(desk, sender):
    await desk.standin("one")
    sending = await caught(desk, sender, POINTS["before Enter"])
    receipt = await desk("send", name="one", text="behind", wait=30)
    assert (receipt["outcome"], f"process {sending.pid}" in receipt["reason"]) == ("held", True)
    for told in (await gone_on(sending), await desk("wait", act=receipt["id"])):
        assert told["outcome"] == "submitted", told
    assert desk.prompts("one")[-2:] == [sending.act, "behind"]
