"""Rules of the whole fleet, from ``config.toml`` in covey's configuration directory; no editor can change them.

A value that is wrong is named in one sentence and its default is used: a slip in this file costs nothing else.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

SETTLED_MOST = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """``tmux``: the program to start the server with. ``max_settled``: settled sessions that stay open.

    ``problems`` are sentences for a person.
    """

    tmux: str = "tmux"
    max_settled: int = 8
    problems: tuple[str, ...] = field(default=())


def read(path: Path) -> Settings:
    """What the file says; the defaults where it is missing or cannot be read."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return Settings(problems=(f"{path} cannot be read: {error}",))
    wrong = tuple(f"{path}: {sentence}" for key, value in given.items() if (sentence := _wrong(key, value)))
    good = {key: value for key, value in given.items() if not _wrong(key, value)}
    return replace(Settings(**good), problems=wrong)


def _wrong(key: str, value: Any) -> str:
    known = {each.name for each in fields(Settings)} - {"problems"}
    if key not in known:
        return f"there is no setting {key!r}; known: {', '.join(sorted(known))}"
    if key == "tmux" and not (isinstance(value, str) and value):
        return "tmux wants the path of a program"
    number = isinstance(value, int) and not isinstance(value, bool)
    if key == "max_settled" and not (number and 0 <= value <= SETTLED_MOST):
        return f"max_settled wants a number from 0 to {SETTLED_MOST}"
    return ""
