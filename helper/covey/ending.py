"""Ending a session's processes, and proving it."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from covey.belonging import Members, members
from covey.deaths import wait_gone
from covey.models import Identity
from covey.process import Process, Table, alive, same_place, send, snapshot

BUDGET = 5.0  # s for killing, after the grace
SETTLE = 0.25  # s a killed process gets to vanish before the next look


class Ended(NamedTuple):
    """What ending a session did: gone and proven so, still alive after everything, never touched."""

    ended: list[Process]
    survivors: list[Process]
    left: list[Process]


class _Looks:
    """Snapshots shared by all who ask meanwhile; each gets one that began after it asked. Fifty kills, few scans."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began = 0.0
        self._table = Table(())

    def after(self, asked: float) -> Table:
        with self._lock:
            if self._began < asked:
                began = time.monotonic()
                self._table, self._began = snapshot(), began
            return self._table


_looks = _Looks()


async def _all_gone(processes: Iterable[Process], until: float) -> None:
    """Return when all are dead, or at that moment of the monotonic clock. One by one: one descriptor at a time."""
    for one in processes:
        if not await wait_gone(one.identity, until - time.monotonic()):
            return


async def end(
    root: Identity,
    *,
    mark: str,
    grace: float,
    seen: Collection[Identity] = (),
    spare: Collection[str] = (),
) -> Ended:
    """End what ``belonging.members`` calls ours and prove it: TERM, up to ``grace`` seconds, then STOP and KILL.

    Returns as soon as all are gone, at the latest ``grace`` + BUDGET seconds from now. Each signal goes to a process
    whose identity was checked while its number was pinned. Raises Unknown, having touched nothing, if the root is of
    another host or the process table cannot be read.
    """
    same_place(root)
    return await _Hunt(root, mark, frozenset(seen), frozenset(spare)).run(grace)


@dataclass
class _Hunt:
    root: Identity
    mark: str
    seen: frozenset[Identity]
    spare: frozenset[str]
    taken: dict[Identity, Process] = field(default_factory=dict)
    left: list[Process] = field(default_factory=list)

    async def run(self, grace: float) -> Ended:
        """Two looks in a row must find nothing: one misses who is just forking, or has no environment while in exec."""
        soft = time.monotonic() + grace
        asked: set[Identity] = set()
        while (found := await self.look() or await self.look()) and (now := time.monotonic()) < soft + BUDGET:
            if now < soft or not asked:  # also where the first look took longer than the grace
                self.ask([one for one in found if one.identity not in asked])
                asked.update(one.identity for one in found)
                await _all_gone(found, soft)
            else:
                self.force(found)
                await _all_gone(found, now + SETTLE)
        survivors = {one.identity for one in found}
        ended = [one for identity, one in self.taken.items() if identity not in survivors]
        return Ended(ended, found, [one for one in self.left if alive(one.identity)])

    async def look(self) -> list[Process]:
        asked = time.monotonic()
        found, self.left = await asyncio.to_thread(self._members, asked)
        self.taken.update((one.identity, one) for one in found)
        return found

    def _members(self, asked: float) -> Members:
        return members(
            _looks.after(asked), self.root, mark=self.mark, seen=self.seen, spare=self.spare, taken=tuple(self.taken)
        )

    def ask(self, found: list[Process]) -> None:
        """TERM, children before parents; a stopped one must be continued to hear it."""
        for one in reversed(found):
            send(one.identity, signal.SIGTERM)
            if one.state == "T":
                send(one.identity, signal.SIGCONT)

    def force(self, found: list[Process]) -> None:
        """Stop all before killing any, so that none forks or restarts another meanwhile."""
        for one in found:
            send(one.identity, signal.SIGSTOP)
        for one in reversed(found):
            send(one.identity, signal.SIGKILL)
