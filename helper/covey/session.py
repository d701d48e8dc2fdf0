"""One session's life: started, typed into, started again, ended."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from covey import answer, conversation, env, reference
from covey.agents import Profile, lacks
from covey.courier import Courier
from covey.ending import Ended
from covey.errors import CoveyError, LaneBusy, NotFound, Refused, Usage
from covey.kin import Kin
from covey.lane import FLEET, WAIT_S, Lane
from covey.models import Identity, Json, Pane, Receipt, Spec
from covey.outbox import Outbox
from covey.place import Place
from covey.store import Store
from covey.tmux import audience, panes
from covey.watch import Eyes

PASS = 1.0  # seconds a kill or a respawn waits for the lane before it goes on behind its fence
INTERRUPT_GAP = 0.3  # seconds between two key presses; faster ones are read as one
T = TypeVar("T")
NOT_HERE = "install it, choose another (covey agents, :Covey agents), or give its place as argv in a profile"
HELPER = str(Path(__file__).resolve().parents[1])  # where the package lies, for agents that covey ships


@dataclass(frozen=True, slots=True)
class Kit:
    """What a session's life needs of the outside; ``me`` is this helper's own process."""

    place: Place
    store: Store
    outbox: Outbox
    eyes: Eyes
    lanes: Path
    me: Identity
    kin: Kin = field(default_factory=Kin)

    async def note(self, write: Callable[..., T], *args: Any) -> T | None:
        """Write down what is so in tmux already, if that can be: see ``Store.attempt``."""
        return await asyncio.to_thread(self.store.attempt, write, *args)


def arguments(spec: Spec, profile: Profile, *, resume: bool) -> list[str]:
    """What the agent is started with: its own conversation resumed by id, or a new one under an id of ours."""
    more = profile.resume if resume else profile.new_id if spec.conversation else ()
    argv = [word for word in spec.argv if word not in lacks.left_out(spec.options)]
    words = [*argv, *(word.replace("{id}", spec.conversation) for word in more)]
    return [word.replace("{python}", sys.executable).replace("{helper}", HELPER) for word in words]


def environment(spec: Spec, profile: Profile, caller: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """What the agent finds in its environment; see ``env.py`` for the rule."""
    values = env.inherited(caller)
    values |= {name: value.replace("{helper}", HELPER) for name, value in profile.env_set.items()}
    for name in (*profile.env_unset, *spec.unset):
        values.pop(name, None)
    return {**values, "COLORTERM": "truecolor", **given, "COVEY_ID": spec.id, "COVEY_NAME": spec.name}


async def values(kit: Kit, spec: Spec, caller: Mapping[str, str]) -> dict[str, str]:
    """The values given for a session, references read anew; it may take long, so no lock is held meanwhile."""
    halves = {name: value for name, value in spec.env.items() if value.startswith("half:")}
    whole = {name: await _joined(kit, spec.id, name, half, caller) for name, half in halves.items()}
    return whole | await reference.read({n: value for n, value in spec.env.items() if n not in halves}, caller)


async def _joined(kit: Kit, session: str, name: str, half: str, caller: Mapping[str, str]) -> str:
    try:
        return env.join(half, await asyncio.to_thread(kit.place.files.read, _half(session, name)))
    except (FileNotFoundError, ValueError):
        if name in caller:
            return caller[name]
        raise Refused(f"the value given for {name} ended with the login", f"open it again with env.{name}=…") from None


def _half(session: str, name: str) -> str:
    return f"{session}.half.{name}"


async def keep_values(kit: Kit, session: str, given: Mapping[str, str]) -> dict[str, str]:
    """Values for a session as its spec may hold them: references as written, anything else as one half."""
    kept = {}
    for name, value in given.items():
        kept[name] = value
        if not reference.is_one(value):
            kept[name], pad = env.split(value)
            await asyncio.to_thread(kit.place.files.stage, _half(session, name), pad)
    return kept


def check_program(program: str, found: Mapping[str, str]) -> None:
    """Raise ``Refused`` where an agent would not find its own program in that environment."""
    if shutil.which(program, path=found.get("PATH")) is None:
        raise Refused(f"the program {program} was not found on the PATH", NOT_HERE)


async def stage_start(kit: Kit, spec: Spec, profile: Profile, found: Mapping[str, str], *, resume: bool) -> Path:
    """The script that becomes the agent, with what it is to find in its environment.

    Refuses, before anything runs, what would only die.
    """
    if not spec.argv:
        raise Refused(f"it is not known what {spec.name} was started with", "kill it, and open it anew")
    if not await asyncio.to_thread(Path(spec.cwd).is_dir):
        raise Refused(f"the directory {spec.cwd} does not exist", "give cwd=DIR")
    argv = arguments(spec, profile, resume=resume)
    check_program(argv[0], found)
    script = env.launcher(argv, spec.cwd, found, (*profile.env_unset, *spec.unset), nice=spec.options.get("nice", ""))
    return await asyncio.to_thread(kit.place.files.stage, f"{spec.id}.start.{uuid.uuid4().hex[:8]}", script)


async def end_processes(kit: Kit, pane: Pane, profile: Profile) -> Ended:
    """End everything that belongs to the pane's agent, and prove it. What lives on is in the answer."""
    root = kit.kin.root(pane.spec.id, pane.pid) or Identity(pane.pid, 0, kit.me.host)
    if not pane.dead:
        root = kit.place.processes.identify(pane.pid) or root
    seen = kit.kin.seen(pane.spec.id)
    return await kit.place.processes.end(root, mark=pane.spec.id, grace=profile.grace, seen=seen, spare=profile.spare)


