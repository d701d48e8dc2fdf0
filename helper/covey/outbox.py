"""Tickets and receipts over the store: what was asked of a session, in which order, and what became of it.

A ticket's row id is its place in the line, given by the commit that takes it in. Until somebody begins to type it a
ticket can be edited, held and cancelled; from then on its outcome is settled once, and a settled ticket
never changes again, whoever comes late.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from covey.errors import Refused, Usage
from covey.ledger import Ledger, only
from covey.models import FINAL, Identity, Json, Outcome, Receipt, now, stamp
from covey.store import DAY_S
from covey.tickets import Ticket, pack, receipt, ticket

if TYPE_CHECKING:
    import sqlite3

    from covey.store import Store

TYPING = "being typed"
LOST_TYPER = "covey ended while it was typing this, so it may or may not have arrived"
REAPED = "the session was ended before this was typed"
ENDED = "the session ended before this was seen to be taken"


class Outbox(Ledger):
    """The tickets in ``store``; ``me`` is the process that types when ``typing`` is called.

    What befalls an act that waits is logged.
    """

    def __init__(self, store: Store, me: Identity) -> None:
        super().__init__(store)
        self.me = me

    # Into the line

    def put(  # noqa: PLR0917 - an act, in the order in which one says it
        self,
        act_id: str,
        session: str,
        epoch: int,
        kind: str,
        text: str,
        options: Json,
        writer: Identity,
        *,
        stripped: int = 0,
    ) -> Receipt:
        """Take an act in; it is on disk when this returns. The same act again gives the receipt it has by now.

        ``stripped`` counts the bytes that were taken out of ``text`` before. Raises ``Usage`` where the id is known
        with another session, kind or text.
        """
        asked = hashlib.sha256(pack(f"{session}\0{kind}\0{text}")).digest()
        values = (act_id, asked, session, epoch, kind, pack(text), json.dumps(self.store.signed(options)))
        with self.store.transaction() as db:
            db.execute(
                "INSERT INTO tickets (act, asked, session, epoch, kind, text, options, outcome, writer, created,"
                " stripped) VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?) ON CONFLICT (act) DO NOTHING",
                (*values, json.dumps(writer.to_json()), now(), stripped),
            )
            found = _by_act(db, act_id)
        if found["asked"] != asked:
            raise Usage(f"The act id {act_id} was used before for something else", "Mint a new id for each act.")
        return receipt(found)

    def edit(self, act_id: str, text: str | None = None, *, when: str | None = None) -> Receipt:
        """Replace the text of an act that nobody has begun to type, or its occasion, which ends a hold.

        Raises ``Refused`` for any other.
        """
        with self.store.transaction() as db:
            done = db.execute(
                "UPDATE tickets SET text = coalesce(?, text) WHERE act = ? AND outcome IN ('queued', 'held')"
                " AND typer IS NULL",
                (None if text is None else pack(text), act_id),
            ).rowcount
            if done and when is not None:
                options = {**ticket(_by_act(db, act_id)).options, "when": when}
                db.execute(
                    "UPDATE tickets SET options = ?, outcome = 'queued', reason = '' WHERE act = ?",
                    (json.dumps(options), act_id),
                )
            found = _by_act(db, act_id)
        if not done:
            raise _too_late(found)
        return receipt(found)

    def cancel(self, act_id: str) -> Receipt:
        """Take back an act that nobody has begun to type; raises ``Refused`` for any other.

        Twice is harmless, and the ``reason`` of the receipt.
        """
        with self.store.transaction() as db:
            done = db.execute(
                "UPDATE tickets SET outcome = 'cancelled', reason = '', settled = ?"
                " WHERE act = ? AND outcome IN ('queued', 'held') AND typer IS NULL",
                (now(), act_id),
            ).rowcount
            found = _by_act(db, act_id)
            if done:
                self._log(receipt(found))
        if found["outcome"] != "cancelled":
            raise _too_late(found)
        return receipt(found) if done else replace(receipt(found), reason="it was already")

    # Out of the line: for who holds the session's lane

    def typing(self, row: int) -> Ticket:
        """Commit that the first byte is about to be typed, and give the ticket as it is to be typed.

        It ends a hold, whoever else had it held in this very moment. A crash after this call can only mean
        ``unconfirmed``. Raises ``Refused`` where the act is not to be typed any more: it was cancelled, dropped or
        settled meanwhile, or somebody is typing it.
        """
        with self.store.transaction() as db:
            done = db.execute(
                "UPDATE tickets SET outcome = 'queued', typer = ?, reason = ?"
                " WHERE row = ? AND outcome IN ('queued', 'held') AND typer IS NULL",
                (json.dumps(self.me.to_json()), TYPING, row),
            ).rowcount
            found = _by_row(db, row)
        if not done:
            raise _too_late(found)
        return ticket(found)

    def put_back(self, row: int) -> Receipt:
        """Let an act wait as if nobody had begun to type it; for who knows that not a byte of it was typed."""
        with self.store.transaction() as db:
            db.execute(
                "UPDATE tickets SET outcome = 'queued', reason = '', typer = NULL"
                " WHERE row = ? AND outcome IN ('queued', 'held')",
                (row,),
            )
            return receipt(_by_row(db, row))

    def set_down(self, row: int, reason: str, draft: Json) -> Receipt:
        """Let a typed act wait for a reason to end. ``draft`` is what whoever goes on with it has to know."""
        with self.store.transaction() as db:
            options = ticket(_by_row(db, row)).options
            db.execute(
                "UPDATE tickets SET outcome = 'held', reason = ?, options = ?"
                " WHERE row = ? AND outcome IN ('queued', 'held') AND typer IS NOT NULL",
                (reason, json.dumps({**options, "draft": draft, "waits": reason}), row),
            )
            now_is = receipt(_by_row(db, row))
            return now_is if options.get("waits") == reason else self._log(now_is)

    def resume(self, row: int) -> Receipt:
        """Go on with an act that was set down: it is being typed again, by us."""
        with self.store.transaction() as db:
            db.execute(
                "UPDATE tickets SET outcome = 'queued', reason = ?, typer = ?"
                " WHERE row = ? AND outcome = 'held' AND typer IS NOT NULL",
                (TYPING, json.dumps(self.me.to_json()), row),
            )
            return receipt(_by_row(db, row))

    def settle(self, row: int, outcome: Outcome, reason: str = "") -> Receipt:
        """Give an act its final outcome. One that has a final outcome keeps it, and its receipt is returned."""
        assert outcome in FINAL, outcome
        with self.store.transaction() as db:
            _settle(db, row, outcome, reason)
            return receipt(_by_row(db, row))

    def hold(self, row: int, reason: str) -> Receipt:
        """Let a send wait for a reason to end. One that is being typed or settled stays as it is."""
        with self.store.transaction() as db:
            done = db.execute(
                "UPDATE tickets SET outcome = 'held', reason = ?"
                " WHERE row = ? AND outcome IN ('queued', 'held') AND typer IS NULL",
                (reason, row),
            ).rowcount
            held = receipt(_by_row(db, row))
            return self._log(held) if done else held

    def hold_behind(self, session: str, reason: str) -> list[Receipt]:
        """Let all that is queued wait, as ``hold`` does; give the receipts of those that were not held before."""
        with self.store.transaction() as db:
            waiting = db.execute(
                "UPDATE tickets SET outcome = 'held', reason = ?"
                " WHERE session = ? AND outcome = 'queued' AND typer IS NULL RETURNING *",
                (reason, session),
            ).fetchall()
        return [receipt(row) for row in sorted(waiting, key=lambda row: int(row["row"]))]

    # For whole sessions

    def drop_older(self, session: str, epoch: int) -> list[Receipt]:
        """Settle what waits for an older start of the agent as ``dropped``; what is being typed is left."""
        return self._settle_waiting(session, epoch, "dropped", f"meant for an earlier start than start {epoch}")

    def undelivered(self, session: str) -> list[Receipt]:
        """Settle what waits for a session that is gone as ``undelivered``, and what was typed as ``unconfirmed``."""
        waiting = self._settle_waiting(session, None, "undelivered", REAPED)
        with self.store.transaction() as db:
            typed = db.execute(
                "SELECT row FROM tickets WHERE session = ? AND outcome IN ('queued', 'held') ORDER BY row", (session,)
            ).fetchall()
            for found in typed:
                _settle(db, found["row"], "unconfirmed", ENDED)
            return [*waiting, *(self._log(receipt(_by_row(db, found["row"]))) for found in typed)]

    def _settle_waiting(self, session: str, epoch: int | None, outcome: Outcome, reason: str) -> list[Receipt]:
        with self.store.transaction() as db:
            waiting = db.execute(
                "SELECT row FROM tickets WHERE session = ?1 AND (?2 IS NULL OR epoch < ?2)"
                " AND outcome IN ('queued', 'held') AND typer IS NULL ORDER BY row",
                (session, epoch),
            ).fetchall()
            for found in waiting:
                _settle(db, found["row"], outcome, reason)
            return [self._log(receipt(_by_row(db, found["row"]))) for found in waiting]

    def _log(self, receipt: Receipt) -> Receipt:
        """Log what a receipt says, within the transaction that made it so."""
        self.store.log(receipt.session, receipt.outcome, {"id": receipt.id, "reason": receipt.reason})
        return receipt

    # Forgetting

    def forget(self, session: str) -> None:
        """Remove all that was ever sent to a session, and its log."""
        with self.store.transaction() as db:
            db.execute("DELETE FROM tickets WHERE session = ?", (session,))
            db.execute("DELETE FROM log WHERE session = ?", (session,))

    def purge(self, older_than_days: float = 30) -> int:
        """Remove settled acts of more than that age, and what ``Store.purge`` removes. Give their number."""
        before = stamp(time.time() - older_than_days * DAY_S)
        with self.store.transaction() as db:
            removed = db.execute("DELETE FROM tickets WHERE settled < ?", (before,)).rowcount
        return removed + self.store.purge(older_than_days)


def _settle(db: sqlite3.Connection, row: int, outcome: Outcome, reason: str) -> None:
    db.execute(
        "UPDATE tickets SET outcome = ?, reason = ?, settled = ? WHERE row = ? AND outcome IN ('queued', 'held')",
        (outcome, reason, now(), row),
    )


def _by_act(db: sqlite3.Connection, act_id: str) -> sqlite3.Row:
    return only(db.execute("SELECT * FROM tickets WHERE act = ?", (act_id,)).fetchall(), act_id)


def _by_row(db: sqlite3.Connection, row: int) -> sqlite3.Row:
    return only(db.execute("SELECT * FROM tickets WHERE row = ?", (row,)).fetchall(), str(row))


def _too_late(found: sqlite3.Row) -> Refused:
    state = TYPING if found["typer"] and found["outcome"] not in FINAL else f"{found['outcome']} already"
    return Refused(f"prompt {found['row']} is {state}")
