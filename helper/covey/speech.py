"""The verbs that type into a session, or wait for what was typed: send, answer, interrupt, queue."""

from __future__ import annotations

import asyncio
import contextlib
import re
import uuid
from collections.abc import AsyncIterator
from dataclasses import asdict, replace

from covey import prompt
from covey.agents import Profile
from covey.agents.check import WHEN
from covey.asking import addressed, in_order, one_of, time_to_wait
from covey.errors import CoveyError, NotFound, Refused, Usage
from covey.helper import Helper
from covey.models import FINAL, Json, Receipt, Session

SEND_PATIENCE = 75.0  # seconds until a send answers with the receipt as it stands; it goes on meanwhile
FINISH_PATIENCE = 6 * 3600.0  # seconds to wait for an agent to finish
IDLE_LOOK = 0.05  # seconds between looks while somebody waits for an agent to finish
ACT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
UNSENT = frozenset({"dropped", "undelivered", "unconfirmed", "failed"})
ENDED = frozenset({"idle", "blocked", "exited", "lost"})


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
    as_file: bool = False,
    wait: float = SEND_PATIENCE,
) -> Json:
    """Deliver a prompt exactly once. The answer is its receipt once it is final or held, or after ``wait`` seconds.

    ``when`` the agent works: ``now``, when it is ``idle``, or ``ask``, by a receipt that ``asks`` (see ``edit``).
    ``as_file`` puts the text into a private file that goes with the session, and sends a reference to it.
    """
    patience = time_to_wait("wait", wait)
    view = await addressed(helper, name)
    options = {"submit": submit, "when": one_of("when", when, ("", *WHEN)), "force": force, "raw": raw}
    receipt = await queue_prompt(helper, view, text, minted(act), options, as_file=as_file)
    if view.settled and receipt.outcome != "refused":
        await helper.keeper.change(view.id, settled=False)  # there is work again
    if receipt.outcome not in FINAL:
        receipt = await helper.mail.settled(receipt.id, patience=patience)
    return told(helper, receipt)


def told(helper: Helper, receipt: Receipt) -> Json:
    """A receipt with the name of its session, for who sees several."""
    return {**receipt.to_json(), "name": helper.name_of(receipt.session)}


@contextlib.asynccontextmanager
async def fallen(helper: Helper, session: str) -> AsyncIterator[list[Json]]:
    """Around what ends an agent: the list has, afterwards, the receipts of the prompts that went with it."""
    waiting = tuple(each.act for each in await asyncio.to_thread(helper.outbox.pending, session))
    lost: list[Json] = []
    yield lost
    receipts = await asyncio.to_thread(helper.outbox.receipts, waiting)
    lost += [told(helper, each) for each in receipts if each.outcome in UNSENT]


async def queue_prompt(
    helper: Helper, view: Session, text: str, act: str, options: Json, *, as_file: bool = False
) -> Receipt:
    """Commit a send to the store and start its delivery; what cannot arrive is refused by a receipt."""
    clean = prompt.sanitise(text)
    profile = helper.eyes.profile(view.agent)
    try:
        _is_there(view)
        typed = await _referred(helper, view, clean, act, profile) if as_file else clean
        typed = prompt.typed(typed, profile, raw=options.get("raw", False))
    except Refused as error:
        reason = f"{error.message}; {error.hint}" if error.hint else error.message
        await helper.note(view.id, "refused", {"id": act, "text": clean.text, "reason": reason})
        return Receipt(act, view.id, view.epoch, "refused", reason, prompt.size(clean.text), clean.stripped)
    when = prompt.occasion(options.get("when", ""), profile, helper.when)
    options = {**options, "when": when}
    receipt = await helper.fleet.session(view.id).take(act, view.epoch, typed.text, options, stripped=typed.stripped)
    helper.mail.follow(receipt)
    return receipt


def _is_there(view: Session) -> None:
    if view.state == "lost":
        raise Refused("the session was lost with its tmux server", "respawn it first")


def minted(act: str) -> str:
    """The caller's own id of an act, or a new one. It names files and a buffer, so it is a plain word."""
    if act and not ACT.fullmatch(act):
        raise Usage(f"{act[:80]!r} cannot be the id of an act", "use up to 64 letters, digits, and - _ . within")
    return act or uuid.uuid4().hex


async def _referred(helper: Helper, view: Session, clean: prompt.Clean, act: str, profile: Profile) -> prompt.Clean:
    """The words that make the agent read the text from a file. The same act again refers to the same file."""
    if prompt.is_blank(clean.text):
        return clean
    name, files = f"{view.id}.prompt.{act}", helper.place.files
    words = prompt.reference(files.directory / name, profile)
    with contextlib.suppress(FileExistsError):
        await asyncio.to_thread(files.stage, name, clean.text.encode("utf-8"))
    return replace(clean, text=words)


async def broadcast(helper: Helper, text: str, names: list[str] | None = None, act: str = "") -> list[Json]:
    """One prompt to several sessions, once to each; a receipt each, in that order. One bad name: none is sent.

    Without ``names`` to everybody. ``act``: with what the ids of all begin; the same is never sent twice.
    """
    act = minted(act)
    views = [await addressed(helper, name) for name in names] if names is not None else await _everybody(helper)
    meant = dict.fromkeys(view.id for view in views)
    sent = await asyncio.gather(*(send(helper, session, text, act=f"{act}.{session}") for session in meant))
    by_now = await asyncio.to_thread(helper.outbox.receipts, tuple(each["id"] for each in sent))
    later = {each.id: told(helper, each) for each in by_now}  # one may have waited long for another
    return [later.get(each["id"], each) for each in sent]


