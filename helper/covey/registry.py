"""Rows of ``list-panes`` and our marks on them, as values. Pure.

Marks are pane options, so that a pane split off by somebody does not inherit them: ``@covey_id``, ``@covey_epoch``,
``@covey_fence``, ``@covey_act`` and ``@covey_spec`` (the spec as JSON in URL-safe base64, for tmux must never see a
person's text in a format). Fields of fixed shape come first and the one free text, the title, last.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from covey import column
from covey.models import Exit, Pane, Session, Spec, Verdict

FIELDS = (
    "pane_id session_id pane_pid pane_dead pane_dead_status pane_dead_signal pane_dead_time "
    "@covey_id @covey_epoch @covey_fence @covey_act "
    "pane_width pane_height cursor_x cursor_y cursor_flag pane_in_mode pane_input_off alternate_on "
    "window_activity history_size pane_current_command @covey_spec pane_title"
).split()
ONE_WORD = "s/[^!-~]/_/:"  # a program's own name for itself: it may hold line feeds, which would cut the row
FORMAT = " ".join(f"#{{{ONE_WORD if name == 'pane_current_command' else ''}{name}}}" for name in FIELDS)

_PANE = re.compile(r"%\d+\Z")
_ID = re.compile(r"[a-z2-7]{8}\Z")
_COUNT = re.compile(r"[0-9]{1,9}\Z")
STALE = "stale"  # the flag of a session that tmux was asked about and did not answer
LEFT = "closed-outside"  # the rule by which a session is lost that runs on without its tmux session
GUESSED = "guessed"  # the flag of a session of which something could not be read


def encode(spec: Spec) -> str:
    """A spec as a mark: letters, digits, ``-`` and ``_`` only."""
    text = json.dumps(spec.to_json(), ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogateescape")).decode().rstrip("=")


@lru_cache(maxsize=1024)
def decode(mark: str) -> Spec | None:
    """The spec that a mark holds; None when it is not one of ours."""
    try:
        data = base64.urlsafe_b64decode(mark + "=" * (-len(mark) % 4))
    except ValueError:
        return None
    return column.value(Spec.from_json, data.decode("utf-8", "surrogateescape"))


def panes(rows: Iterable[str]) -> tuple[list[Pane], list[str]]:
    """Our panes among the rows, and the marked rows that could not be read (to be shown, never dropped).

    Of a pane whose mark is damaged the spec is ``Spec.unread``.
    """
    found, bad = [], []
    for row in rows:
        values = row.split(" ", len(FIELDS) - 1)
        if len(values) == len(FIELDS) and not values[FIELDS.index("@covey_id")]:
            continue  # not ours
        try:
            found.append(_pane(dict(zip(FIELDS, values, strict=True))))
        except (ValueError, TypeError, KeyError):
            bad.append(row)
    return found, bad


def _pane(row: dict[str, str]) -> Pane:
    if not _PANE.match(row["pane_id"]):
        raise ValueError(row["pane_id"])
    if not _ID.match(row["@covey_id"]):
        raise ValueError(row["@covey_id"])
    return Pane(
        pane=row["pane_id"],
        tmux_session=row["session_id"],
        pid=int(row["pane_pid"] or 0),  # tmux 3.8 forgets it when the process has ended
        dead=row["pane_dead"] == "1",
        exit=Exit(_number(row["pane_dead_status"]), _number(row["pane_dead_signal"])),
        epoch=_count(row["@covey_epoch"]),
        fence=_count(row["@covey_fence"]),
        act=row["@covey_act"],
        spec=_spec(row["@covey_spec"], row["@covey_id"]),
        cols=int(row["pane_width"]),
        rows=int(row["pane_height"]),
        cursor=(int(row["cursor_x"]), int(row["cursor_y"])),
        cursor_visible=row["cursor_flag"] == "1",
        in_mode=row["pane_in_mode"] not in ("", "0"),
        input_off=row["pane_input_off"] == "1",
        attached=0,
        alternate=row["alternate_on"] == "1",
        died_at=float(row["pane_dead_time"] or 0),
        active_at=float(row["window_activity"] or 0),
        progress=f"{row['history_size']}.{row['cursor_x']}.{row['cursor_y']}",
        title=row["pane_title"],
        command=row["pane_current_command"],
    )


def _spec(mark: str, session: str) -> Spec:
    """What the mark says; where it cannot be read, or is another session's, only the id is known."""
    spec = decode(mark)
    return spec if spec and spec.id == session else Spec.unread(session)


def _count(mark: str) -> int:
    if not _COUNT.match(mark):
        raise ValueError(mark)
    return int(mark)


def _number(text: str) -> int | None:
    return int(text) if text else None


def view(pane: Pane, verdict: Verdict, since: str, *, queued: int, last_line: str) -> Session:
    """A session that tmux has, as everybody outside sees it."""
    return replace(
        _shell(pane.spec, pane.epoch, verdict, since, queued),
        exit=pane.exit if pane.dead else None,
        pid=pane.pid or None,
        pane=pane.pane,
        attached=pane.attached,
        flags=(*flags(pane.spec), *([f"background({verdict.background})"] if verdict.background else [])),
        title=pane.title,
        last_line=last_line,
    )


def lost(spec: Spec, epoch: int, since: str, *, queued: int, left: Sequence[int] = ()) -> Session:
    """A session that tmux has no more, as the store remembers it: its server went away.

    ``left``: what runs on of one whose tmux session alone was closed.
    """
    why = f"its tmux session was closed outside covey; still running: {', '.join(map(str, left))}"
    verdict = Verdict("lost", LEFT, why) if left else Verdict("lost", "server-gone", "the tmux server went away")
    return replace(_shell(spec, epoch, verdict, since, queued), pid=left[0] if left else None)


def doubted(session: Session, rule: str, why: str, since: str) -> Session:
    """The same session where tmux did not say how it is: nothing that is sure of itself is done to it."""
    evidence = {"state": "unknown", "rule": rule, "excerpt": why, "background": 0}
    return replace(session, state="unknown", since=since, evidence=evidence, flags=(*flags(session), STALE))


def _shell(spec: Spec, epoch: int, verdict: Verdict, since: str, queued: int) -> Session:
    return Session(
        id=spec.id,
        name=spec.name,
        agent=spec.agent,
        state=verdict.state,
        since=since,
        evidence=verdict.to_json(),
        exit=None,
        pid=None,
        pane=None,
        cwd=spec.cwd,
        epoch=epoch,
        created=spec.created,
        owner=spec.owner,
        on_exit=spec.on_exit,
        keep=spec.keep,
        settled=spec.settled,
        queued=queued,
        guessed=spec.guessed,
        flags=flags(spec),
        argv=spec.argv,
        conversation=spec.conversation,
        options=spec.options,
    )


def flags(one: Spec | Session) -> tuple[str, ...]:
    """The flags that hold whatever else is known."""
    return (GUESSED,) if one.guessed else ()


def event(old: Session | None, view: Session) -> str:
    """The name of the news that this is how a session is now, where it was so before."""
    if old is None:
        return "Opened"
    if (old.state, old.epoch) != (view.state, view.epoch):
        return {"exited": "Exited", "lost": "Lost"}.get(view.state, "State")
    return "Renamed" if old.name != view.name else "Changed"
