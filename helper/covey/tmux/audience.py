"""Who is told what a session puts out: control clients, a preview's or anybody's."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable

from covey.models import Pane
from covey.tmux.server import Server

LISTENS = "1 0 "  # a control client that did not say no-output, as ``FACTS`` tells it
FACTS = "#{client_control_mode} #{m:*no-output*,#{client_flags}} #{client_name}"


@contextlib.asynccontextmanager
async def hushed(server: Server, pane: Pane) -> AsyncIterator[None]:
    """No control client is told the session's output meanwhile; for who ends what runs there and starts it again.

    Before 3.8 tmux dies, with all sessions, when a pane starts again while such a client has not read all of its
    output yet: one that lags, or was stopped.
    """
    (block,) = await server.run(("list-clients", "-t", pane.tmux_session, "-F", FACTS))
    names = [row.removeprefix(LISTENS) for row in block.text.split("\n") if row.startswith(LISTENS)]
    await _flag(server, names, "no-output")
    try:
        yield
    finally:
        await _flag(server, names, "!no-output")


async def _flag(server: Server, names: Iterable[str], flag: str) -> None:
    for name in names:
        await server.send(("refresh-client", "-t", name, "-f", flag))
