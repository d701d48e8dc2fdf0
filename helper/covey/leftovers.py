"""What outlived its session: processes that nobody sees any more, staged files, locks.

They are left by helpers that were killed in the middle, and by tmux sessions that were closed outside covey: an agent
that is deaf to a hang-up runs on without a screen.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass

from covey.belonging import members
from covey.ending import Ended
from covey.lane import FLEET, WORKTREES
from covey.models import Identity
from covey.records import GIVEN_UP
from covey.session import Kit
from covey.store import Record

LOOK = 0.05  # seconds between two looks whether it has gone


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Those of one fleet."""

    kit: Kit

    async def of(self, record: Record, *, patience: float = 0) -> list[int]:
        """What of a session runs on without its pane, parents first. What only just lost it gets time to go."""
        until = time.monotonic() + patience
        while found := await asyncio.to_thread(self._of, record):
            if time.monotonic() >= until:
                break
            await asyncio.sleep(LOOK)
        return found

    def _of(self, record: Record) -> list[int]:
        root, session = self._root(record), record.spec.id
        if root is None:
            return []
        spare = self.kit.eyes.profile(record.spec.agent).spare
        table, seen = self.kit.place.processes.snapshot(), self.kit.kin.seen(session)
        return [one.pid for one in members(table, root, mark=session, seen=seen, spare=spare).mine]

    def _root(self, record: Record) -> Identity | None:
        """The first process there was, which may be nobody; None after another boot, for nothing is left of that."""
        root = Identity.from_json(record.state.get("root")) or Identity(0, 0, self.kit.me.host)
        return root if root.host == self.kit.me.host else None

    async def end(self, session: str) -> Ended:
        """End what outlived its pane, and prove it."""
        record = await asyncio.to_thread(self.kit.store.session, session)
        root = self._root(record) if record else None
        if record is None or root is None:
            return Ended([], [], [])
        profile, seen = self.kit.eyes.profile(record.spec.agent), self.kit.kin.seen(session)
        return await self.kit.place.processes.end(
            root, mark=session, grace=profile.grace, seen=seen, spare=profile.spare
        )

    async def tidy(self, alive: Collection[str]) -> None:
        """Clear up after sessions that are over; those that tmux has (``alive``) are not, whatever is written."""
        records = await asyncio.to_thread(self.kit.store.sessions, live=False)
        ids = {record.spec.id for record in records if not record.ended_at}
        over = {record.spec.id for record in records} - ids - set(alive)
        marks = await asyncio.to_thread(lambda: self.kit.place.processes.snapshot().marks)
        await asyncio.gather(*(self.end(id_) for id_ in over.intersection(marks.values())))
        acts = {ticket.act for id_ in ids for ticket in await asyncio.to_thread(self.kit.outbox.pending, id_)}
        await asyncio.to_thread(self._sweep, ids | set(alive), acts)

    def _sweep(self, ids: set[str], acts: set[str]) -> None:
        """Remove the files of others than these sessions and prompts.

        A young file may be somebody's who is just about to write down what it is for. A lock may go at any time: who
        waits for it looks for its name again.
        """
        files, lanes = self.kit.place.files, self.kit.lanes
        for name in files.older_than(GIVEN_UP):
            if name.partition(".")[0] not in ids | acts:
                files.remove(name)
        for lock in lanes.glob("*.lock"):
            if lock.stem not in ids | {FLEET, WORKTREES}:
                lock.unlink(missing_ok=True)
