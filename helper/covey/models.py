"""The values that rooms hand to each other. Frozen, JSON-able, without behaviour of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

Json: TypeAlias = dict[str, Any]
StateName: TypeAlias = Literal["starting", "working", "blocked", "idle", "exited", "lost", "unknown"]
OnExit: TypeAlias = Literal["keep", "reap", "settled"]
Restart: TypeAlias = Literal["never", "on_failure", "always"]
Outcome: TypeAlias = Literal[
    "queued",  # committed to the store, not typed yet
    "pasted",  # typed; that it was submitted cannot be seen, or was not wanted
    "submitted",  # seen to leave the composer
    "held",  # waits for a reason to end (a dialog, a start, a person's draft)
    "refused",  # never typed, and never will be
    "cancelled",  # a person took it back before it was typed
    "dropped",  # meant for an older epoch of the session
    "unconfirmed",  # something broke between typing and seeing: it may or may not have arrived
    "undelivered",  # the session was reaped first
    "failed",  # tried, and known not to have arrived
]
COUNTS = frozenset({"nice", "history_limit"})  # the options that are whole numbers
FINAL: frozenset[str] = frozenset(
    {"pasted", "submitted", "refused", "cancelled", "dropped", "unconfirmed", "undelivered", "failed"}
)


def now() -> str:
    """This moment as RFC 3339 in UTC with milliseconds."""
    return stamp(datetime.now(UTC).timestamp())


def stamp(seconds: float) -> str:
    """Seconds since 1970 as RFC 3339 in UTC with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Identity:
    """One process for good: a pid comes back, a pid with its start time and its host does not.

    ``start`` is in clock ticks since boot (Linux) or milliseconds since 1970 (elsewhere); ``host`` names the
    place where pids can be compared at all: node name, boot id and pid namespace in one string.
    """

    pid: int
    start: int
    host: str

    def to_json(self) -> Json:
        return {"pid": self.pid, "start": self.start, "host": self.host}

    @classmethod
    def from_json(cls, data: Json | None) -> Identity | None:
        """Raises ``ValueError``, ``TypeError`` or ``KeyError`` for what is none."""
        try:
            return cls(int(data["pid"]), int(data["start"]), str(data["host"])) if data else None
        except OverflowError as error:
            raise ValueError("no process has an infinite number") from error


@dataclass(frozen=True, slots=True)
class Exit:
    """How an agent ended. Both None: it ended, and nobody can say how."""

    code: int | None = None
    signal: int | None = None

    @property
    def clean(self) -> bool:
        return self.code == 0 and self.signal is None

    def to_json(self) -> Json:
        return {"code": self.code, "signal": self.signal}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a session is doing, and by which evidence. ``rule`` names the rule that decided."""

    state: StateName
    rule: str
    excerpt: str = ""
    background: int = 0

    def to_json(self) -> Json:
        return {"state": self.state, "rule": self.rule, "excerpt": self.excerpt, "background": self.background}


@dataclass(frozen=True, slots=True)
class Spec:
    """What a session is: everything needed to start its agent again. Holds no secret values.

    ``env`` holds what a person gave for this session: a reference (``env:NAME``, ``file:PATH``, ``cmd:…``) as
    written, or one half of a literal value (see ``env.py``). ``conversation`` is the agent's own id of what was
    said, where it has one.
    """

    id: str
    name: str
    agent: str
    argv: tuple[str, ...]
    cwd: str
    created: str
    env: dict[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    owner: Identity | None = None
    on_exit: OnExit = "settled"
    restart: Restart = "never"
    keep: bool = False
    settled: bool = False
    guessed: bool = False
    conversation: str = ""
    options: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> Json:
        return {
            "id": self.id,
            "name": self.name,
            "agent": self.agent,
            "argv": list(self.argv),
            "cwd": self.cwd,
            "created": self.created,
            "env": dict(self.env),
            "unset": list(self.unset),
            "owner": self.owner.to_json() if self.owner else None,
            "on_exit": self.on_exit,
            "restart": self.restart,
            "keep": self.keep,
            "settled": self.settled,
            "guessed": self.guessed,
            "conversation": self.conversation,
            "options": dict(self.options),
        }

    @classmethod
    def unread(cls, session: str) -> Spec:
        """A session of which nothing but the id can be read: all else is guessed, and no agent can be started by it."""
        return cls(session, session, "custom", (), "", stamp(0), guessed=True)

    @classmethod
    def from_json(cls, data: Json) -> Spec:
        """Raises ``ValueError``, ``TypeError`` or ``KeyError`` for what is no spec."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        spec = cls(
            **{
                **known,
                "argv": _words(known["argv"]),
                "unset": _words(known.get("unset", [])),
                "env": _pairs(known.get("env", {})),
                "options": _pairs(known.get("options", {})),
                "owner": Identity.from_json(known.get("owner")),
            }
        )
        _words([spec.id, spec.name, spec.agent, spec.cwd, spec.conversation])
        truths = all(isinstance(each, bool) for each in (spec.keep, spec.settled, spec.guessed))
        counts = all(re.match(r"[0-9]{1,9}\Z", spec.options[name]) for name in COUNTS & spec.options.keys())
        if not (truths and counts) or spec.on_exit not in get_args(OnExit) or spec.restart not in get_args(Restart):
            raise ValueError("a spec's choices must be some that there are")
        if not datetime.fromisoformat(spec.created).tzinfo:
            raise ValueError("a spec's time must name its zone")
        return spec


