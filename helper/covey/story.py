"""A session's story: what was done to it and by whom, what became of it, and the words for that."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from covey.asking import addressed
from covey.errors import CoveyError
from covey.helper import Helper
from covey.models import Json, Session
from covey.store import Store

TITLES = {  # what a verb is called when it is over, for verbs that change a session that was there before
    "rename": "renamed",
    "keep": "kept",
    "settle": "settled",
    "adopt": "adopted",
    "open": "respawned",
    "ensure": "respawned",
    "run": "respawned",
    "respawn": "respawned",
    "reset": "reset",
    "restore": "restored",
}
OPENS = frozenset({"open", "ensure", "run"})  # they look for themselves, and mostly there is nothing yet
CHANGES = ("name", "keep", "settled", "owner", "epoch")  # what such a verb may leave different
SEEN = frozenset({"exited", "lost"})  # what nobody does: who wrote it down only saw it
FIRST_WORDS = 60  # characters of a prompt that stand in its row


async def known(helper: Helper, method: str, given: Json) -> dict[str, Session]:
    """The sessions there are before a verb; looked up anew where the one that it is to change is not known yet."""
    if method in TITLES and method not in OPENS:
        with contextlib.suppress(CoveyError):
            await addressed(helper, given.get("name", ""))
    return dict(helper.fleet.views)


async def note(helper: Helper, method: str, before: Mapping[str, Session], answer: Any) -> None:
    """Write down what a verb left different of sessions that were there before it."""
    if method not in TITLES:
        return
    for session in answer if isinstance(answer, list) else [answer]:
        if "error" in session or session["id"] not in before:
            continue
        old = before[session["id"]].to_json()
        changed = {field: [old[field], session[field]] for field in CHANGES if old[field] != session[field]}
        if changed:
            await helper.note(session["id"], TITLES[method], changed)


def told(store: Store, session: str, limit: int) -> list[Json]:
    """The last ``limit`` events, oldest first: ``{at, kind, data, words}``; what was sent stands where it was sent."""
    sent = store.rows("SELECT * FROM tickets WHERE session = ? ORDER BY row DESC LIMIT ?", (session, limit))
    found = sorted(
        [*store.history(session, limit), *(_send(dict(row)) for row in sent)], key=lambda event: str(event["at"])
    )[-limit:]
    return [{**event, "words": words(event["kind"], event["data"])} for event in found]


def _send(row: Mapping[str, Any]) -> Json:
    facts = {name: row[name] for name in ("outcome", "reason", "settled", "epoch", "writer")}
    text, by = row["text"].decode("utf-8", "surrogatepass"), json.loads(row["options"]).get("by", {})
    return {"at": row["created"], "kind": "send", "data": {"id": row["act"], "text": text, **facts, "by": by}}


def words(kind: str, data: Json) -> str:
    """One row of a story in words; of a kind that is not known here, what it says as it stands."""
    facts = {name: value for name, value in data.items() if name not in ("by", "screen")}
    try:
        said = WORDS[kind](data)
    except (KeyError, TypeError, IndexError):
        said = json.dumps(facts, ensure_ascii=False) if facts else ""
    return ", ".join(filter(None, (said, "" if kind in SEEN else _by(data.get("by") or {}))))


def _by(caller: Json) -> str:
    return f"by {caller['who']} {caller['pid']}" if caller else ""


def _exited(data: Json) -> str:
    if data["signal"] is not None:
        return f"by signal {data['signal']}"
    return "how is unknown" if data["code"] is None else f"with {data['code']}"


def _sent(data: Json) -> str:
    why = f" ({data['reason']})" if data["reason"] else ""
    first = data["text"].split("\n", 1)[0]
    return f"{data['outcome']}{why} {first[:FIRST_WORDS]!r}{' …' if data['text'] != first[:FIRST_WORDS] else ''}"


def _refused(data: Json) -> str:
    return f"{data['reason']}: {(data.get('text') or data.get('choice') or '')[:FIRST_WORDS]!r}"


def _reason(data: Json) -> str:
    return str(data["reason"])


def _ended(data: Json) -> str:
    number = len(data["ended"])
    return f"{data['reason']}; {number} process{'' if number == 1 else 'es'}"


def _started(data: Json) -> str:
    return f"start {data['epoch'][1]}"


WORDS: dict[str, Callable[[Json], str]] = {
    "opened": lambda data: f"{data['agent']} as {data['name']!r} in {data['cwd']}",
    "send": _sent,
    "renamed": lambda data: f"{data['name'][0]!r} → {data['name'][1]!r}",
    "kept": lambda data: "from every sweep" if data["keep"][1] else "no longer",
    "settled": lambda data: data.get("reason", ""),
    "adopted": lambda _data: "",
    "respawned": _started,
    "restarted": _started,
    "restored": _started,
    "reset": _started,
    "exited": _exited,
    "lost": lambda _data: "with its tmux server",
    "reaped": _reason,
    "answered": lambda data: f"{data['question']!r} with {data['chosen']!r}",
    "interrupted": lambda _data: "",
    "refused": _refused,
    **dict.fromkeys(("held", "cancelled", "dropped", "undelivered", "unconfirmed"), _reason),
    "ended": _ended,
}
