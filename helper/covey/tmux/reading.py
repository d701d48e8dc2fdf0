"""What can be read of panes and clients: rows as values, screens as they are now. Changes nothing and types nothing."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace

from covey import registry
from covey.models import Pane
from covey.tmux.control import Block, Control
from covey.tmux.server import HUB, Server

HISTORY_PAGE = 1000  # lines one capture may take: 50,000 lines block every client for a second
NOTE = re.compile(r"\n[^\n]*Pane is dead \([^\n]*\Z")  # what tmux 3.2 writes on a dead pane's last row
CLIENTS = ("list-clients", "-F", "#{session_id} #{client_control_mode} #{client_activity} #{client_pid}")


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody attached: to which tmux session, from which process, and when its keyboard was last touched.

    ``person``: with a terminal; else a program's. ``active_at``: seconds since 1970.
    """

    tmux_session: str
    person: bool
    active_at: float
    pid: int


@dataclass(frozen=True, slots=True)
class Shot:
    """What a pane shows: rows with their colours, and where the cursor is."""

    ansi: str
    cols: int
    rows: int
    cursor: tuple[int, int]
    cursor_visible: bool


async def look(server: Server) -> tuple[list[Pane], list[str]]:
    """Every pane with our mark, and marked rows that cannot be read. One round trip, no process."""
    listing, clients = await server.run(
        ("list-panes", "-a", "-F", registry.FORMAT),
        CLIENTS,
    )
    panes, bad = registry.panes(raw.decode("utf-8", "replace") for raw in listing.lines)
    people = [client.tmux_session for client in _clients(clients) if client.person]
    return [replace(pane, attached=people.count(pane.tmux_session)) for pane in panes], bad


async def look_at(server: Server, pane: str) -> Pane | None:
    """One pane by its id, as it is now; None when it is gone or no longer ours."""
    blocks = await server.send(("list-panes", "-t", pane, "-f", only(pane), "-F", registry.FORMAT))
    found, _ = registry.panes(raw.decode("utf-8", "replace") for block in blocks if block.ok for raw in block.lines)
    return found[0] if found else None


async def see(server: Server, pane: str) -> tuple[Pane, Shot] | None:
    """One pane of ours and what it shows, of one and the same moment; None when it is gone or no longer ours."""
    row = ("list-panes", "-t", pane, "-f", only(pane), "-F", registry.FORMAT)
    blocks = await server.send(("capture-pane", "-p", "-e", "-t", pane), row)
    if not all(block.ok for block in blocks):
        return None
    found, _ = registry.panes(raw.decode("utf-8", "replace") for raw in blocks[-1].lines)
    if not found:
        return None
    now = found[0]
    return now, Shot(blocks[0].text, now.cols, now.rows, now.cursor, now.cursor_visible)


async def server_pid(server: Server) -> int:
    """The process of the tmux server."""
    (block,) = await server.run(("list-sessions", "-f", f"#{{==:#{{session_name}},{HUB}}}", "-F", "#{pid}"))
    return int(block.text)


async def clients(server: Server) -> list[Client]:
    """Who is attached to what."""
    (block,) = await server.run(CLIENTS)
    return _clients(block)


async def people(server: Server, tmux_session: str) -> list[Client]:
    """Who is attached to that session to see and type."""
    return [each for each in await clients(server) if each.person and each.tmux_session == tmux_session]


def _clients(block: Block) -> list[Client]:
    rows = (raw.decode("ascii", "replace").split(" ") for raw in block.lines)
    return [Client(row[0], row[1] != "1", float(row[2] or 0), int(row[3])) for row in rows if len(row) == 4]  # noqa: PLR2004


async def subscribe(control: Control, name: str, what: str) -> None:
    """Have tmux notice ``subscription-changed``, once a second at most, when the format ``what`` reads otherwise.

    It is read on the hub's own pane. One of the other kind, on a session, kills tmux before 3.7 with all sessions when
    it is looked after while the client says good-bye: the client has no session any more, and that is not looked at.
    """
    (hub,) = await control.run(("display-message", "-p", "#{pane_id}"))
    await control.run(("refresh-client", "-B", f"{name}:{hub.text}:{what}"))


async def capture(server: Server, *panes: str, colours: bool = True) -> list[Shot | None]:
    """What each pane shows now, all in one go; None for a pane that is gone."""
    shots = []
    for pane in panes:
        facts = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_dead}"
        shots.append(
            server.send(
                ("capture-pane", "-p", *(["-e"] if colours else []), "-t", pane),
                ("list-panes", "-t", pane, "-f", only(pane), "-F", facts),
            )
        )
    return [_shot(blocks) for blocks in await asyncio.gather(*shots)]


def only(pane: str) -> str:
    """A filter that keeps this pane alone of its window's."""
    return f"#{{==:#{{pane_id}},{pane}}}"


def _shot(blocks: list[Block]) -> Shot | None:
    if len(blocks) != 2 or not all(block.ok for block in blocks) or not blocks[1].lines:  # noqa: PLR2004
        return None
    cols, rows, x, y, visible, dead = map(int, blocks[1].text.split(" "))
    text = NOTE.sub("\n", blocks[0].text) if dead else blocks[0].text
    return Shot(text, cols, rows, (x, y), bool(visible))


async def history(server: Server, pane: str, lines: int, *, colours: bool) -> str:
    """The screen and up to ``lines`` rows above it, read in pages so that no other client waits for long."""
    flags = ["-e"] if colours else []
    pages = []
    (size,) = await server.run(("list-panes", "-t", pane, "-f", only(pane), "-F", "#{history_size}"))
    for top in range(min(lines, int(size.text or 0)), 0, -HISTORY_PAGE):
        bottom = max(top - HISTORY_PAGE, 0) + 1
        (block,) = await server.run(("capture-pane", "-p", *flags, "-S", f"-{top}", "-E", f"-{bottom}", "-t", pane))
        pages.append(block.text)
    (screen,) = await server.run(("capture-pane", "-p", *flags, "-t", pane))
    return "\n".join([*(page for page in pages if page), screen.text])
