"""What is written of acts: tickets and receipts, looked up. ``outbox`` is who writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from covey.errors import NotFound
from covey.models import Receipt
from covey.tickets import Ticket, receipt, ticket

if TYPE_CHECKING:
    import sqlite3

    from covey.store import Store


ROW_DIGITS = 18  # of a row that SQLite can have


class Ledger:
    """The tickets in ``store``, for who reads."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def receipt(self, act_id: str) -> Receipt:
        """Raises ``NotFound`` for an act that was never taken in."""
        return receipt(only(self.store.rows("SELECT * FROM tickets WHERE act = ?", (act_id,)), act_id))

    def receipts(self, acts: tuple[str, ...]) -> list[Receipt]:
        """Give the receipts of those acts that are known."""
        found = self.store.rows(
            "SELECT * FROM tickets WHERE act IN (SELECT value FROM json_each(?))", (json.dumps(acts),)
        )
        return [receipt(row) for row in found]

    def ticket(self, act_id: str) -> Ticket:
        """Raises ``NotFound`` for an act that was never taken in."""
        return ticket(only(self.store.rows("SELECT * FROM tickets WHERE act = ?", (act_id,)), act_id))

    def meant(self, word: str) -> str:
        """Give the id of the act that has this id, else of the one that has this number. Raises ``NotFound``."""
        row = int(word) if word.isdecimal() and len(word) <= ROW_DIGITS else 0
        found = self.store.rows(
            "SELECT act FROM tickets WHERE act = ?1 OR row = ?2 ORDER BY act = ?1 DESC LIMIT 1", (word, row)
        )
        return str(only(found, word)["act"])

    def head(self, session: str) -> Ticket | None:
        """Give the first of ``pending``; a held one has the ``draft`` of ``set_down`` in its options, if it has one."""
        found = self.store.rows(
            "SELECT * FROM tickets WHERE session = ? AND outcome IN ('queued', 'held') ORDER BY row LIMIT 1", (session,)
        )
        return ticket(found[0]) if found else None

    def pending(self, session: str) -> list[Ticket]:
        """Give what is queued, held or being typed, in order."""
        found = self.store.rows(
            "SELECT * FROM tickets WHERE session = ? AND outcome IN ('queued', 'held') ORDER BY row", (session,)
        )
        return [ticket(row) for row in found]

    def waiting(self) -> list[Receipt]:
        """Give the receipts of all that is ``pending``, for whatever session."""
        return [
            receipt(row)
            for row in self.store.rows("SELECT * FROM tickets WHERE outcome IN ('queued', 'held') ORDER BY row")
        ]

    def left(self, session: str) -> list[Ticket]:
        """Give what a session that is over was never given, oldest first."""
        found = self.store.rows(
            "SELECT * FROM tickets WHERE session = ? AND outcome = 'undelivered' ORDER BY row", (session,)
        )
        return [ticket(row) for row in found]

    def spoken(self, session: str) -> bool:
        """Whether anything that was typed into the session may have reached its agent."""
        found = self.store.rows(
            "SELECT 1 FROM tickets WHERE session = ? AND outcome IN ('submitted', 'pasted', 'unconfirmed') LIMIT 1",
            (session,),
        )
        return bool(found)

    def counts(self) -> dict[str, int]:
        """Give the length of ``pending`` for every session where it is not 0."""
        found = self.store.rows(
            "SELECT session, COUNT(*) AS waiting FROM tickets WHERE outcome IN ('queued', 'held') GROUP BY session"
        )
        return {row["session"]: row["waiting"] for row in found}


def only(found: list[sqlite3.Row], wanted: str) -> sqlite3.Row:
    """The one row, or ``NotFound``."""
    if not found:
        raise NotFound(f"no prompt {wanted} is known", "prompts are forgotten 30 days after they are settled")
    return found[0]
