"""The verbs of a session's life: open, run, name, keep, respawn, restore, kill."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from collections.abc import Collection, Mapping
from typing import Any

from covey import naming, process, story
from covey import workspace as workspaces
from covey.asking import Environ, addressed, in_order, is_within, one_of
from covey.errors import CoveyError, NotFound, Refused, Usage
from covey.helper import Helper
from covey.keeper import Request
from covey.models import Json, Receipt, Session
from covey.speech import fallen, minted, queue_prompt

RESTORE_AT_ONCE = 4  # sessions that are made again side by side
FIXED = "its scrollback stays as it is: tmux fixes it when it makes a pane; kill the session and open it anew"


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
    options: Mapping[str, Any] | None = None,
    environ: Environ = None,
    act: str = "",
    once: bool = False,
    words: list[str] | None = None,
    worktree: bool = False,
    typed: str = "",
) -> Json:
    """The session of that name: the one there is, or a new one. ``prompt`` reaches only one made by this call.

    ``words``: a name and an agent in any order, or one of them. Without any other word an agent is what is called so.
    ``typed``: the word by which a person just now named the one or the other: refused where it is an agent mistyped.

    ``worktree``: it starts in a git worktree of the branch called ``name``; each is made where it is not there.

    ``options``: see ``naming.options``. In the answer, ``undelivered``: prompts that its predecessor of that name and
    directory never got; ``note``: what was asked of a session that is there already and cannot be had.
    """
    known = helper.catalog.names()
    await _no_slip(helper, typed, known)
    name, agent = naming.meant(words or (), name, agent, known)
    if worktree and not name:
        raise Usage("a session in a worktree wants a name", "give one: its branch is called so, too")
    request = Request(
        name=name,
        agent=agent or (name if name in known and not cmd else ""),
        cwd=cwd,
        cmd=tuple(cmd or ()),
        env={key: str(value) for key, value in (env or {}).items()},
        unset=tuple(unset or ()),
        on_exit=one_of("on_exit", on_exit, ("keep", "reap", "settled")),
        restart=one_of("restart", restart, ("never", "on_failure", "always")),
        owner=helper.owner,
        caller=environ or os.environ,
        options={**naming.options(options or {}), **({"once": "1"} if once else {})},
        worktree=worktree,
    )
    act = minted(act)
    view, made = await helper.keeper.ensure(request)
    ended = not made and view.state in ("exited", "lost")
    if ended:
        view = await helper.keeper.respawn(view.id, request.caller, fresh=False, force=False)
    answer: Json = {**view.to_json(), "opened": made, "respawned": ended, **await _beginning(helper, view)}
    if not made and request.options.get("history_limit") not in (None, view.options.get("history_limit")):
        answer["note"] = FIXED
    elif worktree and not made:
        answer["note"] = f"it was there already, in {view.cwd}"
    if made and name:
        answer["undelivered"] = await asyncio.to_thread(_undelivered, helper, view)
    if prompt:
        answer["receipt"] = (await _first_prompt(helper, view, prompt, act, made=made)).to_json()
    return answer


async def _no_slip(helper: Helper, word: str, known: Collection[str]) -> None:
    """Refuse a word that is an agent's name mistyped, and no session's."""
    if not (near := naming.slip(word, known)):
        return
    await helper.fleet.refresh()
    with contextlib.suppress(NotFound):
        helper.fleet.find(word)
        return
    raise Usage(f"no agent {word!r}", f"did you mean {near}? Else: open {word} AGENT")


def _undelivered(helper: Helper, view: Session) -> list[Json]:
    """What the last session of that name and directory was to get when it was ended."""
    past = [
        record
        for record in helper.store.sessions(live=False)
        if record.ended_at and (record.spec.name, record.spec.cwd) == (view.name, view.cwd)
    ]
    if not past:
        return []
    left = helper.outbox.left(max(past, key=lambda record: record.ended_at).spec.id)
    return [{"act": ticket.act, "text": ticket.text, "created": ticket.created} for ticket in left]


async def _first_prompt(helper: Helper, view: Session, text: str, act: str, *, made: bool) -> Receipt:
    if not made:
        return Receipt(act, view.id, view.epoch, "refused", "exists: only the call that opens a session prompts it")
    return await queue_prompt(helper, view, text, act, {"submit": True})


@functools.wraps(open_session, assigned=())  # it takes what open takes
async def run(helper: Helper, **given: Any) -> Json:
    """A session for one task: opened, prompted, and settled by itself once its agent has finished."""
    if not given.get("prompt"):
        raise Usage("run wants a prompt", "give prompt=…")
    return await open_session(helper, **{**given, "once": True})


@functools.wraps(open_session, assigned=())
async def worktree(helper: Helper, **given: Any) -> Json:
    """As open, in a git worktree."""
    return await open_session(helper, **{**given, "worktree": True})


async def rename(helper: Helper, name: str, new: str) -> Json:
    return (await helper.keeper.change(name, name=naming.check(new))).to_json()


async def keep(helper: Helper, name: str, *, on: bool = True) -> Json:
    return (await helper.keeper.change(name, keep=bool(on))).to_json()


async def settle(helper: Helper, name: str, *, on: bool = True) -> Json:
    """The work of this session is done: it may be closed when its turn comes.

    With ``on`` false it is not, and one that was opened for a single task settles by itself no more.
    """
    view = await addressed(helper, name)
    options = {key: value for key, value in view.options.items() if on or key != "once"}
    view = await helper.keeper.change(view.id, settled=bool(on), options=options)
    await helper.settling.limit()
    return view.to_json()


async def adopt(helper: Helper, name: str) -> Json:
    """Make a session whose owner is gone, or that has none, the caller's."""
    view = await addressed(helper, name)
    if view.owner and view.owner != helper.owner and process.alive(view.owner) is not False:
        raise Refused(f"{view.name} belongs to the editor with pid {view.owner.pid}", "leave that editor first")
    return (await helper.keeper.change(view.id, owner=helper.owner)).to_json()


