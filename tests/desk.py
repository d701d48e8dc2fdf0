"""One helper under test, with short words for what tests do with it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey import paths
from covey.api import Front
from covey.errors import CoveyError
from waiting import PATIENCE, PAUSE, written
from world import tmux

if TYPE_CHECKING:
    from collections.abc import Callable

    from world import World


def standin_that(world: World, *lines: str) -> None:
    """From the next helper on the profile of the stand-in says these lines, too."""
    folder = world.config / "covey" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "standin.toml").write_text("\n".join(['name = "standin"', 'like = "standin"', *lines, ""]))


class Desk:
    """``await desk("open", name="x")`` calls a method; ``events`` holds what was emitted."""

    def __init__(self, world: World, pid: int | None = None) -> None:
        self.world = world
        self.events: list[dict[str, Any]] = []
        self.front = Front(self.events.append)
        self._pid = pid

    async def start(self) -> Desk:
        await self.front.hello({"pid": self._pid} if self._pid else {})
        return self

    async def __call__(self, method: str, **params: Any) -> Any:
        return await self.front.call(method, params)

    async def close(self) -> None:
        await self.front.close()

    @property
    def socket(self) -> Path:
        return paths.socket_path()

    def tmux(self, *words: str) -> str:
        """A command on covey's own server, as a person might give it."""
        return tmux(self.socket, *words)

    async def standin(self, name: str, *options: str, wait: bool = True, **more: Any) -> dict[str, Any]:
        """A stand-in agent that records each prompt it gets; see ``prompts``."""
        record = self.world.tmp / f"{name}.jsonl"
        argv = ["{python}", "-m", "covey.standin", "--record", str(record), "--work", "0", *options]
        session = await self("open", name=name, agent="standin", cmd=argv, cwd=str(self.world.home), **more)
        if wait:
            await self.state(name, "idle")
        return session

    def prompts(self, name: str) -> list[str]:
        """What the stand-in of that name was given, byte for byte."""
        return [json.loads(line)["text"] for line in written(self.world.tmp / f"{name}.jsonl")]

    async def state(self, name: str, *wanted: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """The session, once its state is one of those."""

        async def look() -> dict[str, Any] | None:
            with contextlib.suppress(CoveyError):
                session = await self("get", name=name)
                return session if session["state"] in wanted else None
            return None

        return await self.until(look, timeout, f"{name} never was {wanted}")

    async def until(self, look: Callable[[], Any], timeout: float = PATIENCE, message: str = "condition") -> Any:
        """The first truthy value of ``look`` (a function or a coroutine function)."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while True:
            value = look()
            if asyncio.iscoroutine(value):
                value = await value
            if value:
                return value
            assert loop.time() < deadline, f"still not after {timeout} s: {message}"
            await asyncio.sleep(PAUSE)

    async def screen(self, name: str) -> str:
        return "\n".join((await self("capture", name=name))["lines"])

    async def shows(self, name: str, text: str) -> None:
        async def look() -> bool:
            return text in await self.screen(name)

        await self.until(look, message=f"{text!r} on the screen of {name}")
