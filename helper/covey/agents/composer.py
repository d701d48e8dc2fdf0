"""Where the place to type is on a screen, and what stands in it: by structure, never by the words of a prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass

from covey.agents.profile import ComposerRule
from covey.tmux.screen import Screen

MAX_DRAFT = 200  # rows between the rails
OVER = 3  # rows over a composer, blank ones not counted, of which one tells it from a framed prompt of the talk
FRAME = " │┃║█▐"  # what a row of the talk may stand between
BLANK = "\u00a0\u200b\ufeff"  # what agents draw where nothing is: no-break and zero-width blanks


@dataclass(frozen=True, slots=True)
class Box:
    """The composer's rows: ``first`` to ``last`` hold the draft, ``top`` and ``bottom`` enclose them.

    For a composer without rails they are the rows of the draft themselves.
    """

    top: int
    first: int
    last: int
    bottom: int


def locate(screen: Screen, rule: ComposerRule) -> Box | None:
    """The lowest composer on the screen, or None. Rows below it are at most ``rule.foot`` that are not blank."""
    box = {"box": _boxed, "line": _lined, "bar": _barred}[rule.kind](screen.lines, rule)
    if box is None or sum(bool(row.strip()) for row in screen.lines[box.bottom + 1 :]) > rule.foot:
        return None
    return box


def draft(screen: Screen, rule: ComposerRule, box: Box) -> str:
    """What stands in the composer, as shown; '' where there are only placeholders and blanks.

    A placeholder is dim; only where there are no colours it is told by its words, which somebody may have typed. The
    mark of a shell is something that stands there, too.
    """
    mark = box.bottom - 1 if rule.kind == "bar" else box.first  # within a bar the agent's own line says so
    if rule.shell is not None and rule.shell.match(screen.lines[mark]):
        return "\n".join(row.strip() for row in screen.lines[box.first : max(box.last, mark) + 1]).strip()
    edge = _edge(screen, rule, box)
    rows = [_inside(screen.bright[at][:edge], rule, at == box.first) for at in range(box.first, box.last + 1)]
    text = "\n".join(rows).strip()
    return "" if not screen.coloured and any(ghost.search(text) for ghost in rule.ghosts) else text


def talk(screen: Screen, rule: ComposerRule, box: Box) -> str:
    """The last row of the talk over the composer; '' where nothing was said yet.

    With a row that is drawn ``aside`` goes the rest of its paragraph, for it may have wrapped.
    """
    edge = _edge(screen, rule, box)
    last = ""
    for row in reversed(screen.lines[: box.top]):
        said = row[:edge].strip(FRAME)
        if rule.aside and rule.aside.search(said):
            last = ""
        elif last and not said:
            break
        elif not last and any(map(str.isalnum, said)):
            last = said
    return last


def _edge(screen: Screen, rule: ComposerRule, box: Box) -> int | None:
    """Where the composer ends on the right, if its closing row says so: a side bar shares the rows with it."""
    found = rule.bottom.search(screen.lines[box.bottom]) if rule.kind == "bar" else None
    return found.end() if found else None


def _inside(row: str, rule: ComposerRule, first: bool) -> str:  # noqa: FBT001 - which row it is
    repeated = rule.kind == "bar" or (rule.kind == "line" and not rule.foot)
    found = rule.prompt.match(row) if first or repeated else None
    return row[found.end() if found else 0 :].translate(dict.fromkeys(map(ord, BLANK), " ")).strip()


def _boxed(rows: tuple[str, ...], rule: ComposerRule) -> Box | None:
    for bottom in range(len(rows) - 1, 1, -1):
        if not rule.bottom.search(rows[bottom]):
            continue
        top = _above(rows, rule.top, bottom)
        if top is not None and rule.prompt.match(rows[top + 1]) and _open(rows, rule, top):
            ends = (at for at in range(top + 2, bottom) if rule.bottom.search(rows[at]))
            end = next((at for at in ends if _alike(rows[at], rows[bottom])), bottom)
            return Box(top, top + 1, end - 1, end)
    return None


def _open(rows: tuple[str, ...], rule: ComposerRule, top: int) -> bool:
    """Whether a frame is the composer's, and not that of a prompt that was sent."""
    over = [row for row in rows[:top] if row.strip()][-OVER:]
    return rule.above is None or any(map(rule.above.search, over))


def _above(rows: tuple[str, ...], rail: re.Pattern[str], bottom: int) -> int | None:
    """The nearest rail above ``bottom`` with at least one row in between."""
    for at in range(bottom - 2, max(-1, bottom - 2 - MAX_DRAFT), -1):
        if rail.search(rows[at]) and _alike(rows[at], rows[bottom]):
            return at
    return None


def _alike(rail: str, other: str) -> bool:
    """Whether both are drawn or both are blank: a blank row between drawn rails is part of a draft."""
    return bool(rail.strip()) == bool(other.strip())


def _lined(rows: tuple[str, ...], rule: ComposerRule) -> Box | None:
    """The last row that starts with the prompt; the draft ends at the last blank row, below which is the foot.

    What is longer than a foot and set in like a draft is the rest of the draft: a foot may give way to it.
    """
    filled = [at for at, row in enumerate(rows) if row.strip()]
    starts = [at for at in filled if rule.prompt.match(rows[at])]
    if not starts:
        return None
    first, end = starts[-1], filled[-1]
    blanks = [at for at in range(first, end) if not rows[at].strip()]
    last = blanks[-1] - 1 if blanks else end
    rest = [at for at in filled if at > last]
    if len(rest) > rule.foot > 0 and all(rows[at].startswith("  ") for at in rest):
        last = end
    while last > first and not rows[last].strip():
        last -= 1
    return _with_more_prompts(rows, rule, Box(first, first, last, last))


def _with_more_prompts(rows: tuple[str, ...], rule: ComposerRule, box: Box) -> Box | None:
    """Some agents repeat the prompt on each row of a draft; above the first must be the ``top`` row, if it has one."""
    first = box.first
    while first > 0 and rule.foot == 0 and rule.prompt.match(rows[first - 1]):
        first -= 1
    above = rows[max(0, first - 2) : first]
    if rule.top.pattern and above and not any(rule.top.search(row) for row in above):
        return None
    return Box(first, first, box.last, box.bottom)


def _barred(rows: tuple[str, ...], rule: ComposerRule) -> Box | None:
    """The rows above the lowest closing row that all start with the bar; the last of them is the agent's own."""
    for bottom in range(len(rows) - 1, 0, -1):
        if not rule.bottom.search(rows[bottom]):
            continue
        first = bottom
        while first > 0 and rule.prompt.match(rows[first - 1]):
            first -= 1
        if bottom - first > 2:  # noqa: PLR2004 - a blank row, the draft, the agent's own line
            return Box(first, first, bottom - 2, bottom)
    return None
