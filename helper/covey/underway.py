"""What one helper does to sessions right now: those it ends are no news meanwhile, those it makes are waited for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator


class Underway:
    """Ends and beginnings that have begun and are not over."""

    def __init__(self) -> None:
        self._ending: list[tuple[str, int | None]] = []
        self._coming: list[tuple[str, asyncio.Event]] = []

    @contextlib.contextmanager
    def ends(self, session: str, epoch: int | None = None) -> Iterator[None]:
        """What runs in that session is ended meanwhile; with an ``epoch`` only what was started in that."""
        self._ending.append((session, epoch))
        try:
            yield
        finally:
            self._ending.remove((session, epoch))

    def is_ending(self, session: str, epoch: int) -> bool:
        """Whether that start of the session's agent is being ended."""
        return (session, None) in self._ending or (session, epoch) in self._ending

    @contextlib.contextmanager
    def comes(self, name: str) -> Iterator[None]:
        """A session of that name is being made meanwhile."""
        made = (name, asyncio.Event())
        self._coming.append(made)
        try:
            yield
        finally:
            self._coming.remove(made)
            made[1].set()

    async def made(self, name: str) -> None:
        """Wait until nobody makes a session of that name any more."""
        for event in [event for coming, event in self._coming if coming == name]:
            await event.wait()
