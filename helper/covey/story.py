"""A session's story: what was done to it and by whom, what became of it, and the words for that."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from covey import column, tickets
from covey.asking import addressed
from covey.errors import CoveyError
from covey.helper import Helper
from covey.models import FINAL, Json, Session
from covey.store import Store

if TYPE_CHECKING:
    import sqlite3

TITLES = {  # what a verb is called when it is over, for verbs that change a session that was there before
    "rename": "renamed",
    "keep": "kept",
    "settle": "settled",
    "adopt": "adopted",
    "open": "respawned",
    "ensure": "respawned",
    "run": "respawned",
    "worktree": "respawned",
    "respawn": "respawned",
    "reset": "reset",
    "restore": "restored",
}
OPENS = frozenset({"open", "ensure", "run", "worktree"})  # they look for themselves, and mostly there is nothing yet
CHANGES = ("name", "keep", "settled", "owner", "epoch")  # what such a verb may leave different
SEEN = frozenset({"exited", "lost", "closed"})  # what nobody does: who wrote it down only saw it
AFTERWARDS = frozenset({"edited", "held", *FINAL})  # what becomes of a prompt
UNREAD = "(what was sent cannot be read any more)"
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
    """The last ``limit`` events, oldest first: ``{at, kind, data, words}``.

    What was sent stands where it was sent, and what became of it where it did.
    """
    sent = store.rows("SELECT * FROM tickets WHERE session = ? ORDER BY row DESC LIMIT ?", (session, limit))
    past = [_numbered(event, {row["act"]: row["row"] for row in sent}) for event in store.history(session, limit)]
    known = {(event["kind"], str(event["data"].get("id"))) for event in past}
    became = [_became(row) for row in sent if row["settled"] and (row["outcome"], row["act"]) not in known]
    first = {str(data.get("id")): column.text(data["was"]) for data in _edits(past)}
    sends = [_send(row, first.get(row["act"])) for row in sent]
    found = sorted([*sends, *past, *became], key=_moment)[-limit:]
    return [{**event, "words": words(event["kind"], event["data"])} for event in found]


def _moment(event: Json) -> tuple[str, int]:
    """Where it stands: within one millisecond a prompt comes after all else, and before what became of it."""
    kind = event["kind"]
    return str(event["at"]), 1 if kind == "send" else 2 if kind in AFTERWARDS else 0


def _edits(past: list[Json]) -> Iterator[Json]:
    """What was changed of prompts, the last change first."""
    return (event["data"] for event in reversed(past) if event["kind"] == "edited" and "was" in event["data"])


def _numbered(event: Json, numbers: Mapping[str, int]) -> Json:
    """An event of a prompt with its number."""
    number = numbers.get(str(event["data"].get("id")))
    return {**event, "data": {**event["data"], "number": number}} if number else event


def _send(row: sqlite3.Row, first: str | None) -> Json:
    """A prompt as it was when it was sent: with its ``first`` text, where it was edited later."""
    facts: Json = {name: column.text(row[name]) for name in ("outcome", "reason", "writer")}
    facts |= {"settled": row["settled"] and column.moment(row["settled"]), "epoch": column.number(row["epoch"])}
    text, options = tickets.unpack(row["text"]), column.table(row["options"])
    said = first or (UNREAD if text is None else text)
    data = {"id": row["act"], "number": row["row"], "text": said, **facts, "by": (options or {}).get("by")}
    return {"at": column.moment(row["created"]), "kind": "send", "data": data}


def _became(row: sqlite3.Row) -> Json:
    data = {"id": row["act"], "number": row["row"], "reason": column.text(row["reason"]), "by": {}}
    return {"at": column.moment(row["settled"]), "kind": column.text(row["outcome"]), "data": data}


def beginning(store: Store, session: str, epoch: int) -> str:
    """What is to be said of how that start of the agent began; '' where it began as it should."""
    facts = (event["data"] for event in store.history(session) if event["kind"] == "began")
    return next((str(each.get("reason", "")) for each in facts if each.get("epoch") == epoch), "")


def words(kind: str, data: Json) -> str:
    """One row of a story in words; of a kind that is not known here, what it says as it stands."""
    facts = {name: value for name, value in data.items() if name not in ("by", "screen")}
    try:
        said = WORDS[kind](data)
    except (KeyError, TypeError, IndexError, AttributeError):
        said = json.dumps(facts, ensure_ascii=False) if facts else ""
    return ", ".join(filter(None, (said, "" if kind in SEEN else _by(data.get("by")))))


def _by(caller: Any) -> str:
    """Who did it, where that is written; one with a process is named with its number."""
    known = caller if isinstance(caller, dict) and caller.get("who") else {}
    return " ".join(["by", *(str(known[name]) for name in ("who", "pid") if name in known)]) if known else ""


def _exited(data: Json) -> str:
    if data["signal"] is not None:
        return f"by signal {data['signal']}"
    return "how is unknown" if data["code"] is None else f"with {data['code']}"


def _sent(data: Json) -> str:
    first = data["text"].split("\n", 1)[0]
    return f"{data['number']}: {first[:FIRST_WORDS]!r}{' …' if data['text'] != first[:FIRST_WORDS] else ''}"


def _outcome(data: Json) -> str:
    """What became of a prompt, by its number."""
    return ": ".join(filter(None, (str(data.get("number", "")), data["reason"])))


def _refused(data: Json) -> str:
    """A prompt that was never taken in, or an answer, with its words; else one of those that were."""
    said = data.get("text") or data.get("choice")
    return f"{data['reason']}: {said[:FIRST_WORDS]!r}" if said else _outcome(data)


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
    "edited": lambda data: _sent(data) if "text" in data else f"{data['number']}: goes {data['when']}",
    "renamed": lambda data: f"{data['name'][0]!r} → {data['name'][1]!r}",
    "kept": lambda data: "from every sweep" if data["keep"][1] else "no longer",
    "settled": lambda data: data.get("reason", "") if data.get("settled", [False, True])[1] else "no longer",
    "adopted": lambda _data: "",
    "respawned": _started,
    "restarted": _started,
    "restored": _started,
    "reset": _started,
    "began": _reason,
    "exited": _exited,
    "closed": lambda data: f"outside covey; still running: {', '.join(map(str, data['pids']))}",
    "lost": lambda _data: "with its tmux server",
    "reaped": _reason,
    "answered": lambda data: f"{data['question']!r} with {data['chosen']!r}",
    "interrupted": lambda data: f"{' '.join(data['keys'])}, while {data['state']}",
    "refused": _refused,
    **dict.fromkeys(("held", *(FINAL - {"refused"})), _outcome),
    "ended": _ended,
}
