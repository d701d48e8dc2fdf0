"""When a dead agent is started again. Pure: what was logged and seen in, a wait or a stop out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from covey.models import Exit, Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from covey.models import Restart

FIRST_DELAY = 0.5  # s; doubled with each short life
LAST_DELAY = 30.0  # s
LONG_LIFE = 60.0  # s after which the next delay is the first again
BREAKER_EXITS = 5  # exits other than clean ones
BREAKER_SPAN = 10.0  # s

BY_HAND = frozenset({"respawned", "reset", "restored"})  # how a person's start of an agent is called in the log

Lived: TypeAlias = tuple[float, Exit]


@dataclass(frozen=True, slots=True)
class Wait:
    """Start again after so many seconds."""

    delay: float


@dataclass(frozen=True, slots=True)
class Stop:
    """Do not start again by itself; ``reason`` is for a person."""

    reason: str


def lives(history: Iterable[Json], seen: Mapping[int, Lived], epoch: int) -> list[Lived]:
    """How a session's starts ended since a person last started it, oldest first, up to that of ``epoch``.

    ``history`` is its log; ``seen`` is what a helper saw by itself, which need not be in it.
    """
    found: dict[int, Lived] = {}
    first = 0
    for entry in history:
        try:
            facts = entry["data"]
            if entry["kind"] in BY_HAND:
                first = max(first, int(facts["epoch"][1]))
            elif entry["kind"] == "exited":
                ended = datetime.fromisoformat(entry["at"]).timestamp()
                found[int(facts["epoch"])] = (ended, Exit(facts["code"], facts["signal"]))
        except (KeyError, TypeError, ValueError, IndexError):
            continue  # of other facts, or damaged
    found |= seen
    return [found[each] for each in sorted(found) if first <= each <= epoch]


def plan(policy: Restart, exits: Sequence[Lived], stopped_by_person: bool) -> Wait | Stop:  # noqa: FBT001  a fact
    """What to do after the last of ``exits`` (seconds, how; oldest first; of this session, all of them).

    A tripped breaker stays tripped while the exits that tripped it are in the list: begin a new list when a person
    starts the agent. An exit nobody can explain counts against the breaker, and is no failure to restart for.
    """
    last = exits[-1][1] if exits else Exit(code=0)
    unexplained = last.code is None and last.signal is None
    stops = (
        (not exits, "nothing has exited"),
        (stopped_by_person, "stopped by a person"),
        (policy == "never", "restart is off"),
        (_tripped(exits), "crash loop"),
        (policy == "on_failure" and last.clean, "clean exit"),
        (policy == "on_failure" and unexplained, "unknown exit"),
    )
    reason = next((reason for fits, reason in stops if fits), None)
    return Stop(reason) if reason else Wait(_delay([at for at, _ in exits]))


def _tripped(exits: Sequence[Lived]) -> bool:
    """Whether five exits in a row, none of them clean, ever fell into ten seconds."""
    row: list[float] = []
    for at, how in exits:
        row = [] if how.clean else [*row, at][-BREAKER_EXITS:]
        if len(row) == BREAKER_EXITS and 0 <= at - row[0] <= BREAKER_SPAN:  # less: the clock was put back
            return True
    return False


def _delay(moments: Sequence[float]) -> float:
    """0.5, 1, 2 … 30 s: doubled after each life that was short, where a life begins when the wait before it is over."""
    delay = FIRST_DELAY
    for before, after in pairwise(moments):
        delay = FIRST_DELAY if after - before - delay >= LONG_LIFE else min(delay * 2, LAST_DELAY)
    return delay
