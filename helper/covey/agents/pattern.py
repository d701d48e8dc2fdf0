"""Patterns a person may write into a profile: compiled, or refused if they could run away.

Python's matcher backtracks and cannot be stopped once it runs, so what may blow up is kept out: repeats inside a
repeated group, back references, more than one open repeat of a wide class, the same open repeat twice in a row.
Rows are cut before they are matched (``region.py``), so what is left stays in the order of a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

MAX_PATTERN = 300  # characters
WIDE_OPEN = 1  # open repeats of a class that matches nearly anything
OPEN = 5  # open repeats in all
WIDE_BOUNDED = 3
BOUND = 40  # a repeat up to this many times counts as bounded

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[:=!]|\(\?<[=!]|\(\?P<\w+>|.", re.DOTALL)
_REPEAT = re.compile(r"(?:\*|\+|\?|\{(\d*)(,?)(\d*)\})[?+]?")
_WIDE = re.compile(r"\.|\[\^|\\[SDWw]")


class BadPattern(ValueError):
    """The pattern cannot be used; the message says why."""


def compile_pattern(text: str) -> re.Pattern[str]:
    """``text`` compiled, case-sensitive. Raises BadPattern."""
    if len(text) > MAX_PATTERN:
        raise BadPattern(f"the pattern is longer than {MAX_PATTERN} characters")
    try:
        compiled = re.compile(text)
    except re.error as error:
        raise BadPattern(f"the pattern is not a regular expression: {error}") from error
    _refuse_runaway(text)
    return compiled


def _refuse_runaway(text: str) -> None:
    repeats: list[tuple[str, int]] = []
    groups: list[bool] = []  # for each open group: does it hold a repeat or an alternative?
    for atom, most in _atoms(text):
        if atom.startswith("("):
            groups.append(False)
            continue
        varied = groups.pop() if atom == ")" and groups else False
        if most > 1 and varied:
            raise BadPattern("the pattern repeats a group that holds a repeat or an alternative")
        if groups and (most > 1 or atom == "|" or varied):
            groups[-1] = True
        repeats.append((atom, most))
    _refuse_many(repeats)


def _atoms(text: str) -> Iterator[tuple[str, int]]:
    """Each atom of the pattern with how often it is repeated at most; an opening bracket is an atom of its own."""
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None
        atom, at = token.group(), token.end()
        if re.fullmatch(r"\\[1-9]", atom):
            raise BadPattern("the pattern refers back to a group")
        most = 1
        if not atom.startswith("("):
            at, most = _repeat(text, at)
        yield atom, most


def _repeat(text: str, at: int) -> tuple[int, int]:
    """Where the repeat behind an atom ends, and how often it matches at most (1: there is none)."""
    found = _REPEAT.match(text, at)
    if not found:
        return at, 1
    if found.group()[0] in "*+":
        return found.end(), 1_000_000
    if found.group()[0] == "?":
        return found.end(), 1
    low, comma, high = found.groups()
    return found.end(), int(high) if high else (1_000_000 if comma else int(low or 1))


def _refuse_many(repeats: list[tuple[str, int]]) -> None:
    for one, next_one in pairwise(repeats):
        if one == next_one and one[1] > BOUND:
            raise BadPattern(f"the pattern repeats {one[0]} twice in a row")
    repeats = [(atom, most) for atom, most in repeats if most > 1]
    wide = [most for atom, most in repeats if _WIDE.match(atom)]
    if sum(most > BOUND for most in wide) > WIDE_OPEN:
        raise BadPattern("the pattern has more than one open repeat that matches nearly anything; use .{0,40}")
    if sum(most > BOUND for _, most in repeats) > OPEN or len(wide) > WIDE_BOUNDED:
        raise BadPattern("the pattern has too many repeats")
