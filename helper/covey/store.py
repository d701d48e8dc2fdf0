"""What must outlive tmux: specs, tickets, receipts and the log, in one SQLite file; how that is kept: ``database``."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from covey import column
from covey.database import Database
from covey.models import Identity, Json, Spec, now, stamp

DAY_S = 86_400
BY: ContextVar[Json] = ContextVar("by", default={})  # noqa: B039  # nobody changes it  # in whose name the log is written


@dataclass(frozen=True, slots=True)
class Record:
    """A session as last written down. ``ended_at`` is empty while it is live; ``server`` is tmux's process."""

    spec: Spec
    epoch: int
    state: Json
    server: Identity | None
    pane: str
    ended_at: str
    ended_reason: str


@contextmanager
def acting(by: Json) -> Iterator[None]:
    """What is logged in the block, and by the tasks that are begun in it, is done in that name."""
    token = BY.set(by)
    try:
        yield
    finally:
        BY.reset(token)


class Store(Database):
    """What is written in the file at ``path``."""

    # Sessions

    def save_session(self, spec: Spec, epoch: int) -> None:
        """Write down a session that lives. An older epoch has nothing to say; of a new one nothing was seen yet."""
        with self.transaction() as db:
            db.execute(
                "INSERT INTO sessions (id, spec, epoch) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                " spec = excluded.spec, epoch = excluded.epoch, ended_at = NULL, ended_reason = NULL,"
                " state = CASE WHEN excluded.epoch = epoch THEN state ELSE '{}' END"
                " WHERE excluded.epoch >= epoch OR typeof(epoch) <> 'integer'",
                (spec.id, json.dumps(spec.to_json()), epoch),
            )

    def note_session(self, session: str, *, state: Json, server: Identity | None, pane: str) -> None:
        """Write down what was last seen of a session, for the day when tmux cannot tell."""
        with self.transaction() as db:
            db.execute(
                "UPDATE sessions SET state = ?, server = ?, pane = ? WHERE id = ?",
                (json.dumps(state), json.dumps(server.to_json() if server else None), pane, session),
            )

    def end_session(self, session: str, reason: str) -> bool:
        """Write down that a session is over. The first reason stays; True where it is this one."""
        with self.transaction() as db:
            return bool(
                db.execute(
                    "UPDATE sessions SET ended_at = ?, ended_reason = ? WHERE id = ? AND ended_at IS NULL",
                    (now(), reason, session),
                ).rowcount
            )

    def lives_on(self, session: str) -> None:
        """Take back that a session is over."""
        with self.transaction() as db:
            db.execute("UPDATE sessions SET ended_at = NULL, ended_reason = NULL WHERE id = ?", (session,))

    def session(self, session: str) -> Record | None:
        found = self.rows("SELECT * FROM sessions WHERE id = ?", (session,))
        return _record(found[0]) if found else None

    def sessions(self, *, live: bool = True) -> list[Record]:
        """Give the live sessions, or with ``live=False`` the ended ones too, oldest first."""
        found = self.rows("SELECT * FROM sessions WHERE ended_at IS NULL OR NOT ? ORDER BY rowid", (live,))
        return [_record(row) for row in found]

    # The fleet

    def get(self, key: str) -> Any:
        """Give the JSON value that was put; None where there is none, or none that can be read."""
        found = self.rows("SELECT value FROM fleet WHERE key = ?", (key,))
        return column.value(lambda value: value, found[0]["value"]) if found else None

    def server(self) -> tuple[Identity, str, str] | None:
        """The tmux server that was last seen: its process, its socket and its program; None where none is known."""
        found = self.rows("SELECT value FROM fleet WHERE key = 'server'")
        return column.value(_server, found[0]["value"]) if found else None

    def remember_server(self, server: Identity, socket: str, tmux: str) -> None:
        self.put("server", {**server.to_json(), "socket": socket, "tmux": tmux})

    def put(self, key: str, value: Any) -> None:
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO fleet (key, value) VALUES (?, ?)", (key, json.dumps(value)))

    # The log

    def log(self, session: str, kind: str, data: Json) -> None:
        """Write down what happened to a session."""
        with self.transaction() as db:
            db.execute(
                "INSERT INTO log (session, at, kind, data) VALUES (?, ?, ?, ?)",
                (session, now(), kind, json.dumps(self.signed(data))),
            )

    def signed(self, data: Json) -> Json:
        """The same facts, with in whose name they are written."""
        by = BY.get()
        return {"by": by, **data} if by else data

    def history(self, session: str, limit: int = 100) -> list[Json]:
        """Give the last ``limit`` entries as ``{session, at, kind, data}``, oldest first."""
        found = self.rows("SELECT * FROM log WHERE session = ? ORDER BY row DESC LIMIT ?", (session, limit))
        return [
            {
                "session": row["session"],
                "at": column.moment(row["at"]),
                "kind": column.text(row["kind"]),
                "data": column.table(row["data"]) or {},
            }
            for row in reversed(found)
        ]

    def purge(self, older_than_days: float = 30) -> int:
        """Remove log entries and ended sessions of more than that age, from the disk too. Give their number."""
        before = stamp(time.time() - older_than_days * DAY_S)
        with self.transaction() as db:
            removed = db.execute("DELETE FROM log WHERE at < ?", (before,)).rowcount
            removed += db.execute("DELETE FROM sessions WHERE ended_at < ?", (before,)).rowcount
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed


def _record(row: sqlite3.Row) -> Record:
    spec = column.value(Spec.from_json, row["spec"])
    return Record(
        spec=spec if spec and spec.id == row["id"] else Spec.unread(row["id"]),
        epoch=column.number(row["epoch"]),
        state=column.value(_state, row["state"]) or {},
        server=column.value(Identity.from_json, row["server"]),
        pane=column.text(row["pane"]),
        ended_at=column.moment(row["ended_at"]),
        ended_reason=column.text(row["ended_reason"]),
    )


def _state(found: Json) -> Json:
    """What was last seen of a session, where all of that is what it should be."""
    Identity.from_json(found.get("root"))
    since = found.get("since", now())
    return found if isinstance(found["state"], str) and column.moment(since) == since else {}


def _server(found: Json) -> tuple[Identity, str, str] | None:
    server = Identity.from_json(found)
    return (server, str(found["socket"]), str(found["tmux"])) if server else None