def note_end(store: Store, session: str, reason: str, ended: Ended) -> None:
    """Write down that a session is over and why, once, however many end it."""
    with store.transaction():
        if store.end_session(session, reason):
            store.log(session, "ended", ended_facts(reason, ended))


def ended_facts(reason: str, ended: Ended) -> Json:
    return {"reason": reason, "ended": [each.pid for each in ended.ended]}


def lane(kit: Kit, session: str, timeout: float = WAIT_S) -> Lane:
    """Who types into that session, or (``fleet``) who opens, names and ends."""
    return Lane(kit.lanes, session, me=kit.me, alive=kit.place.processes.alive, timeout=timeout)


class Session:
    """One session of this helper's fleet.

    ``find`` reads its pane anew, for nothing acts on what is remembered; ``told`` is called with each receipt.
    """

    def __init__(
        self, kit: Kit, session: str, find: Callable[[str], Awaitable[Pane]], told: Callable[[Receipt], None]
    ) -> None:
        self._kit = kit
        self.id = session
        self._find = find
        self._told = told
        self._courier = Courier(kit.place, kit.outbox, kit.eyes, lane(kit, session), session, find, told)

    def _profile(self, pane: Pane) -> Profile:
        return self._kit.eyes.profile(pane.spec.agent)

    async def take(self, act: str, epoch: int, text: str, options: Json, *, stripped: int) -> Receipt:
        """Commit a prompt to the store, in its writer's order, and see to its delivery."""
        return await self._courier.take(act, epoch, text, options, stripped=stripped)

    def kick(self) -> None:
        """Deliver what is due; what was held is tried again."""
        self._courier.kick()

    @contextlib.asynccontextmanager
    async def _passing(self, which: str) -> AsyncIterator[None]:
        """Hold a lane, or after ``PASS`` seconds go on without it: behind a raised fence no holder types any more."""
        async with contextlib.AsyncExitStack() as stack:
            with contextlib.suppress(LaneBusy):
                await stack.enter_async_context(lane(self._kit, which, timeout=PASS))
            yield

    async def respawn(self, caller: Mapping[str, str], *, fresh: bool, from_epoch: int) -> bool:
        """Start the agent again in its pane. False when somebody did so meanwhile (the epoch moved on)."""
        pane = await self._find(self.id)
        given = await values(self._kit, pane.spec, caller)
        pane = await panes.raise_fence(self._kit.place.wire, await self._find(self.id))
        async with self._passing(self.id), audience.hushed(self._kit.place.wire, pane):
            pane = await self._find(self.id)
            if pane.epoch != from_epoch:
                return False
            profile, root = lacks.without(self._profile(pane), pane.spec.options), self._kit.kin.root(self.id, pane.pid)
            known = await conversation.current(pane, profile, root, caller)
            spec = replace(pane.spec, guessed=False, conversation=known)
            asked = (self._kit.outbox, spec, profile, caller)
            resume = not fresh and await conversation.resumable(*asked, lives=not pane.dead)
            if not (resume or fresh):
                await conversation.note_loss(self._kit.outbox, spec, pane.epoch + 1)
            if not resume:
                spec = replace(spec, conversation=str(uuid.uuid4()) if profile.new_id else "")
            found = environment(spec, profile, caller, given)
            script = await stage_start(self._kit, spec, profile, found, resume=resume)
            ended = await end_processes(self._kit, pane, profile)
            if ended.survivors:
                raise Refused(f"{len(ended.survivors)} processes of the old start would not end", "try kill")
            await self._until_dead()
            await self._start(script, spec.conversation)
        return True

    async def _start(self, script: Path, conversation: str) -> None:
        """Let the script run in the dead pane, under the name and the like that the session has now.

        Those are changed under the fleet's lock: between the reading and the writing here nobody changes them.
        """
        async with self._passing(FLEET):
            pane = await self._find(self.id)
            spec, epoch = replace(pane.spec, conversation=conversation, guessed=False), pane.epoch + 1
            await panes.respawn(self._kit.place.wire, pane, spec, script)
            await self._kit.note(self._kit.store.save_session, spec, epoch)
        for receipt in await self._kit.note(self._kit.outbox.drop_older, self.id, epoch) or ():
            self._told(receipt)

    async def _until_dead(self) -> None:
        """Wait until tmux knows that the pane's process is gone; a few milliseconds after the kernel does."""
        for pause in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
            if (await self._find(self.id)).dead:
                return
            await asyncio.sleep(pause)
        raise CoveyError("the old agent is gone, but tmux does not see it yet", "try again")

    async def kill(self, reason: str) -> Ended:
        """End the agent with all that belongs to it, then the tmux session; staged files go when all is gone."""
        pane = await panes.raise_fence(self._kit.place.wire, await self._find(self.id))
        async with self._passing(self.id):
            ended = await end_processes(self._kit, pane, self._profile(pane))
            if not ended.survivors:
                if await self._close(pane, reason):
                    await self._kit.note(self._kit.store.log, self.id, "ended", ended_facts(reason, ended))
                self.clear_up()
        return ended

    async def _close(self, pane: Pane, reason: str) -> bool:
        """End the tmux session; True where nobody had ended it before.

        Why is written down first, for whoever misses it, and taken back if it does not go.
        """
        store = self._kit.store
        mine = bool(await self._kit.note(store.end_session, self.id, reason))
        try:
            with contextlib.suppress(NotFound):  # somebody else was quicker
                await panes.kill(self._kit.place.wire, pane)
        except CoveyError:
            if mine:
                await self._kit.note(store.lives_on, self.id)
            raise
        return mine

    def clear_up(self) -> None:
        """Remove what was staged for this session."""
        for name in self._kit.place.files.of(f"{self.id}."):
            self._kit.place.files.remove(name)

    async def interrupt(self) -> None:
        """Press the agent's interrupt keys, past everything that waits."""
        pane = await panes.raise_fence(self._kit.place.wire, await self._find(self.id))
        steps = self._profile(pane).interrupt
        if not steps:
            raise Usage(f"{pane.spec.agent} has no interrupt keys", "attach, and press them yourself")
        for number, keys in enumerate(steps):
            await asyncio.sleep(INTERRUPT_GAP if number else 0)
            await panes.keys(self._kit.place.wire, pane, *keys)
        self._kit.eyes.acted(self.id)

    async def answer(self, choice: str) -> Json:
        """Choose an option of the dialog that is on the screen, by its words; passes what is held by it.

        With no words for one nothing is chosen: the answer says what there is.
        """
        pane = await self._find(self.id)
        desk = answer.desk(self._kit.place, pane, self._profile(pane))
        sight = self._kit.eyes.seen.get(self.id)
        told = sight is not None and sight.verdict.state == "blocked"  # some say so before they draw it
        dialog = await desk.dialog(answer.SETTLE if told else answer.REDRAW)  # without one, why wait for the lane
        if not choice:
            return {"question": dialog.question, "options": [each.label for each in dialog.options]}
        async with lane(self._kit, self.id):
            chosen = await answer.choose(desk, choice)
        self._kit.eyes.acted(self.id)
        return chosen

    async def stop(self) -> None:
        """Leave the lane; what is being typed is finished first, or left to a successor."""
        await self._courier.stop()
