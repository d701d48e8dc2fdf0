"""Which conversation a session's agent is in, and whether it can go on with it when it is started again."""

from __future__ import annotations

import asyncio
import glob
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from covey import process
from covey.agents import Profile
from covey.agents.history import find_conversation
from covey.agents.published import Files
from covey.models import Identity, Pane, Spec
from covey.outbox import Outbox

WRITTEN = 2.0  # seconds that an agent may take to write down what was just said to it
LOOK = 0.05  # seconds between looks for that


async def current(pane: Pane, profile: Profile, root: Identity | None, caller: Mapping[str, str]) -> str:
    """The agent's own id of its conversation: as it writes itself, as is marked, or as its history shows; '' unknown.

    ``root`` is the pane's first process, also of an agent that has ended; ``caller`` says where its home is then.
    """
    return await asyncio.to_thread(_current, pane, profile, root, caller)


def _current(pane: Pane, profile: Profile, root: Identity | None, caller: Mapping[str, str]) -> str:
    return _written(pane, profile) or pane.spec.conversation or _in_history(pane, profile, root, caller)


def _written(pane: Pane, profile: Profile) -> str:
    if profile.session_file is None or pane.dead:
        return ""
    said = Files().read([(pane.spec.id, pane.pid, profile.session_file)]).get(pane.spec.id)
    return said.conversation if said else ""


def _in_history(pane: Pane, profile: Profile, root: Identity | None, caller: Mapping[str, str]) -> str:
    """What was begun since this start of the agent; where that is not known, since the session was opened."""
    if root is None and pane.epoch > 1:
        return ""  # it might be what an earlier start had begun
    since = process.started(root) if root else datetime.fromisoformat(pane.spec.created).timestamp()
    return find_conversation(profile, pane.spec, process.environment(pane.pid) or caller, since)


async def resumable(
    outbox: Outbox, spec: Spec, profile: Profile, caller: Mapping[str, str], *, lives: bool = False
) -> bool:
    """Whether the agent has a conversation to go on with: asked to resume one that is not there, most exit at once.

    Where the profile says in which file a conversation is kept, the file decides; else what was sent does. An agent
    that ``lives`` may still be writing what was just said to it.
    """
    if not profile.resume or not (spec.conversation or _by_place(spec, profile)):
        return False
    if "{id}" not in profile.history:
        return await asyncio.to_thread(outbox.spoken, spec.id)
    pattern = profile.history.replace("{id}", glob.escape(spec.conversation))
    home = caller.get("HOME") or str(Path.home())
    pattern = pattern.replace("~", glob.escape(home), 1)
    patience = WRITTEN if lives and await asyncio.to_thread(outbox.spoken, spec.id) else 0.0
    return await _exists(pattern, patience)


async def _exists(pattern: str, patience: float) -> bool:
    """Whether there is such a file, or comes to be within so many seconds."""
    deadline = time.monotonic() + patience
    while not await asyncio.to_thread(glob.glob, pattern):
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(LOOK)
    return True


def _by_place(spec: Spec, profile: Profile) -> bool:
    """Whether the agent goes on with what was said in its directory, and asks for no id; in its own way only."""
    return spec.argv[: len(profile.argv)] == profile.argv and not any("{id}" in word for word in profile.resume)


async def note_loss(outbox: Outbox, spec: Spec, epoch: int) -> None:
    """Where something was said to an agent that now begins anew, its log says that it does."""
    if await asyncio.to_thread(outbox.spoken, spec.id):
        facts = {"epoch": epoch, "reason": "nothing was found to go on with: it began a new conversation"}
        await asyncio.to_thread(outbox.store.log, spec.id, "began", facts)
