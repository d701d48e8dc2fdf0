"""The tmux server covey keeps: found, started, spoken to, told apart from anybody else's.

The only room that knows libtmux, which gives typed access to cold things (options, version, discovery) through
``Objects``: its commands ride the control client, so no process is started for them.
"""

from __future__ import annotations

import asyncio
import errno
import shutil
import socket as sockets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey import paths, shortage
from covey.errors import CoveyError, NoServer, ServerLost, TmuxRefused, Unavailable
from covey.tmux.client import Client
from covey.tmux.control import DEADLINE, Block, Command, Control, Notify, line
from covey.tmux.quiet import Quiet

if TYPE_CHECKING:
    import libtmux

HUB = "hub"  # the hidden session every control client attaches to
FLAGS = "no-output,ignore-size"  # of the helpers' clients: an undrained one that gets output wedges the server
COLS, ROWS = 120, 40  # a window nobody looks at; previews never count (window-size latest)
START_TRIES = 20  # "server exited unexpectedly": a server that is going down still holds the socket
START_PAUSE = 0.05  # seconds between those tries
PROBE_DEADLINE = 2.0  # seconds a connect may take; a stopped server fills its backlog

CONFIG = f"""\
# Written by covey for its own server; changes are overwritten. Nothing of the user's tmux is read or touched.
set -s message-limit 0
set -s escape-time 0
set -s exit-empty on
set -s exit-unattached off
set -s focus-events off
set -s set-clipboard off
set -s default-terminal tmux-256color
set -as terminal-features ",*:RGB"
set -g destroy-unattached off
set -g detach-on-destroy on
set -g default-size {COLS}x{ROWS}
set -g window-size latest
set -g status off
set -g set-titles off
set -g mouse off
set -g update-environment ""
set -g prefix C-]
set -g prefix2 None
set -g visual-bell on
set -g bell-action none
setw -g remain-on-exit on
setw -g remain-on-exit-format ""
setw -g automatic-rename off
setw -g allow-rename off
setw -g monitor-activity off
setw -g monitor-bell off
setw -g synchronize-panes off
unbind -a -T prefix
unbind -a -T root
bind d detach-client
bind C-] send-prefix
bind [ copy-mode
bind PPage copy-mode -u
set-hook -g pane-died[971] "run-shell -bC 'rename-window -t ={HUB}: died'"
set-hook -g pane-title-changed[971] "run-shell -bC 'rename-window -t ={HUB}: title'"
"""


