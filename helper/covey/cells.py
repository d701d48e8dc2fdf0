"""How many cells text takes on a terminal, and how it is cut to fit. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import category, east_asian_width

TAB = "    "
NO_WIDTH = frozenset({"Mn", "Me", "Cf"})  # combining marks, joiners, variation selectors
CARETS = {code: "^" + chr(code ^ 0x40) for code in (*range(0x0A), *range(0x0B, 0x20), 0x7F)}
NOT_TEXT = dict.fromkeys((*range(0x80, 0xA0), *range(0xDC80, 0xDD00)), "\N{REPLACEMENT CHARACTER}")
VISIBLE = CARETS | NOT_TEXT  # C0; C1 and bytes that are no UTF-8


def width(text: str) -> int:
    """Cells of one row of drawable text (see ``drawable``)."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def drawable(text: str) -> str:
    """The same text with nothing in it that would move the cursor, but its line feeds."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB)
    return text if text.isprintable() else text.translate(VISIBLE)


def clip(text: str, cells: int) -> str:
    """As much of the start of one row as fits, ``…`` for the rest."""
    if width(text) <= cells:
        return text
    return next(wrap(text, max(cells - 1, 1))) + "…" if cells > 1 else "…"[:cells]


def wrap(row: str, cells: int) -> Iterator[str]:
    """Cut one row into rows that fit; a wide character is never halved, an empty row is one row."""
    piece: list[str] = []
    used = 0
    for char in row:
        cell = _cell(char)
        if piece and used + cell > cells:
            yield "".join(piece)
            piece, used = [], 0
        piece.append(char)
        used += cell
    yield "".join(piece)


def is_joined(char: str) -> bool:
    """Whether the character sits in the cell of the one before it."""
    return _cell(char) == 0


def _cell(char: str) -> int:
    if char.isascii():
        return 1
    if category(char) in NO_WIDTH:
        return 0
    return 2 if east_asian_width(char) in "WF" else 1
