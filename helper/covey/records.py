"""What is written down of the fleet: the store, corrected from what tmux says, never by a guess.

All of it waits for the disk, so none of it is called on the loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from covey.models import Identity, Json, Pane, Session, Spec, now
from covey.session import Kit
from covey.store import Record

LAST_WORDS = 40  # rows of its screen that the log keeps of an agent that ended
GIVEN_UP = 30.0  # seconds after which what somebody had begun with a session is taken for given up

Written: TypeAlias = tuple[dict[str, Record], dict[str, int]]  # sessions, and how many prompts wait for each
News: TypeAlias = tuple[Pane, Session]  # a session of which the store has to be told


@dataclass(slots=True)
class Records:
    """One helper's hand in the store that all helpers share."""

    kit: Kit
    _version: tuple[object, ...] = ()
    _read: Written = field(default_factory=lambda: ({}, {}))

    def read(self) -> Written:
        """The live sessions, and how many prompts wait for each. Before looking: what ends meanwhile is not revived."""
        version = self.kit.store.version()
        if version != self._version:
            self._version, self._read = version, (self.live(), self.kit.outbox.counts())
        return self._read

    def live(self) -> dict[str, Record]:
        return {record.spec.id: record for record in self.kit.store.sessions()}

    def note(self, news: Iterable[News], server: Identity | None) -> None:
        """Correct the store from tmux, all in one go: fifty deaths at once are to cost one wait for the disk."""
        with self.kit.store.transaction():
            for pane, view in news:
                self._note(pane, view, server)

    def _note(self, pane: Pane, view: Session, server: Identity | None) -> None:
        """What the session is, how it is, and once the last words of one that ended, whoever sees it too."""
        store, root = self.kit.store, self.kit.kin.root(view.id, pane.pid)
        record = store.session(view.id)
        if record and record.ended_at and 0 <= seconds_since(record.ended_at) < GIVEN_UP:  # clocks are set back, too
            return  # it is just being ended
        if record is None or record.ended_at or record.epoch != pane.epoch or differs(record, pane):
            store.save_session(pane.spec, pane.epoch)
        state = {"state": view.state, "since": view.since, "root": root.to_json() if root else None}
        store.note_session(view.id, state=state, server=server, pane=pane.pane)
        if pane.dead and not (record and record.epoch == pane.epoch and record.state.get("state") == "exited"):
            store.log(view.id, "exited", self._last_words(pane))

    def _last_words(self, pane: Pane) -> dict[str, Any]:
        shot = self.kit.eyes.seen[pane.spec.id].shot
        rows = shot.text.rstrip().split("\n")[-LAST_WORDS:] if shot else []
        return {**pane.exit.to_json(), "epoch": pane.epoch, "screen": rows}

    def note_lost(self, session: str, kind: str = "lost", facts: Json | None = None) -> None:
        """Its server went away, or (``closed``) its tmux session alone; the first who sees that says so."""
        store = self.kit.store
        with store.transaction():
            record = store.session(session)
            if record is None or record.ended_at or record.state.get("state") == "lost":
                return
            state = {**record.state, "state": "lost", "since": now()}
            store.note_session(session, state=state, server=record.server, pane=record.pane)
            store.log(session, kind, {"epoch": record.epoch, **(facts or {})})


def completed(pane: Pane, record: Record | None) -> Pane:
    """A pane whose mark cannot be read, with what the store remembers instead: which is a guess."""
    if record is None or pane.spec != Spec.unread(pane.spec.id):
        return pane
    return replace(pane, spec=replace(record.spec, guessed=True))


def differs(record: Record, pane: Pane) -> bool:
    """Whether the store has to learn what the mark says. A guess corrects nothing."""
    return replace(record.spec, guessed=True) != pane.spec if pane.spec.guessed else record.spec != pane.spec


def seconds_since(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