async def _everybody(helper: Helper) -> list[Session]:
    """Who is meant by everybody: agents that run and have work. A shell would take a prompt for a program."""
    await helper.fleet.refresh()
    return [view for view in in_order(helper) if not _is_over(view) and view.agent != "shell"]


def _is_over(view: Session) -> bool:
    return view.settled or view.state in ("exited", "lost")


async def interrupt(helper: Helper, name: str) -> Json:
    """Press the agent's interrupt keys, whatever it does; the answer says which, and in which state it was."""
    view = await addressed(helper, name)
    await helper.fleet.session(view.id).interrupt()
    keys = [key for press in helper.eyes.profile(view.agent).interrupt for key in press]
    did = {"keys": keys, "state": view.state}
    await helper.note(view.id, "interrupted", did)
    return {"id": view.id, "name": view.name, **did}


async def answer(helper: Helper, name: str, choice: str = "") -> Json:
    """Choose an option of the session's dialog by its words: ``yes``, ``no`` or a part of its text.

    Without a ``choice`` nothing is chosen: the answer has the ``question`` and the texts of its ``options``.
    """
    view = await addressed(helper, name)
    try:
        said = await helper.fleet.session(view.id).answer(choice)
    except CoveyError as error:
        await helper.note(view.id, "refused", {"choice": choice, "reason": error.message})
        raise
    if choice:
        await helper.note(view.id, "answered", said)
    return {"id": view.id, "name": view.name, **said}


async def wait(helper: Helper, act: str, seconds: float = SEND_PATIENCE) -> Json:
    """The receipt of an act once it is final, or as it stands after ``seconds``."""
    return told(helper, await helper.mail.settled(act, patience=time_to_wait("seconds", seconds), until=FINAL))


async def idle(helper: Helper, name: str, seconds: float = FINISH_PATIENCE) -> Json:
    """The session once its agent has finished: idle, blocked or ended; or as it stands after ``seconds``."""
    view = await addressed(helper, name)
    await helper.fleet.refresh()  # what was seen before a prompt says nothing of what came after it
    deadline = asyncio.get_running_loop().time() + time_to_wait("seconds", seconds)
    while asyncio.get_running_loop().time() < deadline:
        seen = helper.fleet.views.get(view.id, replace(view, state="exited"))
        if seen.state in ENDED and not seen.queued:
            return seen.to_json()
        helper.ring()
        await asyncio.sleep(IDLE_LOOK)
    return helper.fleet.find(view.id).to_json()


async def queue(helper: Helper, name: str) -> list[Json]:
    """What waits to be typed, in order, with its text and its number, by which ``edit`` and ``cancel`` know it too."""
    view = await addressed(helper, name)
    waiting = await asyncio.to_thread(helper.outbox.pending, view.id)
    wanted = ("act", "outcome", "reason", "text", "created")
    return [{"number": each.row, **{key: asdict(each)[key] for key in wanted}} for each in waiting]


async def edit(helper: Helper, act: str, text: str | None = None, when: str | None = None) -> Json:
    """Replace the text of a prompt that nobody has begun to type, by the same rules as ``send``, or when it goes."""
    if text is None and when is None:
        raise Usage("there is nothing to change", "give a text, or when it goes: now, idle")
    act = await asyncio.to_thread(helper.outbox.meant, act)
    known = await asyncio.to_thread(helper.outbox.ticket, act)
    view = await addressed(helper, known.session)
    if text is not None:
        profile = helper.eyes.profile(view.agent)
        text = prompt.typed(prompt.sanitise(text), profile, raw=known.options.get("raw", False)).text
    if when is not None:
        one_of("when", when, WHEN)
    receipt = await asyncio.to_thread(helper.outbox.edit, act, text, when=when)
    changed = {"was": known.text, "text": text} if text is not None else {"when": when}
    await helper.note(view.id, "edited", {"id": act, **changed})
    helper.fleet.session(view.id).kick()
    return told(helper, receipt)


async def cancel(helper: Helper, act: str) -> Json:
    """Take back a prompt that nobody has begun to type: by its id or number, or by the session it alone waits for."""
    receipt = await asyncio.to_thread(helper.outbox.cancel, await _meant(helper, act))
    if not receipt.reason:
        helper.receipt(receipt)
    return told(helper, receipt)


async def _meant(helper: Helper, word: str) -> str:
    """The id of the prompt that is meant; a word that names another one as well is refused."""
    try:
        act = await asyncio.to_thread(helper.outbox.meant, word)
    except NotFound:
        return await _only_one(helper, word)
    if act != word and any(view.name == word for view in helper.fleet.views.values()):
        raise Usage(f"{word} is a prompt's number and a session's name", "give the id of the prompt, or of the session")
    return act


async def _only_one(helper: Helper, name: str) -> str:
    """The id of the prompt that waits for a session, if it is a single one."""
    try:
        view = await addressed(helper, name)
    except NotFound:
        raise NotFound(f"{name!r} is neither a prompt nor a session", "numbers of prompts: covey queue NAME") from None
    waiting = [each for each in await asyncio.to_thread(helper.outbox.pending, view.id) if each.typer is None]
    if not waiting:
        raise Refused(f"no prompt waits for {view.name}")
    if len(waiting) > 1:
        numbers = ", ".join(str(each.row) for each in waiting)
        raise Usage(f"{len(waiting)} prompts wait for {view.name}: {numbers}", "cancel one by its number")
    return waiting[0].act
