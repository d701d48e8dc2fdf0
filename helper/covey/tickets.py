"""A ticket of the outbox, and the receipt that shows it: as values, and as rows of the store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from covey.models import Identity, Json, Outcome, Receipt

if TYPE_CHECKING:
    import sqlite3

ASKS = "the agent is working: send it now, when it is idle, or not at all?"  # the reason of a hold that is a question


@dataclass(frozen=True, slots=True)
class Ticket:
    """One act in a session's line. ``typer`` is who began to type it; its outcome is ``queued`` until that ends."""

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


def pack(text: str) -> bytes:
    """Text as bytes that give back the very same text: also halves of surrogate pairs, which UTF-8 has no place for."""
    return text.encode("utf-8", "surrogatepass")


def ticket(row: sqlite3.Row) -> Ticket:
    writer = Identity.from_json(json.loads(row["writer"]))
    assert writer is not None
    return Ticket(
        row=row["row"],
        act=row["act"],
        session=row["session"],
        epoch=row["epoch"],
        kind=row["kind"],
        text=row["text"].decode("utf-8", "surrogatepass"),
        options=json.loads(row["options"]),
        outcome=row["outcome"],
        reason=row["reason"],
        writer=writer,
        created=row["created"],
        typer=Identity.from_json(json.loads(row["typer"] or "null")),
    )


def receipt(row: sqlite3.Row) -> Receipt:
    return Receipt(
        id=row["act"],
        session=row["session"],
        epoch=row["epoch"],
        outcome=row["outcome"],
        reason=row["reason"],
        bytes=len(row["text"]),
        stripped=row["stripped"],
        asks=(row["outcome"], row["reason"]) == ("held", ASKS),
        number=row["row"],
    )
