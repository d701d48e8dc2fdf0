"""Rules of the whole fleet, from ``config.toml`` in covey's configuration directory; no editor can change them.

A value that is wrong is named in one sentence and its default is used: a slip in this file costs nothing else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from covey import document

MOST = {"max_settled": 1000, "history_limit": 1_000_000}


@dataclass(frozen=True, slots=True)
class Settings:
    """The rules as they hold; ``problems`` are sentences for a person."""

    tmux: str = "tmux"  # the program to start the server with
    max_settled: int = 8  # settled sessions that stay open
    history_limit: int = 20_000  # rows of scrollback that a session keeps
    problems: tuple[str, ...] = field(default=())


def read(path: Path) -> Settings:
    """What the file says; the defaults where it is missing or cannot be read."""
    if not os.path.lexists(path):
        return Settings()
    try:
        text = document.text(path)
        given = document.toml(text)
    except document.Unreadable as error:
        return Settings(problems=(f"{path} cannot be read: {error}",))
    wrong = {key: sentence for key, value in given.items() if (sentence := _wrong(key, value))}
    good = {key: value for key, value in given.items() if key not in wrong}
    problems = (f"{document.place(path, text, key)}: {sentence}" for key, sentence in wrong.items())
    return replace(Settings(**good), problems=tuple(problems))


def _wrong(key: str, value: Any) -> str:
    known = {each.name for each in fields(Settings)} - {"problems"}
    if key not in known:
        return f"there is no setting {key!r}; known: {', '.join(sorted(known))}"
    if key == "tmux" and not (isinstance(value, str) and value):
        return "tmux wants the path of a program"
    number = isinstance(value, int) and not isinstance(value, bool)
    if key in MOST and not (number and 0 <= value <= MOST[key]):
        return f"{key} wants a number from 0 to {MOST[key]}"
    return ""
