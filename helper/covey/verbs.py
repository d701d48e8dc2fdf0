"""What can be asked of a helper: one table of methods, each a function of the helper and JSON-able parameters."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeAlias

from covey import doctor, naming, process, prompt, reaper
from covey.errors import CoveyError, NotFound, Refused, Usage
from covey.helper import Helper
from covey.keeper import MAX_SETTLED, Request
from covey.models import FINAL, Identity, Json, Receipt, Session
from covey.reaper import Decision
from covey.tmux import panes

SEND_PATIENCE = 75.0  # seconds until a send answers with the receipt as it stands; it goes on meanwhile
FINISH_PATIENCE = 6 * 3600.0  # seconds to wait for an agent to finish
HISTORY_MOST = 50_000  # lines of scrollback one capture may ask for
IDLE_LOOK = 0.05  # seconds between looks while somebody waits for an agent to finish
ENDED = frozenset({"idle", "blocked", "exited", "lost"})

Method: TypeAlias = Callable[..., Awaitable[Any]]
Environ: TypeAlias = Mapping[str, str] | None


def _sorted(helper: Helper) -> list[Session]:
    return sorted(helper.fleet.views.values(), key=lambda view: (view.created, view.id))


async def _addressed(helper: Helper, name: str) -> Session:
    """The session meant, looked up anew when it is not known yet."""
    try:
        return helper.fleet.find(name)
    except NotFound:
        await helper.fleet.refresh()
        return helper.fleet.find(name)


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        raise Usage(f"{what} cannot be {value!r}", f"use one of: {', '.join(allowed)}")
    return value


# Looking


async def list_sessions(helper: Helper) -> list[Json]:
    await helper.fleet.refresh()
    return [view.to_json() for view in _sorted(helper)]


async def get(helper: Helper, name: str) -> Json:
    await helper.fleet.refresh()
    return helper.fleet.find(name).to_json()


async def snapshot(helper: Helper) -> Json:
    """The whole fleet, as answer and as event."""
    await helper.fleet.refresh()
    data = {"sessions": [view.to_json() for view in _sorted(helper)], "receipts": []}
    helper.emit("Fleet", "", data)
    return data


async def capture(helper: Helper, name: str, *, ansi: bool = False, history: int = 0) -> Json:
    """What a session's pane shows, and up to ``history`` rows above it."""
    view = await _addressed(helper, name)
    pane = await helper.fleet.pane(view.id)
    wire = helper.place.wire
    (shot,) = await panes.capture(wire, pane.pane, colours=ansi)
    if shot is None:
        raise NotFound("the session's pane is gone")
    text = shot.ansi
    if history:
        text = await panes.history(wire, pane.pane, min(history, HISTORY_MOST), colours=ansi)
    cursor = {"x": shot.cursor[0], "y": shot.cursor[1], "visible": shot.cursor_visible}
    return {"lines": text.split("\n"), "cols": shot.cols, "rows": shot.rows, "cursor": cursor}


async def attach(helper: Helper, name: str) -> Json:
    """What to run in a terminal to sit in front of the session: ``argv``, and ``env`` to add to it."""
    view = await _addressed(helper, name)
    pane = await helper.fleet.pane(view.id)
    return {"argv": [*helper.place.wire.command(), "attach-session", "-t", pane.tmux_session], "env": {}}


async def preview(helper: Helper, name: str, view: str, **_size: Any) -> Json:
    session = await _addressed(helper, name)
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
    view = await _addressed(helper, name)
    return await asyncio.to_thread(doctor.story, helper, view.id, limit)


async def stats(helper: Helper, names: list[str] | None = None) -> Json:
    """CPU seconds, resident bytes and number of processes of each session's tree, from one look at all."""
    await helper.fleet.refresh()
    views = [helper.fleet.find(name) for name in names] if names else _sorted(helper)
    roots = {view.id: view.pid for view in views if view.pid and view.state != "exited"}
    table = await asyncio.to_thread(process.snapshot)
    return {
        id_: {"cpu": each.cpu, "rss": each.rss, "count": each.count}
        for id_, each in process.stats(roots, table).items()
    }


async def agents(helper: Helper) -> list[Json]:
    return await doctor.agents(helper.catalog)


# Opening and ending


async def open_session(
    helper: Helper,
    *,
    name: str = "",
    agent: str = "",
    cwd: str = "",
    cmd: list[str] | None = None,
    prompt: str = "",
    env: Mapping[str, Any] | None = None,
    unset: list[str] | None = None,
    on_exit: str = "settled",
    restart: str = "never",
    environ: Environ = None,
    act: str = "",
) -> Json:
    """The session of that name: the one there is, or a new one. ``prompt`` reaches only one made by this call."""
    request = Request(
        name=name,
        agent=agent,
        cwd=cwd,
        cmd=tuple(cmd or ()),
        env={key: str(value) for key, value in (env or {}).items()},
        unset=tuple(unset or ()),
        on_exit=_one_of("on_exit", on_exit, ("keep", "reap", "settled")),
        restart=_one_of("restart", restart, ("never", "on_failure", "always")),
        owner=helper.owner,
        caller=environ or os.environ,
    )
    view, made = await helper.keeper.ensure(request)
    if not made and view.state in ("exited", "lost"):
        view = await helper.keeper.respawn(view.id, request.caller, fresh=False, force=False)
    answer: Json = {**view.to_json(), "opened": made}
    if prompt:
        answer["receipt"] = (await _first_prompt(helper, view, prompt, act or uuid.uuid4().hex, made=made)).to_json()
    return answer


