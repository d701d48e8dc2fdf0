"""A question at the bottom of a screen, found by its shape.

Options with one of them pointed at, a row of choices, or a ``(Y)es/(N)o`` that waits. Words are looked at only where
the shape alone could be an ordinary list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from covey.tmux.screen import Screen

REACH = 40  # rows that are not blank, counted from the bottom
FOOT = 6  # rows that may stand below the options
MAX_OPTIONS = 30
QUESTION_REACH = 14  # rows above the options in which their question is looked for
MAX_QUESTION = 200  # characters
FULL = 0.5  # of the longest row: a shorter row above did not wrap into the question below it
_NEAR = 8  # rows a wrapped option may take
_ASKING_ROWS = 3  # rows a wrapped yes/no question may take

_EDGE = re.compile(r"^[\s│┃|║▌]+|[\s│┃|║▐█]+$")
_RULED = re.compile(r"^[\s─━═╌┄▔▁╭╮╰╯┌┐└┘├┤│┃▀▄▐▌█╹╻]*$")
_POINTER = r"[❯›▶►●◉◆→⏵»>]"
_NUMBERED = re.compile(rf"^(\s*)({_POINTER}\s*)?(?:\[[ x✓✔]\]\s*)?(\d{{1,2}})[.)]\s+(\S.*)$")
_POINTED = re.compile(rf"^(\s*)({_POINTER})\s{{1,3}}(\S.*)$")
_ACCEPT = r"\b(?:enter|return)\b\W{0,3}(?:to )?(?:confirm|select|continue|submit|accept|choose|toggle|approve|open)"
_ACCEPTING = re.compile(rf"(?i){_ACCEPT}")
_HINT = re.compile(
    rf"(?i){_ACCEPT}"
    r"|\besc(?:ape)?\b\W{0,3}(?:to )?(?:cancel|back|go back|exit|dismiss|reject|close|quit|stop)"
    r"|↑\W{0,3}↓|⇆\W{0,3}(?:tab|select)|\barrow keys\b|\btab to amend\b"
)
_HINT_ROW = re.compile(r"(?i)^\W{0,3}(?:press |use )?(?:enter|return|esc|tab|space|↑|⇆)")
_WAITING = re.compile(r"(?i)waiting for (?:user )?(?:confirm|approv|your (?:answer|approv))")
_YES_NO = re.compile(
    r"(?i)(?:\(y\)es/\(n\)o\S{0,6}(?:[^.]{0,40})|[\[(](?:y/n|yes/no|y/n/\w{1,8})[\])](?:\s*\([^)]{1,20}\))?)"
    r"\s*(?:\[\w{1,5}\])?\s*[:?>]?\s*$"
)
_ROW_CHOICE = re.compile(r"(?i)^(?:allow|deny|reject|approve|accept|yes|no|cancel|confirm|skip|always|once|trust)\b")
_QUESTION_MARK = re.compile(r"\?(?=\s|$)")  # not one inside an address
_LETTERS = re.compile(r"\((\w)\)([\w' ]*)")


@dataclass(frozen=True, slots=True)
class Option:
    """One answer. ``key`` chooses it when typed (a digit, a letter); '' where only moving and Enter does."""

    label: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Dialog:
    """A question that waits. ``selected`` is the index of the option that Enter would take, None if not seen.

    ``row`` and ``end`` are the rows of the screen its options take.
    """

    question: str
    options: tuple[Option, ...]
    selected: int | None
    row: int = 0
    end: int = 0


def find(screen: Screen, start: int = 0, *, typed: bool = False) -> Dialog | None:
    """The dialog in the rows from ``start`` to the bottom, or None.

    ``typed``: the last row is one that a person types, so a question that ends there is no agent's.
    """
    rows = [_EDGE.sub("", row) if _RULED.match(row) is None else "" for row in screen.lines]
    filled = [at for at in range(start, len(rows)) if rows[at].strip()][-REACH:]
    if not filled:
        return None
    shapes = (_yes_no, _numbered, _row_of_choices, _pointed)
    for shape in shapes[1:] if typed else shapes:
        found = shape(screen, rows, filled)
        if found:
            return found
    return None


def block(screen: Screen, at: int) -> int:
    """The first row of the options that the row ``at`` is one of; ``at`` where it is none.

    A composer that is a line with a pointer looks like the option that is pointed at.
    """
    if _NUMBERED.match(_indent(screen, at)):
        while at > 0 and screen.lines[at - 1].strip():
            at -= 1
    return at


def hint(rows: list[str]) -> str | None:
    """The last of ``rows`` if it is nothing but a hint how to answer; it may have wrapped once, or have a frame."""
    rows = [row for row in rows if not _RULED.match(row)]
    for text in (" ".join(row.strip() for row in rows[-2:]), rows[-1].strip() if rows else ""):
        bare = _EDGE.sub("", text)
        if _HINT_ROW.match(bare) and _ACCEPTING.search(bare):
            return bare
    return None


def _indent(screen: Screen, at: int) -> str:
    """The row with its frame blanked, so that columns still mean something."""
    return re.sub(r"[│┃║▌|]", " ", screen.lines[at])


def _below(rows: list[str], end: int) -> tuple[int, str]:
    """How many rows with text stand below ``end``, and that text."""
    rest = [row.strip() for row in rows[end + 1 :] if row.strip()]
    return len(rest), " ".join(rest)


def _question(rows: list[str], first: int) -> str:
    """The nearest paragraph above the options that asks, up to its question mark; else the nearest paragraph."""
    nearest = ""
    at = first
    while at > max(0, first - QUESTION_REACH):
        text, at = _paragraph(rows, at)
        nearest = nearest or text
        marks = [mark.start() for mark in _QUESTION_MARK.finditer(text)]
        if marks:
            return text[: marks[-1] + 1][-MAX_QUESTION:]
    return nearest[-MAX_QUESTION:]


def _paragraph(rows: list[str], end: int) -> tuple[str, int]:
    """The rows of text right above ``end``, joined where they wrapped, and where they start."""
    at = end - 1
    while at > 0 and not rows[at].strip():
        at -= 1
    text = rows[at].strip() if at >= 0 else ""
    full = max((len(row.rstrip()) for row in rows), default=0) * FULL
    while at > 0 and len(rows[at - 1].rstrip()) >= full and not rows[at - 1].rstrip().endswith((".", ":", "?")):
        at -= 1
        text = f"{rows[at].strip()} {text}"
    return text, at


def _yes_no(screen: Screen, rows: list[str], filled: list[int]) -> Dialog | None:
    del screen
    last = filled[-1]
    tail = " ".join(rows[at].strip() for at in filled[-_ASKING_ROWS:])
    found = _YES_NO.search(tail)
    if not found or not _YES_NO.search(" ".join(rows[at].strip() for at in filled[-2:])):
        return None
    letters = _LETTERS.findall(found.group())
    options = [Option(f"{key}{rest}".strip(), key.lower()) for key, rest in letters]
    options = options or [Option("Yes", "y"), Option("No", "n")]
    return Dialog(tail[: found.start()].strip(), tuple(options), None, last, last)


def _numbered(screen: Screen, rows: list[str], filled: list[int]) -> Dialog | None:
    """Options 1, 2, … in order, one of them with a pointer; nothing of weight below them but a hint.

    Without a hint nothing at all, and they begin as answers do.
    """
    found = [(at, match) for at in filled if (match := _NUMBERED.match(_indent(screen, at).rstrip()))]
    block = _run(found)
    if len(block) < 2:  # noqa: PLR2004 - one answer is no choice
        return None
    pointed = [index for index, (_, match) in enumerate(block) if match.group(2)]
    first, last = block[0][0], block[-1][0]
    end = _wrapped(screen, rows, last)
    count, below = _below(rows, end)
    options = [Option(_label(rows, block, index, end), block[index][1].group(3)) for index in range(len(block))]
    asks = _closes(count, [option.label for option in options]) or _asks(screen, rows, first, end, below)
    if len(pointed) != 1 or count > FOOT or not asks:
        return None
    return Dialog(_question(rows, first), tuple(options), pointed[0], first, end)


def _closes(below: int, labels: list[str]) -> bool:
    """Nothing stands below them, and they begin as answers do."""
    return below == 0 and all(map(_ROW_CHOICE.match, labels))


def _run(found: list[tuple[int, re.Match[str]]]) -> list[tuple[int, re.Match[str]]]:
    """The last run of rows numbered 1, 2, 3 …, close to each other."""
    block: list[tuple[int, re.Match[str]]] = []
    for at, match in reversed(found):
        number = int(match.group(3))
        if block and (number != int(block[0][1].group(3)) - 1 or block[0][0] - at > _NEAR):
            if int(block[0][1].group(3)) == 1:
                break
            block = []
        block.insert(0, (at, match))
        if number == 1 and len(block) > 1:
            break
    return block if block and int(block[0][1].group(3)) == 1 and len(block) <= MAX_OPTIONS else []


def _wrapped(screen: Screen, rows: list[str], last: int) -> int:
    """The last row of the last option: what follows it without a gap, indented, and is no hint."""
    end = last
    for at in range(last + 1, min(len(rows), last + 1 + _NEAR)):
        apart = not rows[at].strip() or not _indent(screen, at).startswith(" ")
        if apart or _HINT.search(rows[at]) or _WAITING.search(rows[at]):
            break
        end = at
    return end


def _asks(screen: Screen, rows: list[str], first: int, end: int, below: str) -> bool:
    """A hint how to answer, or a frame around the options, or words that it waits."""
    inside = " ".join(row.strip() for row in rows[first : end + 1])
    framed = all(re.match(r"\s*[│┃║]", screen.lines[at]) for at in range(first, end + 1))
    escape = re.search(r"(?i)\(esc[^)]{0,12}\)", inside) is not None
    return bool(_HINT.search(below) or _WAITING.search(below) or framed or (escape and not below))


def _label(rows: list[str], block: list[tuple[int, re.Match[str]]], index: int, end: int) -> str:
    at, match = block[index]
    until = block[index + 1][0] if index + 1 < len(block) else end + 1
    rest = [rows[row].strip() for row in range(at + 1, until) if rows[row].strip()]
    return " ".join([_EDGE.sub("", match.group(4)), *rest])


def _row_of_choices(screen: Screen, rows: list[str], filled: list[int]) -> Dialog | None:
    """``Allow once   Allow always   Reject`` in one row near the bottom, one of them highlighted."""
    for at in reversed(filled[-4:]):
        words = [word for word in re.split(r"\s{2,}", rows[at].strip()) if word]
        choices = [word for word in words if _ROW_CHOICE.match(word) and len(word) < 30]  # noqa: PLR2004
        if len(choices) < 2 or words[: len(choices)] != choices:  # noqa: PLR2004
            continue
        marked = [i for i, word in enumerate(choices) if _marked(screen, at, word)]
        rest = " ".join([*words[len(choices) :], _below(rows, at)[1]])
        framed = re.match(r"\s*[│┃║]", screen.lines[at]) is not None
        if framed or marked or _HINT.search(rest):
            selected = marked[0] if len(marked) == 1 else None
            return Dialog(_question(rows, at), tuple(Option(word) for word in choices), selected, at, at)
    return None


def _marked(screen: Screen, at: int, word: str) -> bool:
    start = screen.lines[at].find(word)
    return any(left <= start < right and right - left < len(word) + 6 for left, right in screen.marks[at])


def _pointed(screen: Screen, rows: list[str], filled: list[int]) -> Dialog | None:
    """Options without numbers: one row with a pointer, its neighbours set to the same column.

    Below them is a hint how to answer; or nothing at all, and they begin as answers do.
    """
    for at in reversed(filled):
        match = _POINTED.match(_indent(screen, at).rstrip())
        if not match:
            continue
        column = match.start(3)
        first, end = _column(screen, at, column, -1), _column(screen, at, column, 1)
        count, below = _below(rows, end)
        labels = [rows[row].strip().lstrip("❯›▶►●◉◆→⏵»> ") for row in range(first, end + 1)]
        if first == end or count > FOOT or not (_closes(count, labels) or _ACCEPTING.search(below)):
            return None
        options = [Option(label) for label in labels]
        return Dialog(_question(rows, first), tuple(options), at - first, first, end)
    return None


def _column(screen: Screen, at: int, column: int, step: int) -> int:
    """How far the rows next to ``at`` start in the same column."""
    row = at + step
    while 0 <= row < len(screen.lines) and abs(row - at) < MAX_OPTIONS:
        text = _indent(screen, row)
        if not text.strip() or len(text) - len(text.lstrip()) != column:
            break
        row += step
    return row - step
