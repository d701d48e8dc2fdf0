"""Which sessions may be ended, and why. Pure: it decides, the fleet acts.

What nobody is sure of is never ended: a session that is ``lost`` has nothing to end, unless it runs on without its
tmux session, of one that is ``stale`` tmux
did not answer, and of one that is ``guessed`` nobody knows what it is for. (``unknown`` alone only says that no rule
reads the program's screen.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from covey.registry import LEFT, STALE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from covey.models import Exit, Identity, Json, Session

    Alive: TypeAlias = Callable[[Identity], bool | None]

Act: TypeAlias = Literal["end", "keep", "release"]
BUSY = frozenset({"starting", "working", "blocked"})


@dataclass(frozen=True, slots=True)
class Decision:
    """``end`` it, ``keep`` it as it is, or ``release`` it: it lives on and has no owner any more."""

    id: str
    name: str
    act: Act
    reason: str

    def to_json(self) -> Json:
        return {"id": self.id, "name": self.name, "act": self.act, "reason": self.reason}


def at_exit(sessions: Iterable[Session], owner: Identity, spared: Collection[str]) -> list[Decision]:
    """One decision for each session of the editor that leaves, none for others'.

    ``spared``: ids that another living editor shows or has prompts queued on.
    """
    return [_leaving(one, spared) for one in sessions if one.owner == owner]


def sweep(sessions: Iterable[Session], alive: Alive, spared: Collection[str]) -> list[Decision]:
    """As ``at_exit``, for every owner that is provably gone (False); where that cannot be told (None), keep."""
    owned = [one for one in sessions if one.owner]
    states = {owner: alive(owner) for owner in {one.owner for one in owned} if owner}
    return [
        _leaving(one, spared) if states[one.owner] is False else _decide(one, "keep", "cannot tell if its editor lives")
        for one in owned
        if one.owner and not states[one.owner]
    ]


def over_cap(sessions: Iterable[Session], cap: int, refused: Collection[str] = ()) -> list[Decision]:
    """As many settled sessions as exceed ``cap``, the longest settled first; kept and busy ones neither go nor count.

    Walk past one that will not close, then ask again with its id in ``refused``: it still counts and is not chosen.
    """
    settled = [one for one in sessions if one.settled and not one.keep and not _unsure(one) and one.state not in BUSY]
    oldest = sorted((one for one in settled if one.id not in refused), key=lambda one: (one.since, one.created, one.id))
    excess = max(0, len(settled) - max(0, cap))
    return [_decide(one, "end", f"settled, and more than {cap} settled sessions are open") for one in oldest[:excess]]


def by_hand(sessions: Iterable[Session], alive: Alive) -> list[Decision]:
    """What a person who asks for a reap may get rid of: what has exited or settled, and what gone editors left.

    Living sessions of living editors (or of nobody) have no decision; neither have kept ones, unless left behind.
    """
    everything = list(sessions)
    over = {one.id: _decide(one, "end", _over(one)) for one in everything if not one.keep and _over(one)}
    behind = {one.id: one for one in sweep(everything, alive, ())}
    chosen = {**behind, **over}
    return [chosen[one.id] for one in everything if one.id in chosen]


def _leaving(one: Session, spared: Collection[str]) -> Decision:
    """The rule for a session whose editor leaves; the first line that fits decides."""
    rules: tuple[tuple[bool, Act, str], ...] = (
        (one.keep, "keep", "kept by a person"),
        (_left(one), "end", _words(one)),
        (one.state == "lost", "release", "lost: there is nothing to end"),
        (STALE in one.flags, "release", "tmux does not answer, so it may be at work"),
        (one.guessed, "release", "what it is had to be guessed"),
        (one.id in spared, "release", "another editor uses it"),
        (one.on_exit == "keep", "release", "to be kept when its editor leaves"),
        (one.on_exit == "reap", "end", "to be reaped when its editor leaves"),
        (one.state == "exited", "end", _exited(one.exit)),
        (one.settled, "end", "settled: its work is done"),
        (True, "release", f"{one.state}: it lives on without an owner"),
    )
    return next(_decide(one, act, reason) for fits, act, reason in rules if fits)


def _unsure(one: Session) -> bool:
    return one.state == "lost" or STALE in one.flags or one.guessed


def _over(one: Session) -> str:
    """Why a session is over; empty if it is not."""
    if _left(one):
        return _words(one)
    if one.state == "exited":
        return _exited(one.exit)
    return "settled: its work is done" if one.settled and not _unsure(one) and one.state not in BUSY else ""


def _left(one: Session) -> bool:
    """Whether all that is left of it are processes that nobody sees."""
    return one.evidence.get("rule") == LEFT


def _words(one: Session) -> str:
    return str(one.evidence.get("excerpt", ""))


def _exited(how: Exit | None) -> str:
    if how is None or (how.code is None and how.signal is None):
        return "exited, nobody knows how"
    return f"exited ({how.code})" if how.signal is None else f"killed by signal {how.signal}"


def _decide(one: Session, act: Act, reason: str) -> Decision:
    return Decision(one.id, one.name, act, reason)