async def _first_prompt(helper: Helper, view: Session, text: str, act: str, *, made: bool) -> Receipt:
    if not made:
        return Receipt(act, view.id, view.epoch, "refused", "exists: only the call that opens a session prompts it")
    return await _queue(helper, view, text, act, {"submit": True})


async def rename(helper: Helper, name: str, new: str) -> Json:
    return (await helper.keeper.change(name, name=naming.check(new))).to_json()


async def keep(helper: Helper, name: str, *, on: bool = True) -> Json:
    return (await helper.keeper.change(name, keep=bool(on))).to_json()


async def settle(helper: Helper, name: str) -> Json:
    """The work of this session is done: it may be closed when its turn comes."""
    view = await helper.keeper.change(name, settled=True)
    await _cap(helper)
    return view.to_json()


async def adopt(helper: Helper, name: str) -> Json:
    """Make a session whose owner is gone, or that has none, the caller's."""
    view = await _addressed(helper, name)
    if view.owner and view.owner != helper.owner and process.alive(view.owner) is not False:
        raise Refused(f"{view.name} belongs to the editor with pid {view.owner.pid}", "leave that editor first")
    return (await helper.keeper.change(view.id, owner=helper.owner)).to_json()


async def respawn(
    helper: Helper, name: str, *, fresh: bool = False, force: bool = False, environ: Environ = None
) -> Json:
    await helper.fleet.refresh()
    view = await helper.keeper.respawn(name, environ or os.environ, fresh=fresh, force=force)
    helper.revival.started(view.id)
    return view.to_json()


async def restore(helper: Helper, *, names: list[str] | None = None, yes: bool = False, environ: Environ = None) -> Any:
    """Sessions that a server took along, and with ``yes`` made again; each answers with itself or its error."""
    await helper.fleet.refresh()
    chosen = [helper.fleet.find(name) for name in names] if names else _sorted(helper)
    lost = [view for view in chosen if view.state == "lost"]
    if not yes:
        return [view.to_json() for view in lost]
    return [await _restore(helper, view, environ or os.environ) for view in lost]


async def _restore(helper: Helper, view: Session, environ: Mapping[str, str]) -> Json:
    try:
        return (await helper.keeper.restore(view, environ, fresh=False)).to_json()
    except CoveyError as error:
        return {"id": view.id, "name": view.name, "error": error.to_json()}


async def kill(helper: Helper, name: str) -> Json:
    """End a session with all that belongs to it; the answer names what was ended, what would not, what was left."""
    await helper.fleet.refresh()
    view = helper.fleet.find(name)
    ended = await helper.keeper.kill(view.id)
    return {
        "id": view.id,
        "name": view.name,
        "ended": [each.pid for each in ended.ended],
        "survivors": [f"{each.pid} {each.command}" for each in ended.survivors],
        "left": [f"{each.pid} {each.command}" for each in ended.left],
    }


async def reap(helper: Helper, *, yes: bool = False) -> Json:
    """What a person may get rid of, with reasons; with ``yes`` it is done."""
    await helper.fleet.refresh()
    decisions = reaper.by_hand(_sorted(helper), process.alive)
    done, left = await helper.keeper.carry_out(decisions) if yes else ([], [])
    return {
        "decisions": [each.to_json() for each in decisions],
        "ended": [each.to_json() for each in done],
        "left": [each.to_json() for each in left],
    }


async def sweep(helper: Helper, *, leaving: Identity | None = None) -> None:
    """Carry out the policy of the leaving owner, and of owners who left without a word."""
    await helper.fleet.refresh()
    views = _sorted(helper)
    spared = _spared(helper)
    mine = reaper.at_exit(views, leaving, spared) if leaving else []
    others = [view for view in views if view.owner != helper.owner]
    await _carry_out(helper, mine + reaper.sweep(others, process.alive, spared))


async def _cap(helper: Helper) -> None:
    """Close the longest settled beyond the cap; walk past what will not close."""
    refused: set[str] = set()
    while decisions := reaper.over_cap(helper.fleet.views.values(), MAX_SETTLED, refused):
        refused |= {each.id for each in await _carry_out(helper, decisions)}


async def _carry_out(helper: Helper, decisions: list[Decision]) -> list[Decision]:
    """Do it, and name every session that was closed without being asked for; answers what would not close."""
    done, left = await helper.keeper.carry_out(decisions)
    for each in done:
        await asyncio.to_thread(helper.store.log, each.id, "reaped", each.to_json())
        helper.emit("Reaped", each.id, each.to_json())
    for each in left:
        helper.emit("Notice", each.id, {"level": "warn", "message": f"{each.name} could not be closed"})
    return left