async def respawn(
    helper: Helper, name: str, *, fresh: bool = False, force: bool = False, environ: Environ = None
) -> Json:
    await helper.fleet.refresh()
    view = await addressed(helper, name)
    if is_within(view):
        raise Refused(f"{view.name} is the session that this runs in", "start it again from outside")
    async with fallen(helper, view.id) as unsent:
        view = await helper.keeper.respawn(view.id, environ or os.environ, fresh=fresh, force=force)
    helper.revival.started(view.id)
    return {**view.to_json(), "unsent": unsent, **await _beginning(helper, view)}


async def _beginning(helper: Helper, view: Session) -> Json:
    """What its answer says of a start that did not go on as it should."""
    note = await asyncio.to_thread(story.beginning, helper.store, view.id, view.epoch)
    return {"note": note} if note else {}


async def restore(helper: Helper, *, names: list[str] | None = None, yes: bool = False, environ: Environ = None) -> Any:
    """Sessions that a server took along, and with ``yes`` made again; each answers with itself or its error."""
    await helper.fleet.refresh()
    chosen = [helper.fleet.find(name) for name in names] if names else in_order(helper)
    lost = [view for view in chosen if view.state == "lost"]
    if not yes:
        return [view.to_json() for view in lost]
    gate = asyncio.Semaphore(RESTORE_AT_ONCE)

    async def one(view: Session) -> Json:
        async with gate:
            return await _restore(helper, view, environ or os.environ)

    return list(await asyncio.gather(*map(one, lost)))


async def _restore(helper: Helper, view: Session, environ: Mapping[str, str]) -> Json:
    try:
        return (await helper.keeper.restore(view, environ, fresh=False)).to_json()
    except CoveyError as error:
        return {"id": view.id, "name": view.name, "error": error.to_json()}


async def kill(helper: Helper, name: str, *, force: bool = False) -> Json:
    """End a session with all that belongs to it; the answer names what was ended, what would not, what was left.

    From within that very session only by ``force``: whoever asked is left alone, and would be cut off in the middle.
    """
    await helper.fleet.refresh()
    view = helper.fleet.find(name)
    if is_within(view) and not force:
        raise Refused(
            f"{view.name} is the session that this command runs in", "kill it from outside, or with: covey kill --force"
        )
    async with fallen(helper, view.id) as unsent:
        ended = await helper.keeper.kill(view.id)
    return {
        "id": view.id,
        "name": view.name,
        "ended": [each.pid for each in ended.ended],
        "survivors": [f"{each.pid} {each.command}" for each in ended.survivors],
        "left": [f"{each.pid} {each.command}" for each in ended.left],
        "unsent": unsent,
    }


async def reset(helper: Helper, name: str, *, environ: Environ = None) -> Json:
    """The agent is ended and its conversation forgotten: it starts anew, under the same id and name."""
    return await respawn(helper, name, fresh=True, force=True, environ=environ)


async def delete(helper: Helper, name: str, *, workspace: bool = False) -> Json:
    """As kill, and what was sent to the session is forgotten too.

    Its directory is touched only by ``workspace``, and only where ``workspace.check`` allows that before anything is
    ended; the answer's ``workspace`` says that it ``is removed``, or why it stays after all.
    """
    view = await addressed(helper, name)
    if workspace:
        await _check_workspace(helper, view)
    killed = await kill(helper, view.id)
    if killed["survivors"]:
        return killed
    await asyncio.to_thread(helper.outbox.forget, killed["id"])
    return {**killed, "workspace": await _without(view.cwd)} if workspace else killed


async def _check_workspace(helper: Helper, view: Session) -> None:
    here = [each.name for each in helper.fleet.views.values() if each.cwd == view.cwd and each.id != view.id]
    if here:
        raise Refused(f"{view.cwd} is the directory of {', '.join(sorted(here))} too", "end that first")
    await workspaces.check(view.cwd)


async def _without(directory: str) -> str:
    try:
        await workspaces.remove(directory)
    except CoveyError as error:
        return f"stays: {error.message}"
    return "is removed"
