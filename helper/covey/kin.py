"""Who was seen below each session's first process, for the day when that process is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from covey.models import Identity, Pane
from covey.process import Table, identify

PAUSE = 5.0  # seconds between two looks at all processes while agents are at work


@dataclass(slots=True)
class Kin:
    """What one helper remembers: by session id the first process, and the living ones that descended from it.

    Once a first process is dead its children have another parent and its number may be somebody else's: then only
    this says what was its own. Kept in memory; another helper knows no more than the processes' marks tell.
    """

    identify: Callable[[int], Identity | None] = identify
    _roots: dict[str, Identity] = field(default_factory=dict)
    _seen: dict[str, frozenset[Identity]] = field(default_factory=dict)
    _activity: tuple[object, ...] = ()
    _looked: float = 0.0  # monotonic seconds

    def follow(self, panes: Iterable[Pane]) -> bool:
        """Learn the first processes of these panes; True when it is time to look at all processes.

        That is never while no agent says anything.
        """
        panes = list(panes)
        for pane in panes:
            if not pane.dead and self.root(pane.spec.id, pane.pid) is None and (root := self.identify(pane.pid)):
                self._roots[pane.spec.id] = root
        activity = tuple((pane.pid, pane.active_at, pane.progress) for pane in panes if not pane.dead)
        due = activity != self._activity and time.monotonic() - self._looked >= PAUSE
        if due:
            self._activity, self._looked = activity, time.monotonic()
        return due

    def look(self, table: Table) -> None:
        """Remember who is below each first process now; who was before is kept for as long as it lives."""
        living = {one.identity for one in table if not one.dead}
        for id_, root in self._roots.items():
            below = {one.identity for one in table.tree(root.pid)} if root in living else set()
            self._seen[id_] = frozenset((self.seen(id_) & living) | below)

    def recall(self, session: str, root: Identity | None) -> None:
        """What somebody wrote down of a first process that we never saw alive."""
        if root is not None:
            self._roots.setdefault(session, root)

    def forget(self, session: str) -> None:
        """The session is over, and nothing is left of it."""
        self._roots.pop(session, None)
        self._seen.pop(session, None)

    def root(self, session: str, pid: int) -> Identity | None:
        """The first process of that session, if it had that number, or if its number is known no more (0)."""
        root = self._roots.get(session)
        return root if root and pid in (0, root.pid) else None

    def seen(self, session: str) -> frozenset[Identity]:
        """Those that were seen below it."""
        return self._seen.get(session, frozenset())