def _words(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise TypeError("a spec's words must be text")
    return tuple(given)


def _pairs(given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        raise TypeError("a spec's values must have names")
    _words([*given.keys(), *given.values()])
    return given


@dataclass(frozen=True, slots=True)
class Pane:
    """One row of ``list-panes`` that carries our mark. ``spec`` is what the mark says."""

    pane: str
    tmux_session: str
    pid: int  # 0: of a dead one whose number tmux (3.8) tells no more
    dead: bool
    exit: Exit
    epoch: int
    fence: int
    act: str
    spec: Spec
    cols: int
    rows: int
    cursor: tuple[int, int]
    cursor_visible: bool
    in_mode: bool
    input_off: bool
    attached: int
    alternate: bool
    died_at: float
    active_at: float  # seconds since 1970 of the last output, in whole seconds
    progress: str  # changes with most output: rows of history and where the cursor is
    title: str
    command: str = ""  # the program whose group has the terminal, as tmux names it


@dataclass(frozen=True, slots=True)
class Session:
    """A session as everybody outside the helper sees it (``covey list --json`` prints these)."""

    id: str
    name: str
    agent: str
    state: StateName
    since: str
    evidence: Json
    exit: Exit | None
    pid: int | None
    pane: str | None
    cwd: str
    epoch: int
    created: str
    owner: Identity | None
    on_exit: OnExit
    keep: bool
    settled: bool
    queued: int
    guessed: bool
    attached: int = 0
    flags: tuple[str, ...] = ()
    title: str = ""
    last_line: str = ""
    argv: tuple[str, ...] = ()
    conversation: str = ""
    options: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> Json:
        return {
            "id": self.id,
            "name": self.name,
            "agent": self.agent,
            "state": self.state,
            "since": self.since,
            "evidence": self.evidence,
            "exit": self.exit.to_json() if self.exit else None,
            "pid": self.pid,
            "pane": self.pane,
            "cwd": self.cwd,
            "epoch": self.epoch,
            "created": self.created,
            "owner": self.owner.to_json() if self.owner else None,
            "on_exit": self.on_exit,
            "keep": self.keep,
            "settled": self.settled,
            "queued": self.queued,
            "guessed": self.guessed,
            "attached": self.attached,
            "flags": list(self.flags),
            "title": self.title,
            "last_line": self.last_line,
            "argv": list(self.argv),
            "conversation": self.conversation,
            "options": dict(self.options),
        }


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one send. ``bytes`` is what was (or would be) typed, ``stripped`` what was taken out of it.

    ``asks``: it is held until the agent is idle, and whoever sent it may say what he wants instead.
    ``number`` is a short word for ``id``; 0 for what was never in line.
    """

    id: str
    session: str
    epoch: int
    outcome: Outcome
    reason: str = ""
    bytes: int = 0
    stripped: int = 0
    asks: bool = False
    number: int = 0

    def to_json(self) -> Json:
        return {
            "id": self.id,
            "session": self.session,
            "epoch": self.epoch,
            "outcome": self.outcome,
            "reason": self.reason,
            "bytes": self.bytes,
            "stripped": self.stripped,
            **({"asks": True} if self.asks else {}),
            **({"number": self.number} if self.number else {}),
        }
