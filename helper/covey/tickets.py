"""A ticket of the outbox, and the receipt that shows it: as values, and as rows of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey import column, kinds
from covey.models import Identity, Json, Outcome, Receipt

if TYPE_CHECKING:
    import sqlite3

ASKS = "the agent is working: send it now, when it is idle, or not at all?"  # the reason of a hold that is a question

NOBODY = Identity(0, 0, "")  # a process of which it cannot be told whether it lives
OPTIONS = {"submit": bool, "force": bool, "raw": bool, "when": str, "draft": Mapping[str, Any]}
DRAFT = {"shown": str | None, "presses": int}


@dataclass(frozen=True, slots=True)
class Ticket:
    """One act in a session's line. ``typer`` is who began to type it; its outcome is ``queued`` until that ends.

    ``damaged``: text or options are not what was written, so they are never typed.
    """

    row: int
    act: str
    session: str
    epoch: int
    kind: str
    text: str
    options: Json
    outcome: Outcome
    reason: str
    writer: Identity
    created: str
    typer: Identity | None
    damaged: bool = False


def pack(text: str) -> bytes:
    """Text as bytes that give back the very same text: also halves of surrogate pairs, which UTF-8 has no place for."""
    return text.encode("utf-8", "surrogatepass")


def unpack(cell: Any) -> str | None:
    """The text that was packed; None where the cell holds something else."""
    try:
        return cell.decode("utf-8", "surrogatepass") if isinstance(cell, bytes) else None
    except UnicodeDecodeError:
        return None


def ticket(row: sqlite3.Row) -> Ticket:
    text, options = unpack(row["text"]), column.table(row["options"])
    return Ticket(
        row=row["row"],
        act=row["act"],
        session=row["session"],
        epoch=column.number(row["epoch"]),
        kind=row["kind"],
        text=text or "",
        options=options or {},
        outcome=row["outcome"],
        reason=column.text(row["reason"]),
        writer=column.value(Identity.from_json, row["writer"]) or NOBODY,
        created=column.moment(row["created"]),
        typer=None if row["typer"] is None else column.value(Identity.from_json, row["typer"]) or NOBODY,
        damaged=text is None or options is None or not _intact(options),
    )


def _intact(options: Json) -> bool:
    draft = options.get("draft") or {}
    return kinds.holds(OPTIONS, options) and draft.keys() <= DRAFT.keys() and kinds.holds(DRAFT, draft)


def receipt(row: sqlite3.Row) -> Receipt:
    return Receipt(
        id=row["act"],
        session=row["session"],
        epoch=column.number(row["epoch"]),
        outcome=row["outcome"],
        reason=column.text(row["reason"]),
        bytes=len(row["text"]) if isinstance(row["text"], bytes) else 0,
        stripped=column.number(row["stripped"]),
        asks=(row["outcome"], row["reason"]) == ("held", ASKS),
        number=row["row"],
    )
