"""Opening, changing, starting again and ending: what is done to the fleet, decided and carried out under its lock."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from covey import conversation, env, naming, reference, workspace
from covey.agents import lacks
from covey.ending import Ended
from covey.errors import CoveyError, NoServer, NotFound, Refused, ServerLost
from covey.fleet import Fleet
from covey.leftovers import Leftovers
from covey.models import Identity, OnExit, Restart, Spec, now
from covey.models import Session as View
from covey.reaper import Decision
from covey.session import Kit, check_program, environment, keep_values, lane, note_end, stage_start, values
from covey.tmux import panes, reading


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks for when opening a session; empty fields are covey's to choose."""

    name: str = ""
    agent: str = ""
    cwd: str = ""
    cmd: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    on_exit: OnExit = "settled"
    restart: Restart = "never"
    owner: Identity | None = None
    caller: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    worktree: bool = False  # in a git worktree of the branch that is called as the session


class Keeper:
    """Everything that makes, renames or ends sessions of this fleet."""

    def __init__(self, kit: Kit, fleet: Fleet, scrollback: int) -> None:
        self._scrollback = scrollback  # rows, where a session was not given a limit of its own
        self._kit = kit
        self._fleet = fleet
        self._wire = kit.place.wire
        self.leftovers = Leftovers(kit)

    async def ensure(self, request: Request) -> tuple[View, bool]:
        """The session of that name: the one that lives, or a new one. The only way in; True when it was made now.

        Who addresses that name through this helper meanwhile waits for it.
        """
        with self._fleet.underway.comes(request.name):
            return await self._ensure(request)

    async def _ensure(self, request: Request) -> tuple[View, bool]:
        if there := await self._there(request.name):
            return there, False
        for name in request.unset:
            env.check_name(name)
        given = await reference.read(request.env, request.caller)
        if request.worktree:
            request = await self._in_worktree(request, given)
        async with self._fleet.lock:
            if there := await self._there(request.name):
                return there, False
            spec = self._spec(request)
            await self._fleet.presence.start()
            await self._create(spec, request, given)
        await self._fleet.refresh()
        if spec.id not in self._fleet.views:
            raise Refused(f"{spec.name} was closed right after it was made", "a hook of its tmux server may do that")
        return self._fleet.views[spec.id], True

    async def _in_worktree(self, request: Request, given: Mapping[str, str]) -> Request:
        """The same in its worktree. What would be refused is refused before one is made."""
        spec = self._spec(request)
        found = environment(spec, self._kit.eyes.profile(spec.agent), request.caller, given)
        check_program(spec.argv[0], found)
        return replace(request, cwd=await workspace.make(spec.cwd, spec.name))

    async def _there(self, name: str) -> View | None:
        await self._fleet.refresh()
        with contextlib.suppress(NotFound):
            return self._fleet.find(name) if name else None
        return None

    def _spec(self, request: Request) -> Spec:
        taken = {view.name for view in self._fleet.views.values()}
        agent = request.agent or ("custom" if request.cmd else "claude")
        profile = self._kit.eyes.exact(agent)
        more = naming.flags(profile, request.options)
        return Spec(
            id=naming.mint(),
            name=naming.check(request.name) if request.name else naming.free(agent, taken),
            agent=agent,
            argv=(*(request.cmd or naming.argv(profile, request.caller)), *more),
            cwd=naming.directory(request.cwd),
            created=now(),
            unset=request.unset,
            owner=request.owner,
            on_exit=request.on_exit,
            restart=request.restart,
            options=dict(request.options),
            conversation=naming.conversation(profile) if not request.cmd else "",
        )

    async def _create(self, spec: Spec, request: Request, given: Mapping[str, str]) -> None:
        """Record first, then create; what fails in between leaves nothing behind."""
        store, profile = self._kit.store, self._kit.eyes.profile(spec.agent)
        try:
            found = environment(spec, profile, request.caller, given)
            script = await stage_start(self._kit, spec, profile, found, resume=False)
            spec = replace(spec, env=await keep_values(self._kit, spec.id, request.env))
            await asyncio.to_thread(store.save_session, spec, 1)
            await self._make(spec, script, 1)
        except Exception:
            await self._fleet.finish(spec.id, "it could not be started")
            raise
        await asyncio.to_thread(store.log, spec.id, "opened", {"name": spec.name, "agent": spec.agent, "cwd": spec.cwd})
        await self._wire.run(panes.ring())

    async def _make(self, spec: Spec, script: Path, epoch: int) -> None:
        rows = int(spec.options.get("history_limit", self._scrollback))
        await panes.create(self._wire, spec, script, epoch, scrollback=rows)

    async def change(self, which: str, **fields: Any) -> View:
        """Change what is written of a session: name, keep, settled, owner. Marks first, then the store."""
        async with self._fleet.lock:
            await self._fleet.refresh()
            view = self._fleet.find(which)
            if "name" in fields:
                self._free_name(fields["name"], view)
            spec = replace(await self._current_spec(view), **fields)
            if view.state != "lost":
                await panes.mark(self._wire, await self._fleet.pane(view.id), spec)
            await self._kit.note(self._kit.store.save_session, spec, view.epoch)
        await self._fleet.refresh()
        return self._fleet.views[view.id]

    async def _current_spec(self, view: View) -> Spec:
        if view.state != "lost":
            return (await self._fleet.pane(view.id)).spec
        record = await asyncio.to_thread(self._kit.store.session, view.id)
        if record is None:
            raise NotFound("nothing is known of that session any more")
        return record.spec

    def _free_name(self, name: str, view: View) -> None:
        naming.check(name)
        other = next((each for each in self._fleet.views.values() if each.name == name and each.id != view.id), None)
        if other:
            raise Refused(f"there is a session {name!r} already", "choose another name")

    async def respawn(self, name: str, caller: Mapping[str, str], *, fresh: bool, force: bool) -> View:
        """Start the agent again in the same pane, under the same id and name. A living one only by force."""
        view = self._fleet.find(name)
        if view.state == "lost":
            return await self.restore(view, caller, fresh=fresh)
        pane = await self._fleet.pane(view.id)
        if not pane.dead and not force:
            raise Refused(f"{view.name} is still running", "use respawn! (--force) to end it and start it again")
        await self._again(view.id, caller, fresh=fresh, epoch=pane.epoch)
        return self._fleet.views[view.id]

    async def revive(self, session: str, epoch: int, caller: Mapping[str, str]) -> bool:
        """Start an agent again that ended by itself; False where somebody did so meanwhile."""
        pane = await self._fleet.pane(session)
        if not pane.dead or pane.epoch != epoch:
            return False
        return await self._again(session, caller, fresh=False, epoch=epoch)

    async def _again(self, session: str, caller: Mapping[str, str], *, fresh: bool, epoch: int) -> bool:
        async with self._fleet.ends(session, epoch):
            return await self._fleet.session(session).respawn(caller, fresh=fresh, from_epoch=epoch)

    async def restore(self, view: View, caller: Mapping[str, str], *, fresh: bool) -> View:
        """A session that its server took along, made again under its id and name, its conversation resumed.

        What takes time is done before the fleet is locked; who finds it made meanwhile, by somebody else, has it:
        one at a time, for what ends the old start must never meet a new one.
        """
        given = await values(self._kit, await self._current_spec(view), caller)
        async with lane(self._kit, f"{view.id}-life"):
            await self._fleet.refresh()
            seen = self._fleet.views.get(view.id)
            if seen is None:
                raise NotFound(f"{view.name} was ended meanwhile")
            return seen if seen.state != "lost" else await self._restore(seen, caller, given, fresh=fresh)

    async def _restore(self, view: View, caller: Mapping[str, str], given: Mapping[str, str], *, fresh: bool) -> View:
        spec = replace(await self._current_spec(view), guessed=False)
        profile = lacks.without(self._kit.eyes.profile(spec.agent), spec.options)
        if survivors := (await self.leftovers.end(view.id)).survivors:
            raise Refused(f"{len(survivors)} processes of the old start would not end", "try kill")
        resume = not fresh and await conversation.resumable(self._kit.outbox, spec, profile, caller)
        if not (resume or fresh):
            await conversation.note_loss(self._kit.outbox, spec, view.epoch + 1)
        if not resume:
            spec = replace(spec, conversation=naming.conversation(profile))
        found = environment(spec, profile, caller, given)
        script = await stage_start(self._kit, spec, profile, found, resume=resume)
        async with self._fleet.lock:
            await self._fleet.presence.start()
            await self._fleet.refresh()
            if view.id in self._fleet.views and self._fleet.views[view.id].state != "lost":
                await asyncio.to_thread(script.unlink, missing_ok=True)
                return self._fleet.views[view.id]
            await self._make(spec, script, view.epoch + 1)
            await asyncio.to_thread(self._kit.store.save_session, spec, view.epoch + 1)
            await self._wire.run(panes.ring())
        await self._fleet.refresh()
        return self._fleet.views[view.id]

    async def kill(self, name: str, reason: str = "killed") -> Ended:
        """End a session and prove it. One that will not end stays listed, and is not started again by itself."""
        view = self._fleet.find(name)
        async with self._fleet.ends(view.id):
            ended = await self._kill_lost(view) if view.state == "lost" else None
            ended = ended or await self._kill(view.id, reason)
            if ended.survivors:
                with contextlib.suppress(NotFound):
                    await self.change(view.id, restart="never")
            else:
                await self._over(view.id, reason, ended)
        return ended

    async def _kill(self, session: str, reason: str) -> Ended:
        try:
            return await self._fleet.session(session).kill(reason)
        except NotFound:  # already gone is success, and what outlived it goes too
            return await self.leftovers.end(session)

    async def _kill_lost(self, view: View) -> Ended | None:
        """End what runs on of a lost session; None where somebody made it again meanwhile."""
        async with lane(self._kit, f"{view.id}-life"):
            await self._fleet.refresh()
            seen = self._fleet.views.get(view.id, view)
            return await self.leftovers.end(view.id) if seen.state == "lost" else None

    async def _over(self, session: str, reason: str, ended: Ended) -> None:
        await self._kit.note(note_end, self._kit.store, session, reason, ended)
        await self._fleet.finish(session, reason)
        self._fleet.forget(session, reason)
        await self.last_one_out()

    async def last_one_out(self) -> None:
        """With the last session gone and nobody else on the wire, the hub and with it the server end."""
        async with self._fleet.lock:
            try:
                found, _ = await reading.look(self._wire)
                if not found and len(await reading.clients(self._wire)) <= 1:
                    await self._wire.end()
            except (NoServer, ServerLost):
                pass

    async def carry_out(self, decisions: list[Decision]) -> tuple[list[Decision], list[Decision]]:
        """Do what the reaper decided; answers (done, left). A refused end does not stop the rest."""
        results = await asyncio.gather(*(self._carry_out(each) for each in decisions))
        pairs = list(zip(decisions, results, strict=True))
        return [d for d, ok in pairs if ok and d.act == "end"], [d for d, ok in pairs if not ok]

    async def _carry_out(self, decision: Decision) -> bool:
        try:
            if decision.act == "release":
                await self.change(decision.id, owner=None)
            elif decision.act == "end":
                return not (await self.kill(decision.id, decision.reason)).survivors
        except NotFound:
            return True  # already gone is success
        except CoveyError:
            return False
        return True
