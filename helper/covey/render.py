"""Answers as a person reads them in a terminal. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from covey.cells import width
from covey.models import Json
from covey.registry import LEFT

AT_LAST = datetime.max.replace(tzinfo=UTC)
GUESSED = "what covey knows of it could not all be read: nothing is done to it by itself; respawn it, or kill it"


def answer(verb: str, value: Any, *, full: bool = False, began: datetime = AT_LAST) -> str:
    """The answer of that verb; JSON where no better form is known.

    ``full`` is for the log: nothing is left out. ``began`` is when we began to look, for how long something is so.
    """
    timed = {
        "log": partial(_log, full=full),
        "list": partial(_sessions, began=began),
        "restore": partial(_restored, began=began),
    }
    form = timed.get(verb) or FORMS.get(verb)
    return form(value) if form else json.dumps(value, ensure_ascii=False, indent=2)


def shown(text: str) -> str:
    """One line, whatever a path or a name holds: control characters as they are written in a program."""
    return "".join(char if char.isprintable() or "\udc80" <= char <= "\udcff" else repr(char)[1:-1] for char in text)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need to be; the last one runs on."""
    rows = [[shown(cell) for cell in row] for row in rows]
    columns = [max(width(row[at]) for row in rows) for at in range(len(rows[0]) - 1)] if rows else []
    return "\n".join(
        "  ".join(
            [*(cell + " " * (column - width(cell)) for cell, column in zip(row, columns, strict=False)), row[-1]]
        ).rstrip()
        for row in rows
    )


