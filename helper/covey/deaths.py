"""Deaths of processes, told the moment they happen: by pidfd, and by looking where the kernel has none."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from covey.models import Identity
from covey.process import alive, pin, same_place

POLL = 0.1  # s between looks where the kernel cannot tell of a death


def _by_pidfd(loop: asyncio.AbstractEventLoop, identity: Identity, dead: Callable[[], None]) -> Callable[[], None]:
    try:
        pinned = pin(identity)
    except OSError:
        return _by_looking(loop, identity, dead)
    if pinned is None:
        return loop.call_soon(dead).cancel
    loop.add_reader(pinned, dead)

    def cancel() -> None:
        loop.remove_reader(pinned)
        os.close(pinned)

    return cancel


def _by_looking(loop: asyncio.AbstractEventLoop, identity: Identity, dead: Callable[[], None]) -> Callable[[], None]:
    timer: list[asyncio.Handle] = []

    def look() -> None:
        if alive(identity) is False:
            dead()
        else:
            timer[:] = [loop.call_later(POLL, look)]

    timer.append(loop.call_soon(look))
    return lambda: timer[0].cancel()  # noqa: PLW0108  the handle of then, not of now


class Deaths:
    """Tells of deaths, from the running loop, within milliseconds and once each; at once if it was dead before."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._notice = _by_pidfd if hasattr(os, "pidfd_open") else _by_looking
        self._cancels: dict[Identity, Callable[[], None]] = {}

    def watch(self, identity: Identity, callback: Callable[[], None]) -> None:
        """Call back when this process is dead; one callback a process, a second watch replaces the first."""
        same_place(identity)
        self.forget(identity)

        def dead() -> None:
            self.forget(identity)
            callback()

        self._cancels[identity] = self._notice(self._loop, identity, dead)

    def forget(self, identity: Identity) -> None:
        if cancel := self._cancels.pop(identity, None):
            cancel()

    def close(self) -> None:
        for identity in list(self._cancels):
            self.forget(identity)


async def wait_gone(identity: Identity, timeout: float) -> bool:  # noqa: ASYNC109  the answer is a bool, not an error
    """Whether the process was dead within so many seconds."""
    if alive(identity) is False:
        return True
    deaths, done = Deaths(), asyncio.Event()
    try:
        deaths.watch(identity, done.set)
        async with asyncio.timeout(timeout):
            return await done.wait()
    except TimeoutError:
        return alive(identity) is False  # it may have died while we were stopped
    finally:
        deaths.close()
