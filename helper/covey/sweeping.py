"""Ending what may be ended: by hand, and by the policies of editors that leave or have left."""

from __future__ import annotations

import asyncio

from covey import process, reaper
from covey.asking import in_order
from covey.errors import CoveyError
from covey.helper import Helper
from covey.models import Identity, Json
from covey.store import acting
from covey.tmux import reading


async def reap(helper: Helper, *, yes: bool = False) -> Json:
    """What a person may get rid of, with reasons; with ``yes`` it is done."""
    await helper.fleet.refresh()
    decisions = reaper.by_hand(in_order(helper), process.alive)
    done, left = await helper.keeper.carry_out(decisions) if yes else ([], [])
    if yes:
        await helper.keeper.leftovers.tidy(helper.fleet.panes)
    return {
        "decisions": [each.to_json() for each in decisions],
        "ended": [each.to_json() for each in done],
        "left": [each.to_json() for each in left],
    }


async def sweep(helper: Helper, *, leaving: Identity | None = None) -> None:
    """Carry out the policy of the leaving owner, and of owners who left without a word."""
    await helper.fleet.refresh()
    views = in_order(helper)
    spared = await _spared(helper, leaving)
    mine = reaper.at_exit(views, leaving, spared) if leaving else []
    others = [view for view in views if view.owner != helper.owner]
    with acting({"who": "the sweep after editor", "pid": leaving.pid} if leaving else {"who": "the sweep"}):
        await helper.settling.carry_out(mine + reaper.sweep(others, process.alive, spared))
    if leaving:
        await helper.keeper.leftovers.tidy(helper.fleet.panes)  # not at a start, which somebody waits for
        await helper.keeper.last_one_out()


async def _spared(helper: Helper, leaving: Identity | None) -> set[str]:
    """Sessions that another living editor shows, or has prompts queued on."""
    return await asyncio.to_thread(_awaited, helper) | await _shown(helper, leaving)


def _awaited(helper: Helper) -> set[str]:
    pending = [ticket for id_ in helper.outbox.counts() for ticket in helper.outbox.pending(id_)]
    others = [ticket for ticket in pending if ticket.writer != helper.kit.me]
    return {ticket.session for ticket in others if process.alive(ticket.writer)}


async def _shown(helper: Helper, leaving: Identity | None) -> set[str]:
    """Sessions with a client (somebody attached, somebody's preview) that neither we nor the leaving editor started."""
    try:
        clients = await reading.clients(helper.place.wire)
    except CoveyError:
        return set(helper.fleet.panes)  # who looks cannot be told
    table = await asyncio.to_thread(process.snapshot)
    ours = {helper.kit.me.pid, leaving.pid if leaving else 0}
    others = {c.tmux_session for c in clients if ours.isdisjoint(each.pid for each in table.ancestors(c.pid))}
    return {id_ for id_, pane in helper.fleet.panes.items() if pane.tmux_session in others}
