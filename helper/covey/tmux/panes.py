"""What covey does to panes: create, mark, read, type, respawn, kill. Every act names its pane by ``%id``.

What types is guarded inside tmux, in the same line: by our mark, by ``pane_dead`` (a paste into a dead pane crashes
tmux ≤ 3.3a with every session in it), by copy mode, by switched-off input and by the fence. A denied line types
nothing and says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from covey import registry
from covey.errors import NotFound, Refused, Unknown
from covey.models import Pane, Spec
from covey.tmux import reading
from covey.tmux.control import Block, Command, line, literal, refusal
from covey.tmux.server import COLS, HUB, ROWS, Server

DENIED = "covey-denied"

_MADE = re.compile(rb"%\d+\Z")


def tmux_name(session_id: str) -> str:
    """The tmux session's own name: from a safe alphabet, never a person's words."""
    return f"covey-{session_id}"


async def create(server: Server, spec: Spec, script: Path, epoch: int = 1, *, scrollback: int) -> None:
    """A new tmux session whose pane's first process runs ``script`` and which keeps so many rows of scrollback.

    That number holds for good: tmux takes it from its global option when it makes a pane, and no respawn changes it.
    The marks are set in the same line, so that no moment exists in which the agent runs unmarked; where a hook on
    the server got in between (it renamed the session, say), they are set by the ids.
    """
    new = ["new-session", "-d", "-P", "-F", "#{pane_id}", "-s", tmux_name(spec.id), "-x", str(COLS), "-y", str(ROWS)]
    start = [*new, "-c", literal(spec.cwd), "/bin/sh", str(script)]
    rows = ("set-option", "-g", "history-limit", str(scrollback))
    async with server.telling():
        _, *blocks = await server.send(rows, start, *_settle(f"={tmux_name(spec.id)}:^", spec, epoch, scrollback))
    if blocks and not blocks[0].ok:
        raise refusal(blocks[0])
    match = _MADE.match(blocks[0].lines[-1]) if blocks and blocks[0].lines else None
    if match is None:
        raise Unknown("tmux did not say which pane it made", "run: covey list")
    if not all(block.ok for block in blocks):
        await server.run(*_settle(match[0].decode(), spec, epoch, scrollback))


def _settle(target: str, spec: Spec, epoch: int, scrollback: int) -> list[Command]:
    """Size and marks of a new pane: tmux gives a new window the size of any client, whatever was asked for.

    Panes that a person splits off keep as much scrollback as this one.
    """
    return [
        ("set-option", "-t", target, "history-limit", str(scrollback)),
        *_sized(target),
        *(("set-option", "-p", "-t", target, name, value) for name, value in _marks(spec, epoch)),
    ]


def _sized(target: str) -> list[Command]:
    return [
        ("resize-window", "-t", target, "-x", str(COLS), "-y", str(ROWS)),
        ("set-option", "-w", "-t", target, "window-size", "latest"),
    ]


async def restore_size(server: Server, pane: Pane) -> None:
    """Give the window its size back: it keeps that of whoever was attached last."""
    await server.run(*_sized(pane.pane))


def _marks(spec: Spec, epoch: int, fence: int = 0) -> list[tuple[str, str]]:
    return [
        ("@covey_id", spec.id),
        ("@covey_epoch", str(epoch)),
        ("@covey_fence", str(fence)),
        ("@covey_act", ""),
        ("@covey_spec", registry.encode(spec)),
    ]


async def mark(server: Server, pane: Pane, spec: Spec) -> None:
    """Write a changed spec to the pane's mark and ring, for tmux tells other clients nothing of options."""
    change = line(("set-option", "-p", "-t", pane.pane, "@covey_spec", registry.encode(spec)))
    await _guarded(server, pane, _ours(pane), change, also=[ring()])


def ring() -> Command:
    """The bell every helper hears: the hub's window is renamed."""
    return ("rename-window", "-t", f"={HUB}:", "mark")


async def raise_fence(server: Server, pane: Pane) -> Pane:
    """From now on nothing that was planned before types into this pane. Needs no lock."""
    fence = pane.fence + 1
    change = line(("set-option", "-p", "-t", pane.pane, "@covey_fence", str(fence)))
    await _guarded(server, pane, _ours(pane), change)
    return replace(pane, fence=fence)


async def respawn(server: Server, pane: Pane, spec: Spec, script: Path) -> None:
    """Start ``script`` in the same pane, which must be dead: what lives is ended first, and proven gone."""
    marks = _marks(spec, pane.epoch + 1, pane.fence + 1)
    start = ("respawn-pane", "-t", pane.pane, "-c", literal(spec.cwd), "/bin/sh", str(script))
    change = line(start, *(("set-option", "-p", "-t", pane.pane, name, value) for name, value in marks), ring())
    await _guarded(server, pane, f"#{{&&:{_ours(pane)},#{{pane_dead}}}}", change)


