"""A storm of faulty agents: every receipt is compared with what the agent itself noted.

By hand, from the repository: ``python tests/faults/storm.py [SHARE]`` sends 1,100 prompts over 52 sessions at once and
prints a table (SHARE 0.1 sends a tenth of them). The shortened test is in ``test_exactly_once.py``.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from covey.errors import CoveyError
from covey.models import FINAL
from desk import Desk
from world import World

NEVER_TYPED = frozenset({"refused", "cancelled", "dropped", "undelivered", "failed", "queued", "held"})
PATIENCE = 240.0  # seconds for the last receipt
OPENING = 2  # sessions opened at a time: on a busy machine more would wait too long for the fleet
LOOK = 0.1  # seconds between looks for a dialog to answer


@dataclass(frozen=True)
class Squad:
    """Sessions of one kind: the fault's options, how many sessions, how many prompts each.

    ``feeds``: how many line feeds it may add to a prompt, for an Enter that comes too early is one to it.
    """

    options: str
    sessions: int
    prompts: int
    feeds: int = 0


SQUADS = (
    Squad("", 6, 70),
    Squad("--ready-after 4", 4, 20),
    Squad("--ignore-enter 30", 4, 10),
    Squad("--sticky 12", 6, 4),
    Squad("--dialog-after-paste", 6, 20),
    Squad("--swallow 5", 6, 40),
    Squad("--burst-gap 120", 4, 25, feeds=1),
    Squad("--slow-echo 300", 4, 15),
    Squad("--exit-mid-paste", 4, 5),
    Squad("--shell-after 5", 4, 10),
    Squad("--work 0.05 --swallow 7", 4, 10),
)


@dataclass
class Tally:
    """What came of one squad: receipts by outcome, and each receipt that was not true."""

    squad: Squad
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    took: float = 0.0


def text_of(session: str, number: int) -> str:
    """Prompts of every shape; each names its session and its number, so that none can be taken for another."""
    shapes = (
        "",
        "\nsecond line\n\nfourth",
        " " + "long " * 300,
        " ünï çödé 漢字 👩‍💻",
        "\n".join([" row"] * 8),
        " @file",
    )
    return f"{session}:{number:03}{shapes[number % len(shapes)]}".rstrip(" ")


def fed(came: list[str], sent: dict[str, str], feeds: int) -> list[str]:
    """What the agent noted, less the line feeds that it may have added; one too many is left to be seen."""
    meant = {text + "\n" * count: text for text in sent for count in range(feeds + 1)}
    return [meant.get(text, text) for text in came]


def judge(sent: dict[str, str], came: list[str]) -> list[str]:
    """Every receipt that is not true. ``sent``: text -> outcome, in order; ``came``: what the agent noted."""
    counts = Counter(came)
    wrong = [f"{text[:30]!r} was given to the agent and never sent" for text in counts.keys() - sent.keys()]
    for text, outcome in sent.items():
        if counts[text] > 1:
            wrong.append(f"{text[:30]!r}, {outcome}, came {counts[text]} times")
        if outcome == "submitted" and not counts[text]:
            wrong.append(f"{text[:30]!r} was called submitted and never came")
        if outcome in NEVER_TYPED | {"pasted"} and counts[text]:
            wrong.append(f"{text[:30]!r} was called {outcome} and came")
    order = [list(sent).index(text) for text in came if text in sent]
    wrong += [f"prompt {then} came after prompt {now}" for then, now in itertools.pairwise(order) if then > now]
    return wrong


async def answering(desk: Desk, names: list[str]) -> None:
    """A person who answers each dialog, now so, now so."""
    choices = itertools.cycle(("yes", "no"))
    while True:
        for view in [each for each in await desk("list") if each["name"] in names and each["state"] == "blocked"]:
            with contextlib.suppress(CoveyError):
                await desk("answer", name=view["name"], choice=next(choices))
        await asyncio.sleep(LOOK)


async def send(desk: Desk, name: str, number: int) -> tuple[str, str, str]:
    text = text_of(name, number)
    receipt = await desk("send", name=name, text=text, wait=PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while receipt["outcome"] not in FINAL and time.monotonic() < deadline:
        receipt = await desk("wait", act=receipt["id"], seconds=PATIENCE)
    return text, receipt["outcome"], receipt["reason"]


async def one(desk: Desk, squad: Squad, name: str, tally: Tally, opening: asyncio.Semaphore) -> None:
    """All prompts of one session at once; each receipt is compared with the agent's record."""
    async with opening:
        await desk.standin(name, *squad.options.split(), wait=False)
    began = time.monotonic()
    done = await asyncio.gather(*(send(desk, name, number) for number in range(squad.prompts)))
    tally.outcomes.update(outcome for _, outcome, _ in done)
    tally.reasons.update(f"{outcome}: {reason}" for _, outcome, reason in done if outcome != "submitted")
    sent = {text: outcome for text, outcome, _ in done}
    tally.wrong += judge(sent, fed(desk.prompts(name), sent, squad.feeds))
    tally.took = max(tally.took, time.monotonic() - began)


async def storm(desk: Desk, share: float = 1.0, squads: tuple[Squad, ...] = SQUADS) -> list[Tally]:
    """All squads at once; ``share`` scales the prompts of each session."""
    scaled = [replace(s, prompts=max(2, round(s.prompts * share))) for s in squads]
    tallies = [Tally(squad) for squad in scaled]
    plans = [(tally, f"s{row}-{at}") for row, tally in enumerate(tallies) for at in range(tally.squad.sessions)]
    opening = asyncio.Semaphore(OPENING)
    person = {asyncio.create_task(answering(desk, [name for _, name in plans]))}
    await asyncio.gather(*(one(desk, tally.squad, name, tally, opening) for tally, name in plans))
    for task in person:
        task.cancel()
    await asyncio.wait(person)
    return tallies


def table(tallies: list[Tally]) -> str:
    """The figures, one row a squad."""
    names = ["submitted", "unconfirmed", "pasted", "failed", "refused", "held", "queued"]
    rows = [f"{'fault':<26} {'sess':>4} {'sent':>5} " + " ".join(f"{name:>11}" for name in names) + " WRONG     s"]
    for tally in tallies:
        counts = " ".join(f"{tally.outcomes[name]:>11}" for name in names)
        squad = tally.squad
        rows.append(
            f"{squad.options or '(none)':<26} {squad.sessions:>4} {sum(tally.outcomes.values()):>5} {counts}"
            f" {len(tally.wrong):>5} {tally.took:>5.1f}"
        )
    total = sum(sum(tally.outcomes.values()) for tally in tallies)
    rows.append(f"{'total':<26} {sum(t.squad.sessions for t in tallies):>4} {total:>5}")
    return "\n".join(rows)


async def main(share: float) -> int:
    world = World()
    os.environ.update(world.env)
    desk = await Desk(world).start()
    try:
        tallies = await storm(desk, share)
        left = desk.tmux("list-buffers")
    finally:
        await desk.close()
        leaks = await asyncio.to_thread(world.close)
    print(table(tallies))
    for tally in tallies:
        print(
            *(f"  {n:>4} {tally.squad.options or '(none)'}: {why}" for why, n in tally.reasons.most_common(4)), sep="\n"
        )
        print(*(f"  WRONG {tally.squad.options or '(none)'}: {each}" for each in tally.wrong[:10]), sep="\n")
    print("buffers left:", left or "none", "· processes left:", leaks or "none")
    return 1 if left or leaks or any(tally.wrong for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)))