def age(since: str) -> str:
    """How long ago a moment was, in one unit."""
    then = datetime.fromisoformat(since)
    seconds = max(0, int((datetime.now(UTC) - then).total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def state(session: Json) -> str:
    """The state with what matters about it: how it ended, whether it was guessed."""
    ended, words = session["exit"], str(session["state"])
    if ended:
        how = ended["code"] if ended["signal"] is None else f"signal {ended['signal']}"
        words = f"exited ({'unknown' if how is None else how})"
    return words + ("?" if session["guessed"] else "")


def marks(session: Json) -> list[str]:
    """What was decided about a session."""
    return [word for word, mark in (("kept", "keep"), ("settled", "settled")) if session[mark]]


def _since(session: Json, began: datetime) -> str:
    """How long it is so; ``-`` where nobody looked before ``began``, when that was found, and it may be for long."""
    return age(session["since"]) if datetime.fromisoformat(session["since"]) < began else "-"


def _sessions(sessions: list[Json], began: datetime) -> str:
    if not sessions:
        return "no sessions"
    failed = [f"{s['name']}: {s['error']['message']}" for s in sessions if "error" in s]
    sessions = [s for s in sessions if "error" not in s]
    head = ["NAME", "AGENT", "STATE", "FOR", "QUEUED", "MARKS", "DIRECTORY"]
    rows = (
        [s["name"], s["agent"], state(s), _since(s, began), str(s["queued"]), " ".join(marks(s)), s["cwd"]]
        for s in sessions
    )
    notes = [f"{s['name']}: {GUESSED}" for s in sessions if s["guessed"]]
    notes += [f"{s['name']}: {s['evidence']['excerpt']}" for s in sessions if s["evidence"].get("rule") == LEFT]
    return "\n".join([*failed, *([table([head, *rows])] if sessions else []), *notes])


def _restored(sessions: list[Json], began: datetime) -> str:
    """What was lost, with the way to have it back; or what is back."""
    if not sessions:
        return "nothing was lost"
    hint = [] if any(each.get("state") != "lost" for each in sessions) else ["bring them back: covey restore --yes"]
    return "\n".join([_sessions(sessions, began), *hint])


def _session(session: Json) -> str:
    where = shown(session["cwd"])
    how = ", ".join([state(session), *marks(session)])
    line = f"{session['name']} ({session['id']}): {session['agent']}, {how}, in {where}"
    more = [_receipt(session["receipt"])] if session.get("receipt") else []
    return "\n".join([line + _unsent(session), *more, *([session["note"]] if "note" in session else [])])


def _unsent(value: Json) -> str:
    """How many prompts went with an agent that was ended."""
    number = len(value.get("unsent", ()))
    return f"; {number} prompt{' was' if number == 1 else 's were'} never sent" if number else ""


def held(receipt: Json) -> str:
    """Why a prompt is not typed yet."""
    return f"prompt {receipt['number']} is held: {shown(receipt['reason'])}"


def unfinished(session: Json) -> str:
    """Why an agent that was waited for has not finished."""
    why = session["evidence"].get("excerpt") if session["state"] == "blocked" else "the time is up"
    return f"{session['name']} is {session['state']}: {shown(why or 'it asks something')}"


def way_out(session: Json) -> str:
    """What who attaches to a session has to know, as a format of tmux in which nothing is expanded."""
    again = f"; its agent has {state(session)}: covey respawn {session['name']}" if session["exit"] else ""
    return f"CTRL-] d leaves, CTRL-] [ reads back{shown(again)}".replace("#", "##").replace("%", "%%")


def _receipt(receipt: Json) -> str:
    why = f": {receipt['reason']}" if receipt["reason"] else ""
    stripped = f", {receipt['stripped']} control bytes taken out" if receipt["stripped"] else ""
    waits = " (it goes out when the reason ends and a helper runs)" if receipt["outcome"] in ("held", "queued") else ""
    number = f"; prompt {receipt['number']}" if "number" in receipt else ""
    return f"{receipt['outcome']}{why}{waits} [{receipt['bytes']} bytes{stripped}{number}]"


def _reap(value: Json) -> str:
    done = {each["id"] for each in value["ended"]}
    left = {each["id"] for each in value["left"]}
    rows = []
    for each in value["decisions"]:
        act = "ended" if each["id"] in done else "would not end" if each["id"] in left else f"would {each['act']}"
        rows.append([act, each["name"], each["reason"]])
    return table(rows) if rows else "nothing to reap"


def _kill(value: Json) -> str:
    number = len(value["ended"])
    text = f"{value['name']}: ended {number} process{'' if number == 1 else 'es'}"
    if value["survivors"]:
        text = f"{value['name']} is still there: {', '.join(value['survivors'])} would not end"
    if "workspace" in value:
        text += f"; its worktree {value['workspace']}"
    text += _unsent(value)
    return text + (f"; left alone: {', '.join(value['left'])}" if value["left"] else "")


def _score(value: Json) -> str:
    if "matrix" not in value:
        return f"{value['state']} by rule {value['rule']}" + (f": {value['excerpt']}" if value["excerpt"] else "")
    total, right = value["total"], value["right"]
    got = sorted({state for row in value["matrix"].values() for state in row})
    rows = [["want \\ got", *got, ""]]
    rows += [[want, *(str(row.get(each, 0)) for each in got), ""] for want, row in sorted(value["matrix"].items())]
    misses = [f"{m['file']}: want {m['want']}, got {m['got']} by {m['rule']}" for m in value["misses"]]
    return "\n".join([f"{right} of {total} right ({100 * right / max(1, total):.2f} %)", table(rows), *misses])


def _queue(waiting: list[Json]) -> str:
    rows = [[str(each["number"]), each["outcome"], each["reason"], repr(each["text"][:60])] for each in waiting]
    return table([["NUMBER", "OUTCOME", "REASON", "TEXT"], *rows]) if rows else "nothing waits"


def _log(entries: Any, *, full: bool) -> str:
    if isinstance(entries, dict):
        return f"forgot {entries['removed']} entries"
    rows = table([[_local(each["at"]), each["kind"], each["words"]] for each in entries]).split("\n")
    return "\n".join(line for row, each in zip(rows, entries, strict=False) for line in [row, *_more(each, full=full)])


def _local(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _more(entry: Json, *, full: bool) -> list[str]:
    """The whole of a prompt, or of the last screen, below its row."""
    screen, text = entry["data"].get("screen"), entry["data"].get("text")
    lines = [*(screen if isinstance(screen, list) else ()), *str(text or "").splitlines()]
    return [f"    {shown(str(line))}".rstrip() for line in lines] if full else []


def _agents(value: Any) -> str:
    if isinstance(value, dict):
        checks = [["ok" if c["ok"] else "FAIL", f"{c['ms']:.0f} ms", c["name"], c["note"]] for c in value["checks"]]
        return f"{value['agent']}: {'all rules hold' if value['ok'] else 'not all rules hold'}\n{table(checks)}"
    rows = [["AGENT", "INSTALLED", "VERSION", "VERIFIED WITH"]]
    rows += [
        [
            a["name"],
            "yes" if a["installed"] else "no",
            a["version"] or "-",
            "untested" if a["untested"] else a["verified"],
        ]
        for a in value
        if "problem" not in a
    ]
    return "\n".join([table(rows), *(f"WRONG {a['problem']}" for a in value if "problem" in a)])


def _doctor(value: Json) -> str:
    tmux, packages = value["tmux"], value["packages"]
    missing = [name for name, version in packages.items() if not version]
    lines = [
        f"covey {value['covey']['version']} on Python {value['covey']['python_version']} ({value['covey']['python']})",
        f"{'ok   ' if tmux['ok'] else 'WRONG'} {tmux['version'] or 'no tmux was found'}; covey needs 3.2 or newer",
        f"{'WRONG' if missing else 'ok   '} packages: {', '.join(missing) + ' missing' if missing else 'all there'}",
        f"ok    {value['fleet']['sessions']} sessions; socket {value['paths']['socket']}",
        *(f"WRONG {problem}" for problem in value["problems"]),
        *(f"note  {warning}" for warning in value["warnings"]),
        f"      log: {value['paths']['log']}",
        "agents: " + (", ".join(each["name"] for each in value["agents"] if each["installed"]) or "none"),
    ]
    return "\n".join(lines)


def _selftest(value: Json) -> str:
    checks = [["ok" if check["ok"] else "FAIL", check["name"], check["note"]] for check in value["checks"]]
    return f"{'all is well' if value['ok'] else 'not all is well'}, {value['ms']:.0f} ms\n{table(checks)}"


def _stats(value: Json) -> str:
    if not value:
        return "no agent runs"
    rows = [["SESSION", "CPU s", "MEMORY MiB", "PROCESSES"]]
    rows += [[v["name"], f"{v['cpu']:.1f}", f"{v['rss'] / 2**20:.0f}", str(v["count"])] for v in value.values()]
    return table(rows)


FORMS: dict[str, Callable[[Any], str]] = {
    "open": _session,
    "ensure": _session,
    "run": _session,
    "worktree": _session,
    "reset": _session,
    "get": _session,
    "respawn": _session,
    "rename": _session,
    "keep": _session,
    "settle": _session,
    "send": _receipt,
    "cancel": _receipt,
    "broadcast": lambda value: "\n".join(f"{each['name']}: {_receipt(each)}" for each in value) or "no agent runs",
    "edit": _receipt,
    "kill": _kill,
    "delete": _kill,
    "reap": _reap,
    "capture": lambda value: "\n".join(value["lines"]).rstrip("\n"),
    "explain": _score,
    "queue": _queue,
    "agents": _agents,
    "doctor": _doctor,
    "selftest": _selftest,
    "stats": _stats,
    "interrupt": lambda value: f"{value['name']}: pressed {' '.join(value['keys'])}; it was {value['state']}",
    "answer": lambda value: (
        "\n".join([value["question"], *(f"- {each}" for each in value["options"])])
        if "options" in value
        else f"{value['name']}: {value['chosen']}"
    ),
}
