"""The block at the bottom of the screen: agent -> rows and a cursor. Pure; the layout is what profiles match."""

from __future__ import annotations

from typing import NamedTuple

from covey import cells
from covey.standin.agent import Agent
from covey.standin.worker import FRAME, Work

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
GHOST = "Type a prompt"
PROMPT, INDENT = "❯ ", "  "
DIM, PLAIN = "\x1b[2m", "\x1b[0m"
WAITING = 3  # queued prompts that are shown
FRAME_ROWS = 3  # two rules and the footer


class Picture(NamedTuple):
    """Rows are ready to print and fit the width; ``widths`` are their cells. No cursor: it is hidden."""

    rows: list[str]
    widths: list[int]
    cursor: tuple[int, int] | None  # row, column


def picture(agent: Agent, cols: int, lines: int, now: float) -> Picture:
    """Never more than ``lines`` rows: of what does not fit the lower part is shown."""
    above = _queued(agent, cols)
    if agent.worker.dialog:
        rows = [cells.clip(row, cols) for row in agent.worker.dialog.rows()]
        return _fit(above + rows, None, lines)
    if agent.worker.work:
        above.append(cells.clip(_working(agent.worker.work, now), cols))
    draft = _draft(agent.echo.text(now), cols, max(1, lines - FRAME_ROWS - len(above)))
    foot = "esc to interrupt" if agent.worker.work else "idle"
    rule = "─" * cols
    rows = [*above, rule, *draft, rule, cells.clip(f"{INDENT}standin · {foot}", cols)]
    column = min(cells.width(draft[-1]), cols - 1)
    return _ghost(_fit(rows, (len(above) + len(draft), column), lines), cols)


def _draft(text: str, cols: int, most: int) -> list[str]:
    room = max(2, cols - len(INDENT))
    pieces = [piece for row in cells.drawable(text).split("\n") for piece in cells.wrap(row, room)]
    rows = [(INDENT if at else PROMPT) + piece for at, piece in enumerate(pieces)]
    return rows[-most:]


def _ghost(picture: Picture, cols: int) -> Picture:
    """An empty composer shows what it is for, dimmed."""
    row = picture.cursor[0] if picture.cursor else 0
    if picture.rows[row] != PROMPT:
        return picture
    ghost = cells.clip(GHOST, max(0, cols - len(PROMPT)))
    rows, widths = list(picture.rows), list(picture.widths)
    rows[row], widths[row] = f"{PROMPT}{DIM}{ghost}{PLAIN}", len(PROMPT) + len(ghost)
    return picture._replace(rows=rows, widths=widths)


def _queued(agent: Agent, cols: int) -> list[str]:
    firsts = [cells.drawable(text).partition("\n")[0] for text in agent.worker.queue[:WAITING]]
    rows = [f"{INDENT}queued: {first}" for first in firsts]
    more = len(agent.worker.queue) - WAITING
    rows += [f"{INDENT}and {more} more"] if more > 0 else []
    return [cells.clip(row, cols) for row in rows]


def _working(work: Work, now: float) -> str:
    gone = now - work.began
    return f"{SPINNER[int(gone / FRAME) % len(SPINNER)]} Working… ({int(gone)}s · esc to interrupt)"


def _fit(rows: list[str], cursor: tuple[int, int] | None, lines: int) -> Picture:
    cut = max(0, len(rows) - lines)
    rows = rows[cut:]
    return Picture(rows, [cells.width(row) for row in rows], cursor and (max(0, cursor[0] - cut), cursor[1]))