class Server:
    """One private tmux server, by its socket. All requests of a helper go through its one control client."""

    def __init__(self, binary: str, socket: Path, config: Path, env: Mapping[str, str], notify: Notify) -> None:
        self.binary = binary
        self.socket = socket
        self._config = config
        self.env = dict(env)
        self._notify = notify
        self._control: Control | None = None
        self.quiet = Quiet(socket)
        self._connecting = asyncio.Lock()
        self._left = False
        self.before: Callable[[], None] = lambda: None  # asked before each attach; raises where it must not be

    @property
    def connected(self) -> bool:
        return self._control is not None and self._control.alive

    async def connect(self) -> Control:
        """The living control client, attached anew when it was lost.

        A server that lost its hub, for somebody's own session kept it alive, gets one again; none is started here.
        Raises ``NoServer`` when nothing listens, ``Unavailable`` when tmux or the socket cannot be used,
        ``TmuxTimeout`` when a server is there and does not answer.
        """
        async with self._connecting:
            if self._control is None or not self._control.alive:
                await asyncio.to_thread(self.before)
                await asyncio.to_thread(probe, self.socket)
                control = await self._attach("-N")
                if self._left:
                    await self._leave(control)
                    raise ServerLost("this helper has left")
                self._control = control
            return self._control

    def client(self, target: str = f"={HUB}", flags: str = FLAGS) -> list[str]:
        """The argument list of a control client on this server."""
        return [*self.command(), "-C", "attach-session", "-t", target, "-f", flags]

    @asynccontextmanager
    async def listener(self, target: str, flags: str) -> AsyncIterator[Client]:
        """One more control client, on a session whose output it is told. It has to be read from all the while."""
        client = None
        try:
            async with self.quiet.attaching():
                client = Client(self.client(target, flags), self.env)
                await client.let_in()
            yield client
        finally:
            if client:
                await self._leave(client)

    def command(self) -> list[str]:
        """How tmux is called at all: our socket, our configuration, UTF-8 whatever the locale says."""
        return [program(self.binary), "-u", "-S", str(self.socket), "-f", str(self._config)]

    async def start(self) -> None:
        """Make sure a server runs. The caller holds the fleet lock, so two starts cannot race."""
        shortage.check_files()
        try:
            paths.write(self._config, CONFIG)
        except OSError as error:
            raise Unavailable(f"{self._config} cannot be written: {error.strerror}", "move it away") from error
        async with self._connecting:
            for _ in range(START_TRIES):
                try:
                    self._control = await self._attach()
                except (NoServer, ServerLost, TmuxRefused):
                    await asyncio.sleep(START_PAUSE)
                else:
                    return
        raise Unavailable("the tmux server does not stay up", f"run: {' '.join(self.command())} new-session")

    async def _attach(self, *flags: str) -> Control:
        async with self.quiet.attaching():
            return await Control.attach(self._hub_client(*flags), self.env, self._notify)

    async def _leave(self, client: Client | Control) -> None:
        """Whoever is cancelled while he waits for a good moment takes this one."""
        try:
            async with self.quiet.telling():
                await client.leave()
        finally:
            client.drop()

    def _hub_client(self, *flags: str) -> list[str]:
        """A control client that makes the hub where there is none, and the server but for the flag ``-N``.

        The server keeps these words as its own argument list for life: they hold no secret.
        """
        size = ["-x", str(COLS), "-y", str(ROWS)]
        new = ["new-session", "-A", "-s", HUB, *size, "-c", "/", "-f", FLAGS, "exec sleep 2147483647"]
        return [*self.command(), *flags, "-C", *new]

    @asynccontextmanager
    async def telling(self) -> AsyncIterator[None]:
        """While it is asked for what it tells all its clients of; attached to before that, for nobody may meanwhile."""
        await self.connect()
        async with self.quiet.telling():
            yield

    async def run(self, *commands: Command, deadline: float = DEADLINE) -> list[Block]:
        """Commands in one line on the control client; see ``Control.run``. ``NoServer`` where there is none."""
        return await (await self.connect()).run(*commands, deadline=deadline)

    async def send(self, *commands: Command, deadline: float = DEADLINE) -> list[Block]:
        """As ``run``, with failed blocks returned."""
        return await (await self.connect()).send(line(*commands), deadline)

    async def close(self) -> None:
        """Leave for good: what is still under way here finds no server any more."""
        self._left = True
        await self._drop()

    async def _drop(self) -> None:
        if self._control is not None:
            await self._leave(self._control)
            self._control = None

    async def end(self) -> None:
        """End the hub, and with it a server that has nothing else. Only for the last one on the wire."""
        async with self.telling():
            await self.send(("kill-session", "-t", f"={HUB}"))
        await self._drop()

    def objects(self, loop: asyncio.AbstractEventLoop) -> libtmux.Server:
        """libtmux's object layer on this wire, for a worker thread: its ``cmd`` waits for ``loop``."""
        return _objects(self, loop)


def program(binary: str) -> str:
    """The tmux to run, or one sentence saying that there is none."""
    found = shutil.which(binary)
    if found is None:
        raise Unavailable(f"{binary} was not found", "install tmux 3.2 or newer, or set the option `tmux` to its path")
    return found


def probe(path: Path) -> None:
    """Knock at the socket without starting a process, so that the four answers can be told apart."""
    knock = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    knock.settimeout(PROBE_DEADLINE)
    try:
        knock.connect(str(path))
    except OSError as error:
        raise _absence(error, path) from None
    finally:
        knock.close()


def _absence(error: OSError, path: Path) -> CoveyError:
    if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTSOCK):
        return NoServer("no tmux server of covey is running")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Unavailable("covey's tmux socket may not be used by this user", str(path))
    return Unavailable("covey's tmux server does not take connections", f"{path}: {error.strerror or error}")


def _objects(server: Server, loop: asyncio.AbstractEventLoop) -> libtmux.Server:
    import libtmux  # noqa: PLC0415  # 120 ms that only cold, typed questions pay

    class Objects(libtmux.Server):
        """libtmux's server whose commands ride the control client instead of starting a process each."""

        def cmd(self, cmd: str, *args: Any, target: str | int | None = None) -> Any:
            targeted = ["-t", str(target)] if target is not None else []
            command = [cmd, *targeted, *map(str, args)]
            blocks = asyncio.run_coroutine_threadsafe(server.send(command), loop).result(DEADLINE * 2)
            return _Answer(command, blocks)

    return Objects(socket_path=str(server.socket), tmux_bin=program(server.binary))


class _Answer:
    """What libtmux expects of a finished command."""

    def __init__(self, command: list[str], blocks: list[Block]) -> None:
        said = [raw.decode("utf-8", "replace") for block in blocks for raw in block.lines if block.ok]
        self.cmd = command
        self.stdout = said
        self.stderr = [block.text for block in blocks if not block.ok]
        self.returncode = 1 if self.stderr else 0
        self.process = None
