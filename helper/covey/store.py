"""What must outlive tmux: specs, tickets, receipts and the log, in one SQLite file.

Every call is one short transaction, on disk when it returns (WAL, synchronous=FULL), and may come from any thread of
any number of processes. A file that cannot be used is never overwritten: one that is corrupt is set aside under
another name, one that only a newer covey may touch is refused; both raise ``StoreBroken``, and after the first the
next call begins a fresh file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey import column, paths, schema
from covey.errors import StoreBroken, StoreBusy
from covey.models import Identity, Json, Spec, now, stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_S = 5.0  # how long another process may keep the file locked
RETRY_S = 0.005
DAY_S = 86_400
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
OPENING = threading.Lock()  # closing any descriptor of a file drops all fcntl locks this process has on it


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


class Store:
    """The file at ``path``; its directory is made where it is missing. One connection, handed round by a lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by: Json = {}  # in whose name the log is written
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None
        self._ready = False
        with self._connected():
            pass

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._ready = False

    def version(self) -> tuple[object, ...]:
        """What is another value once anybody wrote anything."""
        with self._connected() as db:
            return self._inode, schema.pragma(db, "data_version"), db.total_changes

    # Sessions

    def save_session(self, spec: Spec, epoch: int) -> None:
        """Write down a session that lives. What an older epoch has to say changes nothing."""
        with self.transaction() as db:
            db.execute(
                "INSERT INTO sessions (id, spec, epoch) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                " spec = excluded.spec, epoch = excluded.epoch, ended_at = NULL, ended_reason = NULL"
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
        return {"by": self.by, **data} if self.by else data

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

    # The file

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the file for writing: all that is done in the block, by this thread, is on disk after it, or nothing."""
        with self._connected() as db:
            if db.in_transaction:  # a part of a greater one: the lock is this thread's
                yield db
                return
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        with self._connected() as db:
            return db.execute(query, values).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._current()
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                    sentence = f"The store {self.path} has been kept locked by another program for {BUSY_S:g} s"
                    raise StoreBusy(
                        sentence, "End that program's transaction, then try again.", str(self.path)
                    ) from error
                hint = paths.fullness(self.path.parent)
                raise StoreBroken(f"The store {self.path} cannot be used: {error}", hint, str(self.path)) from error
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGED:
                    raise
                raise self._set_aside(error) from error

    def _current(self) -> sqlite3.Connection:
        """Give the connection to the file that bears the name now: another covey may have set ours aside."""
        if self._connection is None or not self._ready or self._inode != paths.inode(self.path):
            self.close()
            with OPENING:
                self._connection = self._open()
            self._prepare(self._connection)
            self._ready = True
        return self._connection

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(mode=paths.PRIVATE, parents=True, exist_ok=True)
            paths.claim_file(self.path)
        except OSError as error:
            sentence = f"The store {self.path} cannot be opened: {error.strerror}"
            raise StoreBroken(sentence, path=str(self.path)) from error
        if kind := paths.network_kind(self.path.parent):
            sentence = f"The store {self.path} lies on a network file system ({kind}), where it would be damaged"
            raise StoreBroken(sentence, "Set XDG_STATE_HOME to a local directory.", path=str(self.path))
        self._inode = paths.inode(self.path)
        return sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)

    def _prepare(self, db: sqlite3.Connection) -> None:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        version = schema.pragma(db, "user_version")
        if version:
            self._refuse_newer(db)
        if version < schema.VERSION or schema.pragma(db, "journal_mode") != "wal":
            with _directory_lock(self.path.parent):
                db.execute("PRAGMA journal_mode = WAL")
                schema.migrate(db)

    def _refuse_newer(self, db: sqlite3.Connection) -> None:
        (least,) = db.execute("SELECT value FROM meta WHERE key = 'min_reader'").fetchone()
        if least > schema.VERSION:
            self.close()
            sentence = f"The store {self.path} was written by a newer covey and was left as it is"
            raise StoreBroken(sentence, "Update covey.", path=str(self.path))

    def _set_aside(self, error: sqlite3.DatabaseError) -> StoreBroken:
        """Rename the file with its companions, unless another covey did; give the error that says so."""
        aside = ""
        with _directory_lock(self.path.parent):
            if self._inode == paths.inode(self.path):
                aside = str(paths.set_aside(self.path, ("-wal", "-shm")))
        self.close()  # only now: SQLite writes nothing into a file that was moved
        where = f"lies in {aside} now" if aside else "was set aside already"
        return StoreBroken(
            f"The store {self.path} is damaged ({error}) and {where}",
            "Sessions are found again from tmux; prompts that waited are in the damaged file.",
            path=str(self.path),
            aside=aside,
        )


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
    datetime.fromisoformat(found.get("since", column.EARLIEST))
    Identity.from_json(found.get("root"))
    return found if isinstance(found["state"], str) else {}


def _server(found: Json) -> tuple[Identity, str, str] | None:
    server = Identity.from_json(found)
    return (server, str(found["socket"]), str(found["tmux"])) if server else None


@contextmanager
def _directory_lock(directory: Path) -> Iterator[None]:
    """Be the only one that gives the store its form or takes it away."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        until = time.monotonic() + BUSY_S
        while not paths.try_lock(handle):
            if time.monotonic() > until:
                raise StoreBroken(f"Another covey has kept {directory} locked for {BUSY_S:.0f} s", path=str(directory))
            time.sleep(RETRY_S)
        yield
    finally:
        os.close(handle)
