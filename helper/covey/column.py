"""What stands in a cell of the store, whoever wrote it: read, or told apart from what cannot be. Pure.

Other programs may write into the file. A cell that holds something else than covey put there is nothing that is known:
the caller says what stands for it, and the rest of its row goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any, TypeVar

T = TypeVar("T")


def value(read: Callable[[Any], T | None], cell: Any) -> T | None:
    """What ``read`` makes of the JSON in a cell; None where it is no JSON, or not what ``read`` takes."""
    try:
        return read(json.loads(cell))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def table(cell: Any) -> dict[str, Any] | None:
    """The JSON object in a cell; None where there is none."""
    found = value(lambda found: found, cell)
    return found if isinstance(found, dict) else None


def number(cell: Any) -> int:
    """A whole number; 0 for anything else."""
    return cell if isinstance(cell, int) else 0


def text(cell: Any) -> str:
    """Text; '' for anything else."""
    return cell if isinstance(cell, str) else ""


def moment(cell: Any) -> str:
    """A time as covey writes it; for what is none, but is something, the earliest that there is.

    The first and the last of all years are none: not everywhere on earth have they a name.
    """
    if cell is None:
        return ""
    try:
        found = datetime.fromisoformat(cell)
    except (ValueError, TypeError):
        return EARLIEST
    return cell if found.tzinfo and MINYEAR < found.year < MAXYEAR else EARLIEST


EARLIEST = "1970-01-01T00:00:00.000Z"
