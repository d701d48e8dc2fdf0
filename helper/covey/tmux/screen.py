"""What a pane shows, as rows.

``capture-pane -p -e`` is read into plain text, and into the same text without what is only a hint (dim or grey:
placeholders, suggestions).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

# One escape sequence: CSI; OSC and other strings up to ST or BEL; charset selection; or a lone escape.
_ESCAPE = re.compile(
    r"\x1b(?:\[([0-9;:<=>?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|[ -/]+[0-~]|[0-~])?", re.DOTALL
)
_SHIFT_OUT, _SHIFT_IN = "\x0e", "\x0f"
# tmux writes line drawing as SO letters SI where the terminal it believes in has no Unicode (VT100 graphics set).
_GRAPHICS = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
_GREY_LOW, _GREY_HIGH = 80, 185  # of 255: what themes use for hints, on dark and on light ground
_GREY_TINT = 0.3  # how far from neutral a grey may be
_BRIGHT_BLACK = 90
_EXTENDED = 38
_SIXTEEN, _CUBE_END = 16, 232
_CUBE_LEVELS = (0, 95, 135, 175, 215, 255)


@dataclass(frozen=True, slots=True)
class Screen:
    """The rows of a pane from top to bottom, blanks at their right ends cut.

    ``bright`` has the same rows with every dim or grey character replaced by a blank. ``marks`` has for each row
    the spans (start, end) whose background differs from the rest of their row: what a menu without a pointer
    highlights. ``cols`` is the pane's width in cells, 0 where it is not known. ``coloured``: its program uses colours,
    so that what is a hint is dim.
    """

    lines: tuple[str, ...]
    bright: tuple[str, ...]
    cols: int = 0
    marks: tuple[tuple[tuple[int, int], ...], ...] = ()
    coloured: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @classmethod
    def plain(cls, text: str, cols: int = 0) -> Screen:
        """A screen from a capture without colours: nothing is known to be a hint."""
        lines = tuple(row.rstrip() for row in _rows(text))
        return cls(lines, lines, cols, ((),) * len(lines))


@dataclass(slots=True)
class _Pen:
    """The attributes in force. They carry over from row to row: tmux <= 3.3a resets only what changes."""

    dim: bool = False
    grey: bool = False
    inverse: bool = False
    underline: bool = False
    ground: str = ""
    graphics: bool = False

    def reset(self) -> None:
        self.dim = self.grey = self.inverse = self.underline = False
        self.ground = ""


@dataclass(frozen=True, slots=True)
class _Cell:
    char: str
    hint: bool
    cursor: bool
    ground: str


def parse(ansi: str, cols: int) -> Screen:
    """The screen that ``capture-pane -p -e`` wrote as ``ansi`` for a pane ``cols`` wide. Never raises."""
    pen: tuple[Any, ...] = astuple(_Pen())
    rows = []
    for raw in _rows(ansi):
        row, pen = _read(raw, pen)
        rows.append(row)
    return Screen(
        tuple(row.plain for row in rows),
        tuple(row.bright for row in rows),
        cols,
        tuple(row.marks for row in rows),
        "\x1b[" in ansi,
    )


class _Row(NamedTuple):
    plain: str
    bright: str
    marks: tuple[tuple[int, int], ...]


@lru_cache(maxsize=2048)
def _read(raw: str, before: tuple[Any, ...]) -> tuple[_Row, tuple[Any, ...]]:
    """One row and the pen after it. From look to look most rows of a screen stay as they were."""
    pen = _Pen(*before)
    cells = list(_cells(raw, pen))
    return _Row("".join(cell.char for cell in cells).rstrip(), _bright(cells), _marks(cells)), astuple(pen)


def _rows(text: str) -> list[str]:
    rows = text.replace("\r", "").split("\n")
    return rows[:-1] if rows[-1] == "" else rows


def _cells(row: str, pen: _Pen) -> Iterator[_Cell]:
    at = 0
    while at < len(row):
        char = row[at]
        if char == "\x1b":
            found = _ESCAPE.match(row, at)
            assert found is not None
            if found.group(2) == "m":
                _apply(pen, found.group(1))
            at = found.end()
            continue
        at += 1
        if char in (_SHIFT_OUT, _SHIFT_IN):
            pen.graphics = char == _SHIFT_OUT
        elif char >= " " and char != "\x7f":
            yield _cell(char, pen)


def _cell(char: str, pen: _Pen) -> _Cell:
    shown = char.translate(_GRAPHICS) if pen.graphics else char
    ground = "inverse" if pen.inverse else pen.ground
    return _Cell(shown, pen.dim or pen.grey, pen.inverse or pen.underline, ground)


def _bright(row: list[_Cell]) -> str:
    """The row without hints. A cursor drawn on the first letter of a hint belongs to the hint."""
    shown = [
        " " if cell.hint or (_is_cursor(row, at) and row[at + 1].hint) else cell.char for at, cell in enumerate(row)
    ]
    return "".join(shown).rstrip()


def _is_cursor(row: list[_Cell], at: int) -> bool:
    """One cell, not the last, that looks unlike both its neighbours: inverse, underlined or on another ground."""
    if at + 1 >= len(row):
        return False
    beside = [row[at + 1], *row[max(0, at - 1) : at]]
    lone_mark = row[at].cursor and not any(cell.cursor for cell in beside)
    lone_ground = bool(row[at].ground) and all(cell.ground != row[at].ground for cell in beside)
    return lone_mark or lone_ground


def _marks(row: list[_Cell]) -> tuple[tuple[int, int], ...]:
    grounds = [cell.ground for cell in row]
    if len(set(grounds)) < 2:  # noqa: PLR2004 - two grounds make a difference
        return ()
    usual = max(sorted(set(grounds)), key=grounds.count)
    spans: list[tuple[int, int]] = []
    for at, ground in enumerate(grounds):
        if ground == usual:
            continue
        if spans and spans[-1][1] == at and grounds[at - 1] == ground:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return tuple(spans)


def _apply(pen: _Pen, body: str) -> None:
    codes = [int(code) if code.isdigit() else 0 for code in re.split("[;:]", body)]
    at = 0
    while at < len(codes):
        code = codes[at]
        if code in (_EXTENDED, 48, 58):
            at = _extended(pen, codes, at)
            continue
        _simple(pen, code)
        at += 1


def _simple(pen: _Pen, code: int) -> None:
    match code:
        case 0:
            pen.reset()
        case 2:
            pen.dim = True
        case 22:
            pen.dim = False
        case 4 | 24:
            pen.underline = code == 4  # noqa: PLR2004 - SGR numbers are their own names
        case 7 | 27:
            pen.inverse = code == 7  # noqa: PLR2004
        case _ if 30 <= code <= 39 or 90 <= code <= 97:  # noqa: PLR2004
            pen.grey = code == _BRIGHT_BLACK
        case _ if 40 <= code <= 47 or 100 <= code <= 107:  # noqa: PLR2004
            pen.ground = str(code)
        case 49:
            pen.ground = ""


def _extended(pen: _Pen, codes: list[int], at: int) -> int:
    """Applies ``38;5;N`` or ``38;2;R;G;B`` (48 and 58 alike) and says where the next code stands."""
    which, rest = codes[at], codes[at + 1 :]
    if rest[:1] == [5] and len(rest) > 1:
        colour, used = _palette(rest[1]), 3
    elif rest[:1] == [2] and len(rest) > 3:  # noqa: PLR2004
        colour, used = (rest[1], rest[2], rest[3]), 5
    else:
        return len(codes)
    if which == _EXTENDED:
        pen.grey = _is_grey(colour)
    elif which == 48:  # noqa: PLR2004
        pen.ground = str(colour)
    return at + used


def _palette(number: int) -> tuple[int, int, int]:
    """The colour of xterm's palette; the first sixteen belong to the theme, of which only 8 is known to be grey."""
    if number < _SIXTEEN:
        return (128, 128, 128) if number == 8 else (255, 255, 255 - number)  # noqa: PLR2004
    if number >= _CUBE_END:
        level = 8 + 10 * (number - _CUBE_END)
        return level, level, level
    index = number - _SIXTEEN
    return _CUBE_LEVELS[index // 36], _CUBE_LEVELS[index // 6 % 6], _CUBE_LEVELS[index % 6]


def _is_grey(colour: tuple[int, int, int]) -> bool:
    high, low = max(colour), min(colour)
    return _GREY_LOW <= high <= _GREY_HIGH and high - low <= _GREY_TINT * high
