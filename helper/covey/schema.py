"""The form of the store's file, and how a file of an older covey gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

MIN_READER = 1  # the oldest version that may use a file of ours
MIGRATIONS = (  # each takes a file one version up; they add, and change nothing that an older covey reads
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL)",
        "CREATE TABLE fleet (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY, spec TEXT NOT NULL, epoch INTEGER NOT NULL, state TEXT NOT NULL DEFAULT '{}',
            server TEXT NOT NULL DEFAULT 'null', pane TEXT NOT NULL DEFAULT '', ended_at TEXT, ended_reason TEXT)""",
        """CREATE TABLE tickets (
            row INTEGER PRIMARY KEY AUTOINCREMENT, act TEXT NOT NULL UNIQUE, asked BLOB NOT NULL,
            session TEXT NOT NULL, epoch INTEGER NOT NULL, kind TEXT NOT NULL, text BLOB NOT NULL,
            options TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', writer TEXT NOT NULL,
            typer TEXT, created TEXT NOT NULL, settled TEXT, stripped INTEGER NOT NULL DEFAULT 0)""",
        "CREATE INDEX waiting ON tickets (session, row) WHERE outcome IN ('queued', 'held')",
        """CREATE TABLE log (
            row INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
            data TEXT NOT NULL)""",
        "CREATE INDEX history ON log (session, row)",
    ),
)
VERSION = len(MIGRATIONS)


def pragma(db: sqlite3.Connection, name: str) -> Any:
    return db.execute(f"PRAGMA {name}").fetchone()[0]


def migrate(db: sqlite3.Connection) -> None:
    """Bring the file up to VERSION; one that is there or beyond stays as it is."""
    db.execute("BEGIN IMMEDIATE")
    for steps in MIGRATIONS[pragma(db, "user_version") :]:
        for step in steps:
            db.execute(step)
    if pragma(db, "user_version") < VERSION:
        db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('min_reader', ?)", (MIN_READER,))
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")
