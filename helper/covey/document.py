"""What a person, or an agent, wrote into a small file: read whole and at once, or told why not.

Only regular files of a sensible size are read: a pipe, a device or a gigabyte would keep everybody waiting.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

MOST = 1 << 16  # bytes of a file of settings


class Unreadable(Exception):
    """Why a file cannot be read; to be said behind its name."""


def data(path: Path, most: int = MOST) -> bytes:
    """All bytes of the file. Raises ``Unreadable`` for one that is none, is no file, or holds more than ``most``."""
    found = head(path, most + 1)
    if len(found) > most:
        raise Unreadable(f"it holds more than {_size(most)}")
    return found


def head(path: Path, most: int) -> bytes:
    """The first bytes of the file, at most so many. Raises ``Unreadable``."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a device may already do something
            raise Unreadable("it is no regular file")
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:  # the latter for a NUL in its name
        raise Unreadable(os.strerror(getattr(error, "errno", None) or errno.EINVAL)) from error


def text(path: Path, most: int = MOST) -> str:
    """All of the file as text. Raises ``Unreadable``."""
    try:
        return data(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8 text") from error


def toml(written: str) -> dict[str, Any]:
    """The table that a TOML text describes. Raises ``Unreadable``, with line and column."""
    try:
        return tomllib.loads(written)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"it is not TOML: {error}") from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error


def place(path: Path, written: str, key: str) -> str:
    """Where ``key`` stands in a file with that text: ``PATH, line N``; the path alone, where that cannot be told."""
    line = line_of(written, key)
    return f"{path}, line {line}" if line else str(path)


def line_of(written: str, key: str) -> int | None:
    """The first line that sets the last part of ``key`` (``working[2].match`` -> the third ``[[working]]``)."""
    found = re.match(r"(\w+)\[(\d+)\]", key)
    rows = written.split("\n")
    start = _nth_header(rows, found.group(1), int(found.group(2))) if found else 0
    leaf = re.escape(re.sub(r"\[\d+\]$", "", key.rsplit(".", 1)[-1]))
    for number, row in enumerate(rows[start:], start + 1):
        if re.match(rf"\s*(\[+\s*)?([\w.]+\.)?\"?{leaf}\"?\s*(=|\]|\.)", row):
            return number
    return start + 1 if found else None


def _nth_header(rows: list[str], name: str, index: int) -> int:
    at = [number for number, row in enumerate(rows) if re.match(rf"\s*\[\[\s*{name}\s*\]\]", row)]
    return at[index] if index < len(at) else 0


def _size(most: int) -> str:
    return f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
