"""The store's file (SQLite): opened, held for writing, set aside when it is damaged, read where nothing can be written.

Every call is one short transaction, on disk when it returns (WAL, synchronous=FULL), and may come from any thread of
any number of processes. A file that cannot be used is never overwritten: one that is corrupt is set aside under
another name, one that only a newer covey may touch is refused; both raise ``StoreBroken``, and after the first the
next call begins a fresh file. Where nothing can be written (``StoreShut``) what was written before is read all the
same.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from covey import column, paths, schema
from covey.errors import StoreBroken, StoreBusy, StoreShut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

BUSY_S = 5.0  # how long another process may keep the file locked
RETRY_S = 0.005
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
SHUT = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
MISMADE = "It was not made by this covey: move it away, and a fresh one is begun; sessions are found again from tmux."
OPENING = threading.Lock()  # closing any descriptor of a file drops all fcntl locks this process has on it


class Database:
    """The file at ``path``; its directory is made where it is missing. One connection, handed round by a lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._shut = ""  # why it could only be opened to be read
        self.trouble: StoreBroken | None = None  # why something is not written down that was done
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

    def attempt(self, write: Callable[..., T], *args: Any) -> T | None:
        """Write down what is so already. Where that cannot be, ``trouble`` says why, and it is taken as it is."""
        try:
            return write(*args)
        except (StoreBusy, StoreShut) as error:
            self.trouble = error
            return None

    def version(self) -> tuple[object, ...]:
        """What is another value once anybody wrote anything; where that cannot be told, each time."""
        with self._connected() as db:
            if self._shut:
                return (object(),)
            return self._inode, schema.pragma(db, "data_version"), db.total_changes

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the file for writing: all that is done in the block, by this thread, is on disk after it, or nothing."""
        with self._connected() as db:
            if db.in_transaction:  # a part of a greater one: the lock is this thread's
                yield db
                return
            if self._shut:
                raise self._closed(self._shut)
            db.execute("BEGIN IMMEDIATE")
            try:
                self._refuse_newer(db)  # a newer covey may have changed the file while it was open here
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db is self._connection and db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            self.trouble = None

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        with self._connected() as db:
            return db.execute(query, values).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._current()
            except sqlite3.OperationalError as error:
                raise self._explained(error) from error
            except sqlite3.DatabaseError as error:
                if _code(error) not in DAMAGED:
                    raise
                raise self._set_aside(error) from error

    def _explained(self, error: sqlite3.OperationalError) -> StoreBroken:
        if _code(error) == sqlite3.SQLITE_BUSY:
            sentence = f"The store {self.path} has been kept locked by another program for {BUSY_S:g} s"
            return StoreBusy(sentence, "End that program's transaction, then try again.", str(self.path))
        if _code(error) in SHUT:
            return self._closed(str(error))
        hint = MISMADE if str(error).startswith("no such ") else ""
        return StoreBroken(f"The store {self.path} cannot be used: {error}", hint, str(self.path))

    def _closed(self, reason: str) -> StoreShut:
        sentence = f"Nothing can be written into the store {self.path} ({reason})"
        return StoreShut(sentence, paths.no_room(self.path.parent), str(self.path))

    def _current(self) -> sqlite3.Connection:
        """Give the connection to the file that bears the name now: another covey may have set ours aside.

        One that can only read is good for one call: by the next there may be room again.
        """
        if self._connection is not None and self._connection.in_transaction:
            return self._connection
        if self._connection is None or not self._ready or self._inode != paths.inode(self.path):
            self.close()
            with OPENING:
                self._connection = self._open()
            try:
                self._prepare(self._connection)
                self._ready, self._shut = True, ""
            except sqlite3.OperationalError as error:
                if _code(error) not in SHUT:
                    raise
                self._connection.close()
                self._shut = str(error)
                self._connection = self._as_it_lies(error)
        return self._connection

    def _as_it_lies(self, error: sqlite3.OperationalError) -> sqlite3.Connection:
        """Give a connection that needs not a byte of room to read, where there is something to be read."""
        db = self._connect(f"{self.path.absolute().as_uri()}?immutable=1")
        if not schema.pragma(db, "user_version"):
            raise error
        self._refuse_newer(db)
        return db

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
        return self._connect(self.path.absolute().as_uri())

    @staticmethod
    def _connect(uri: str) -> sqlite3.Connection:
        db = sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        db.row_factory = sqlite3.Row
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        self._refuse_newer(db)
        if schema.pragma(db, "user_version") < schema.VERSION or schema.pragma(db, "journal_mode") != "wal":
            with _directory_lock(self.path.parent):
                db.execute("PRAGMA journal_mode = WAL")
                schema.migrate(db)

    def _refuse_newer(self, db: sqlite3.Connection) -> None:
        if schema.pragma(db, "user_version") <= schema.VERSION:
            return
        found = db.execute("SELECT value FROM meta WHERE key = 'min_reader'").fetchone()
        if found and column.number(found["value"]) > schema.VERSION:
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


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 where Python itself found the mistake."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


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