async def kill(server: Server, pane: Pane) -> None:
    """End the tmux session; what ran in it is the caller's to end first."""
    async with server.telling():
        await _guarded(server, pane, _ours(pane), line(("kill-session", "-t", pane.tmux_session)), also=[ring()])


async def paste(server: Server, pane: Pane, text: Path, act: str, *, guard: str = "") -> None:
    """The file's bytes as one bracketed paste, line feeds as they are; the act is marked in the same line.

    ``guard`` is a condition of the caller's own (a tmux format). What is refused was not typed, and no buffer of
    ours is left either way.
    """
    buffer = f"covey-{act}"
    typed = line(
        ("paste-buffer", "-d", "-r", "-p", "-b", buffer, "-t", pane.pane),
        ("set-option", "-p", "-t", pane.pane, "@covey_act", act),
    )
    load = ("load-buffer", "-b", buffer, literal(str(text)))
    drop = ("delete-buffer", "-b", buffer)
    async with server.telling():
        try:
            await _guarded(server, pane, _and(typing(pane), guard), typed, before=[load], denied=[drop])
        except NotFound:
            await server.send(drop)
            raise


async def keys(server: Server, pane: Pane, *names: str, guard: str = "") -> None:
    """Press keys, by tmux's names, under the typing guard and the caller's own condition (a tmux format)."""
    await _guarded(server, pane, _and(typing(pane), guard), line(("send-keys", "-t", pane.pane, *names)))


async def leave_mode(server: Server, pane: Pane) -> None:
    """End copy mode, if the pane is in it: it would swallow what is typed."""
    async with server.telling():
        await _guarded(server, pane, _ours(pane), line(("copy-mode", "-q", "-t", pane.pane)))


def _ours(pane: Pane) -> str:
    return f"#{{==:#{{@covey_id}}.#{{@covey_epoch}},{pane.spec.id}.{pane.epoch}}}"


def typing(pane: Pane) -> str:
    """The condition under which anything may be typed: ours, alive, listening, and not overtaken."""
    state = "#{pane_dead}#{?pane_in_mode,1,0}#{pane_input_off}#{pane_synchronized}"
    free = f"#{{==:{state}.#{{@covey_fence}},0000.{pane.fence}}}"
    return f"#{{&&:{_ours(pane)},{free}}}"


def _and(condition: str, guard: str) -> str:
    return f"#{{&&:{condition},{guard}}}" if guard else condition


async def _guarded(
    server: Server,
    pane: Pane,
    condition: str,
    change: str,
    *,
    before: Sequence[Command] = (),
    denied: Sequence[Command] = (),
    also: Sequence[Command] = (),
) -> None:
    """Run ``change`` only where ``condition`` holds for the pane now; otherwise say what stood in the way."""
    marks = ("@covey_id", "@covey_epoch", "@covey_fence")
    names = (*marks, "pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized")
    why = " ".join([DENIED, *(f"#{{{name}}}" for name in names)])
    deny = line(*denied, ("list-panes", "-t", pane.pane, "-f", reading.only(pane.pane), "-F", why))
    blocks = await server.send(*before, ("if-shell", "-F", "-t", pane.pane, condition, change, deny), *also)
    for block in blocks:
        _raise(pane, block)


def _raise(pane: Pane, block: Block) -> None:
    if not block.ok:
        raise refusal(block)
    if block.text.startswith(DENIED):
        raise _denial(pane, block.text.split(" ")[1:])


def _denial(pane: Pane, fields: list[str]) -> Refused | NotFound:
    mark, epoch, fence, dead, in_mode, input_off, synchronized = fields
    if mark != pane.spec.id:
        return NotFound("the pane does not carry this session's mark any more")
    reasons = (
        (dead == "1" and epoch == str(pane.epoch), "the agent has exited", "respawn the session first"),
        (epoch != str(pane.epoch) or fence != str(pane.fence), "overtaken by a respawn, an interrupt or a kill", ""),
        (in_mode not in ("", "0"), "the pane is in copy mode", "leave it (q) and send again"),
        (input_off == "1", "the pane's input is switched off", "switch it on: tmux select-pane -e"),
        (synchronized == "1", "keys would go to every pane of its window", "set -w synchronize-panes off"),
    )
    found = next(
        ((message, hint) for fits, message, hint in reasons if fits), ("what the pane shows changed in that moment", "")
    )
    return Refused(*found)
