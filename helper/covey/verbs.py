"""What can be asked of a helper: one table of methods, each a function of the helper and JSON-able parameters."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from covey import doctor, life, process, render, speech, story, sweeping
from covey.asking import addressed, in_order, is_within
from covey.errors import NotFound, Refused
from covey.helper import Helper
from covey.models import Json
from covey.tmux import reading

WAY_OUT_MS = 4000  # for which the way out of an attached session is shown, unless a key is pressed
HISTORY_MOST = 50_000  # lines of scrollback one capture may ask for

Method: TypeAlias = Callable[..., Awaitable[Any]]


async def list_sessions(helper: Helper) -> list[Json]:
    await helper.fleet.refresh()
    return [view.to_json() for view in in_order(helper)]


async def get(helper: Helper, name: str) -> Json:
    await helper.fleet.refresh()
    return (await addressed(helper, name)).to_json()


async def snapshot(helper: Helper) -> Json:
    """The whole fleet, as answer and as event."""
    await helper.fleet.refresh()
    return tell_all(helper)


def tell_all(helper: Helper) -> Json:
    """What was last seen of the whole fleet, as event and as answer."""
    waiting = [speech.told(helper, receipt) for receipt in helper.outbox.waiting()]
    data = {"sessions": [view.to_json() for view in in_order(helper)], "receipts": waiting}
    helper.emit("Fleet", "", data)
    return data


async def capture(helper: Helper, name: str, *, ansi: bool = False, history: int = 0) -> Json:
    """What a session's pane shows, and up to ``history`` rows above it."""
    view = await addressed(helper, name)
    pane = await helper.fleet.pane(view.id)
    wire = helper.place.wire
    (shot,) = await reading.capture(wire, pane.pane, colours=ansi)
    if shot is None:
        raise NotFound("the session's pane is gone")
    text = shot.ansi
    if history:
        text = await reading.history(wire, pane.pane, min(history, HISTORY_MOST), colours=ansi)
    cursor = {"x": shot.cursor[0], "y": shot.cursor[1], "visible": shot.cursor_visible}
    return {"lines": text.split("\n"), "cols": shot.cols, "rows": shot.rows, "cursor": cursor}


async def attach(helper: Helper, name: str) -> Json:
    """What to run in a terminal to sit in front of the session: ``argv``, and ``env`` to add to it.

    ``way_out`` is a further command for that client, where nothing else says how it is left: it shows that for a while.
    Refused from within that session: it would show itself showing itself.
    """
    view = await addressed(helper, name)
    if is_within(view):
        raise Refused(f"{view.name} is the session that this runs in", "attach to it from outside")
    pane = await helper.fleet.pane(view.id)
    argv = [*helper.place.wire.command(), "attach-session", "-t", pane.tmux_session]
    way_out = ["display-message", "-d", str(WAY_OUT_MS), render.way_out(view.to_json())]
    return {"argv": argv, "env": {}, "way_out": way_out}


async def preview(helper: Helper, name: str, view: str, **_size: Any) -> Json:
    session = await addressed(helper, name)
    await helper.previews.open(session.id, view)
    return {"view": view, "session": session.id}


async def unpreview(helper: Helper, view: str) -> Json:
    await helper.previews.shut(view)
    return {}


async def explain(helper: Helper, name: str) -> Json:
    """By which rule the session's state was concluded, and from what."""
    await helper.fleet.refresh()
    view = helper.fleet.find(name)
    return {**view.evidence, "id": view.id, "name": view.name, "agent": view.agent, "since": view.since}


async def log(helper: Helper, name: str, limit: int = 200) -> list[Json]:
    """What was sent to a session and what befell it, with words; of one that has ended, the last of that name."""
    try:
        session = (await addressed(helper, name)).id
    except NotFound:
        ended = await asyncio.to_thread(helper.store.sessions, live=False)
        found = [record.spec.id for record in ended if name in (record.spec.name, record.spec.id)]
        if not found:
            raise
        session = found[-1]
    return await asyncio.to_thread(story.told, helper.store, session, limit)


async def purge(helper: Helper) -> Json:
    """Forget every prompt that is settled, and every session that has ended."""
    return {"removed": await asyncio.to_thread(helper.outbox.purge, 0)}


async def stats(helper: Helper, names: list[str] | None = None) -> Json:
    """CPU seconds, resident bytes and number of processes of each session's tree, by id, from one look at all."""
    await helper.fleet.refresh()
    views = [helper.fleet.find(name) for name in names] if names else in_order(helper)
    roots = {view.id: view.pid for view in views if view.pid and view.state != "exited"}
    table = await asyncio.to_thread(process.snapshot)
    return {
        id_: {"name": helper.fleet.views[id_].name, "cpu": each.cpu, "rss": each.rss, "count": each.count}
        for id_, each in process.stats(roots, table).items()
    }


async def agents(helper: Helper) -> list[Json]:
    """Every profile; behind them ``{problem}``, a sentence for each file that cannot be read."""
    return [*await doctor.agents(helper.catalog), *({"problem": each} for each in helper.catalog.problems)]


async def rehearse(helper: Helper, agent: str) -> Json:
    """Lead the installed agent through a session against a model of our own, and say which of its rules hold."""
    from covey import rehearsal  # noqa: PLC0415  # a web server that nothing else needs

    name = f"rehearsal of {agent}"

    def call(method: str, **params: Any) -> Awaitable[Any]:
        return METHODS[method](helper, **params)

    return await rehearsal.rehearse(name, call, helper.catalog.get(agent), os.environ.get("PATH", os.defpath))


async def selftest(helper: Helper) -> Json:
    """Open a stand-in agent, prompt it, read its answer, end it; with the milliseconds of the round trip."""
    return await doctor.selftest(lambda method, **params: METHODS[method](helper, **params))


_NAMED: tuple[Method, ...] = (
    *(get, snapshot, capture, attach, preview, unpreview, explain, log, purge, stats, agents, rehearse, selftest),
    *(life.rename, life.keep, life.settle, life.adopt, life.respawn, life.restore, life.kill, sweeping.reap),
    *(life.run, life.worktree, life.reset, life.delete),
    *(speech.send, speech.broadcast, speech.interrupt, speech.answer, speech.wait, speech.idle),
    *(speech.queue, speech.edit, speech.cancel),
)
METHODS: dict[str, Method] = {
    **{each.__name__: each for each in _NAMED},
    "list": list_sessions,
    "open": life.open_session,
    "ensure": life.open_session,
    "doctor": doctor.report,
}
