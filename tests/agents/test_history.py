"""The conversation of an agent that chooses its ids by itself is found in its history, or none is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from author import rollout
from covey.agents.history import find_conversation
from covey.models import Spec
from drawn import CATALOG

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = "01a22bd4-a0ce-7030-9c5b-fe6d58499202", "01a22bd4-b1df-7030-9c5b-0123456789ab"
START = 1_800_000_000.0


def look(agent: str, home: Path, cwd: str = "/project", since: float = START) -> str:
    spec = Spec("ab234567", "x", agent, (agent,), cwd, "2027-01-15T08:00:00.000Z")
    return find_conversation(CATALOG.get(agent), spec, {"HOME": str(home)}, since)


def test_U01_a_conversation_belongs_to_the_directory_it_began_in(tmp_path: Path) -> None:
    rollout(tmp_path, ONE, START + 5)
    rollout(tmp_path, TWO, START + 5, cwd="/elsewhere")
    assert look("codex", tmp_path) == ONE
    assert look("codex", tmp_path, cwd="/elsewhere") == TWO
    assert look("codex", tmp_path, cwd="/moved") == ""


def test_U02_the_id_of_the_newest_start_is_read_back(tmp_path: Path) -> None:
    rollout(tmp_path, ONE, at=START + 5)
    rollout(tmp_path, TWO, at=START + 50)
    assert look("codex", tmp_path, since=START + 40) == TWO


def test_an_older_one_is_not_ours(tmp_path: Path) -> None:
    rollout(tmp_path, ONE, at=START - 60)
    assert look("codex", tmp_path) == ""


def test_of_two_that_fit_none_is_taken(tmp_path: Path) -> None:
    rollout(tmp_path, ONE, START + 5)
    rollout(tmp_path, TWO, START + 5)
    assert look("codex", tmp_path) == ""


def test_without_any_history_none_is_found(tmp_path: Path) -> None:
    assert look("codex", tmp_path) == ""
    assert look("opencode", tmp_path) == ""
    assert look("aider", tmp_path) == ""


def database(home: Path, *rows: tuple[str, str, float, str | None]) -> None:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE session (id TEXT, directory TEXT, time_created INTEGER, parent_id TEXT)")
        base.executemany("INSERT INTO session VALUES (?, ?, ?, ?)", [(a, b, int(c * 1000), d) for a, b, c, d in rows])


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([("ses_one", "/project", START + 5, None), ("ses_two", "/else", START + 5, None)], "ses_one"),
        ([("ses_one", "/project", START + 5, None), ("ses_kid", "/project", START + 6, "ses_one")], "ses_one"),
        ([("ses_one", "/project", START - 60, None)], ""),
        ([("ses_one", "/project", START + 5, None), ("ses_two", "/project", START + 9, None)], ""),
    ],
    ids=["directory", "child", "older", "two"],
)
def test_a_database_is_asked(tmp_path: Path, rows: list[tuple[str, str, float, str | None]], wanted: str) -> None:
    database(tmp_path, *rows)
    assert look("opencode", tmp_path) == wanted