def _spared(helper: Helper) -> set[str]:
    """Sessions that another living helper has prompts queued on."""
    pending = [ticket for id_ in helper.outbox.counts() for ticket in helper.outbox.pending(id_)]
    others = [ticket for ticket in pending if ticket.writer != helper.kit.me]
    return {ticket.session for ticket in others if process.alive(ticket.writer)}


# Typing


async def send(
    helper: Helper,
    name: str,
    text: str,
    *,
    submit: bool = True,
    act: str = "",
    when: str = "",
    force: bool = False,
    raw: bool = False,
    wait: float = SEND_PATIENCE,
) -> Json:
    """Deliver a prompt exactly once. The answer is its receipt once it is final or held, or after ``wait`` seconds."""
    view = await _addressed(helper, name)
    options = {"submit": submit, "when": _one_of("when", when, ("", "now", "idle")), "force": force}
    receipt = await _queue(helper, view, text, act or uuid.uuid4().hex, options, raw=raw)
    if view.settled and receipt.outcome != "refused":
        await helper.keeper.change(view.id, settled=False)  # there is work again
    if receipt.outcome not in FINAL:
        receipt = await helper.settled(receipt.id, patience=wait)
    return receipt.to_json()


async def _queue(helper: Helper, view: Session, text: str, act: str, options: Json, *, raw: bool = False) -> Receipt:
    """Commit a send to the store and start its delivery; what cannot arrive is refused by a receipt."""
    clean = prompt.sanitise(text)
    profile = helper.eyes.profile(view.agent)
    try:
        prompt.check(clean, profile)
        typed = clean.text if raw else prompt.plain(clean.text, profile)
    except Refused as error:
        reason = f"{error.message}; {error.hint}" if error.hint else error.message
        return Receipt(act, view.id, view.epoch, "refused", reason, prompt.size(clean.text), clean.stripped)
    where = (act, view.id, view.epoch, "send", typed, options, helper.kit.me)
    receipt = await asyncio.to_thread(helper.outbox.put, *where, stripped=clean.stripped)
    helper.fleet.session(view.id).kick()
    return receipt


async def broadcast(helper: Helper, names: list[str], text: str) -> list[Json]:
    """One prompt to several sessions; a receipt each, in that order."""
    return list(await asyncio.gather(*(send(helper, name, text) for name in names)))


async def interrupt(helper: Helper, name: str) -> Json:
    view = await _addressed(helper, name)
    await helper.fleet.session(view.id).interrupt()
    return {"id": view.id, "name": view.name}


async def answer(helper: Helper, name: str, choice: str) -> Json:
    """Choose an option of the session's dialog by its words: ``yes``, ``no`` or a part of its text."""
    view = await _addressed(helper, name)
    return {"id": view.id, "name": view.name, **await helper.fleet.session(view.id).answer(choice)}


async def wait(helper: Helper, act: str, seconds: float = SEND_PATIENCE) -> Json:
    """The receipt of an act once it is final, or as it stands after ``seconds``."""
    return (await helper.settled(act, patience=seconds, until=FINAL)).to_json()


async def idle(helper: Helper, name: str, seconds: float = FINISH_PATIENCE) -> Json:
    """The session once its agent has finished: idle, blocked or ended; or as it stands after ``seconds``."""
    view = await _addressed(helper, name)
    deadline = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < deadline:
        seen = helper.fleet.views.get(view.id, replace(view, state="exited"))
        if seen.state in ENDED and not seen.queued:
            return seen.to_json()
        helper.ring()
        await asyncio.sleep(IDLE_LOOK)
    return helper.fleet.find(view.id).to_json()


async def queue(helper: Helper, name: str) -> list[Json]:
    """What waits to be typed, in order, with its text."""
    view = await _addressed(helper, name)
    waiting = await asyncio.to_thread(helper.outbox.pending, view.id)
    wanted = ("act", "outcome", "reason", "text", "created")
    return [{key: value for key, value in asdict(ticket).items() if key in wanted} for ticket in waiting]


async def cancel(helper: Helper, act: str) -> Json:
    receipt = await asyncio.to_thread(helper.outbox.cancel, act)
    helper.receipt(receipt)
    return receipt.to_json()


async def selftest(helper: Helper) -> Json:
    """Open a stand-in agent, prompt it, read its answer, end it; with the milliseconds of the round trip."""
    return await doctor.selftest(lambda method, **params: METHODS[method](helper, **params))


_NAMED: tuple[Method, ...] = (
    get, snapshot, capture, attach, preview, unpreview, explain, log, stats, agents, rename, keep, settle, adopt,
    respawn, restore, kill, reap, send, broadcast, interrupt, answer, wait, idle, queue, cancel, selftest,
)  # fmt: skip
METHODS: dict[str, Method] = {
    **{each.__name__: each for each in _NAMED},
    "list": list_sessions,
    "open": open_session,
    "ensure": open_session,
    "doctor": doctor.report,
}
