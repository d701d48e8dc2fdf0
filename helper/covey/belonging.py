"""Which processes belong to a session, by what is known of them. Pure rules over a table of processes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from covey.models import Identity
from covey.process import Process, Table

NAME_LIMIT = 15  # bytes that the kernel keeps of a command's name
SPARED = frozenset({"tmux: server", "tmux", "screen", "zellij", "nvim", "vim", "emacs"})  # made to outlive a terminal


class Members(NamedTuple):
    """What of a session may be ended (parents before children), and what is of it but must be left alone."""

    mine: list[Process]
    left: list[Process]


def members(
    table: Table,
    root: Identity,
    *,
    mark: str = "",
    seen: Collection[Identity] = (),
    spare: Collection[str] = (),
    taken: Collection[Identity] = (),
) -> Members:
    """What belongs to the session that ``root`` leads, whether or not ``root`` still lives.

    Ours: what descends from root, shares its session or group, or is in ``taken`` (this ending has begun with it);
    and of those elsewhere the orphans that carry ``mark`` or are in ``seen`` (once our descendants), and whoever is
    both, with all that descends from them. Left: what has a session of its own and a name in SPARED or ``spare``
    (command names; the kernel keeps 15 bytes), with all below it; whatever else carries the mark or was seen; us
    and our ancestors.
    """
    claim = _Claim(table, root, mark, frozenset(seen), frozenset(taken), _short(spare) | SPARED)
    reached, spared = claim.reach()
    untouchable = {1, os.getpid(), *(one.pid for one in table.ancestors(os.getpid()))}
    mine = {one.pid: one for one in reached if not one.dead and one.pid not in untouchable}
    touched = {one.pid for one in (*reached, *spared)}
    others = [one for one in table if not one.dead and one.pid not in mine]
    left = [one for one in others if one.pid in touched or claim.marked(one) or one.identity in claim.seen]
    depth = {pid: sum(up.pid in mine for up in table.ancestors(pid)) for pid in mine}
    return Members(sorted(mine.values(), key=lambda one: (depth[one.pid], one is not claim.leader)), left)


def _short(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.encode()[:NAME_LIMIT].decode(errors="replace") for name in names)


@dataclass(frozen=True)
class _Claim:
    """The rules by which a process belongs to a session."""

    table: Table
    root: Identity
    mark: str
    seen: frozenset[Identity]
    taken: frozenset[Identity]
    names: frozenset[str]

    @cached_property
    def leader(self) -> Process | None:
        one = self.table.get(self.root.pid)
        return one if one and one.identity == self.root else None

    @cached_property
    def session(self) -> int:
        """The session's number; 0 once somebody else has it, for then it says nothing of us."""
        return self.root.pid if self.leader or not self.table.get(self.root.pid) else 0

    @cached_property
    def above(self) -> frozenset[int]:
        return frozenset(one.pid for one in self.table.ancestors(self.root.pid)) if self.leader else frozenset()

    def marked(self, one: Process) -> bool:
        return bool(self.mark) and self.table.marks.get(one.pid) == self.mark

    def orphan(self, one: Process) -> bool:
        """Its parent is gone: whoever has it now is init, or adopts as init does, above the root's own parent."""
        own = self.leader.ppid if self.leader else 0
        return self.table.orphan(one) or one.ppid in self.above - {own}

    def starts(self, one: Process) -> bool:
        if one is self.leader or one.identity in self.taken:
            return True
        signs = self.marked(one) + (one.identity in self.seen)
        if self.session and self.session in (one.sid, one.pgid):
            return self.leader is not None or signs > 0
        return signs > 1 or (signs > 0 and self.orphan(one))

    def spared(self, one: Process) -> bool:
        own = self.leader.sid if self.leader else self.session
        return one.command in self.names and one.sid != own

    def sheltered(self, one: Process) -> bool:
        return any(self.spared(up) for up in self.table.ancestors(one.pid) if up.pid not in self.above)

    def reach(self) -> tuple[list[Process], list[Process]]:
        """What is found from the starting points downwards, and where the way down was stopped."""
        found: dict[int, Process] = {}
        spared: dict[int, Process] = {}
        queue = deque(one for one in self.table if self.starts(one) and not self.sheltered(one))
        while queue:
            one = queue.popleft()
            if self.spared(one):
                spared[one.pid] = one
            elif one.pid not in found:
                found[one.pid] = one
                queue.extend(self.table.children(one.pid))
        return list(found.values()), list(spared.values())
