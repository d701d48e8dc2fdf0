"""Processes: who is who, what belongs to a session, how it ends and what it costs. The only room that knows psutil.

Linux is read through /proc (about 10 ms for 330 processes); elsewhere psutil answers the same questions.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
import termios
import threading
import time
from collections import defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from covey.errors import Unknown
from covey.models import Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

MARK = "COVEY_ID"  # the variable by which a session's processes are known wherever they went
BUDGET = 5.0  # s for killing, after the grace
SETTLE = 0.25  # s a killed process gets to vanish before the next look
POLL = 0.1  # s between looks where the kernel cannot tell of a death
NAME_LIMIT = 15  # bytes that the kernel keeps of a command's name
SPARED = frozenset({"tmux: server", "tmux", "screen", "zellij", "nvim", "vim", "emacs"})  # made to outlive a terminal
ADOPTERS = frozenset({"systemd", "init"})  # who takes in orphans beside pid 1
_LINUX = sys.platform.startswith("linux")
if not _LINUX:
    import psutil  # 35 ms to import, and Linux never needs it
_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Process:
    """One line of the process table. ``cpu`` is seconds, with those of children already waited for; ``rss`` bytes."""

    pid: int
    ppid: int
    pgid: int
    sid: int
    start: int
    state: str
    command: str
    cpu: float = 0.0
    rss: int = 0

    @property
    def identity(self) -> Identity:
        return Identity(self.pid, self.start, here())

    @property
    def dead(self) -> bool:
        """A zombie is dead: nothing of it runs, whether or not anybody waits for it."""
        return self.state in "ZX"


class Members(NamedTuple):
    """What of a session may be ended (parents before children), and what is of it but must be left alone."""

    mine: list[Process]
    left: list[Process]


class Ended(NamedTuple):
    """What ending a session did: gone and proven so, still alive after everything, never touched."""

    ended: list[Process]
    survivors: list[Process]
    left: list[Process]


@dataclass(frozen=True, slots=True)
class Stats:
    """What a tree of processes costs: CPU seconds so far, resident bytes (shared pages counted each time), how many."""

    cpu: float
    rss: int
    count: int


@cache
def here() -> str:
    """The place in which pids can be compared: node, boot and pid namespace (elsewhere: node and boot time)."""
    node = os.uname().nodename
    if not _LINUX:
        return f"{node}:{int(psutil.boot_time())}"
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    return f"{node}:{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"


def _from_proc(pid: int) -> Process | None:
    try:
        raw = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, _, rest = raw.partition(b"(")[2].rpartition(b")")  # a name may hold blanks and brackets
    row = rest.split()  # field N of proc(5) is row[N - 3]
    first_thread_only = row[0] == b"Z" and int(row[17]) > 1  # the others run on: not a dead process
    state = "S" if first_thread_only else row[0].decode()
    ppid, pgid, sid = (int(word) for word in row[1:4])
    cpu = sum(int(word) for word in row[11:15]) / _TICKS
    return Process(pid, ppid, pgid, sid, int(row[19]), state, name.decode(errors="replace"), cpu, int(row[21]) * _PAGE)


def _from_psutil(pid: int) -> Process | None:
    try:
        row = psutil.Process(pid).as_dict(["ppid", "create_time", "status", "name", "cpu_times", "memory_info"])
        group, sid = os.getpgid(pid), os.getsid(pid)
    except (psutil.NoSuchProcess, ProcessLookupError, PermissionError):
        return None
    state = {"zombie": "Z", "stopped": "T"}.get(row["status"], "S")
    cpu = sum(row["cpu_times"][:4]) if row["cpu_times"] else 0.0
    rss = row["memory_info"].rss if row["memory_info"] else 0
    return Process(pid, row["ppid"], group, sid, int(row["create_time"] * 1000), state, row["name"] or "", cpu, rss)


def _pids_of_psutil() -> list[int]:
    return psutil.pids()


def _pids_of_proc() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  4 × faster than Path


_read = _from_proc if _LINUX else _from_psutil
_pids = _pids_of_proc if _LINUX else _pids_of_psutil


def identify(pid: int) -> Identity | None:
    """Who has this pid now; None: nobody, or a zombie."""
    one = _read(pid)
    return None if one is None or one.dead else one.identity


def alive(identity: Identity) -> bool | None:
    """Whether exactly this process runs. None: it cannot be told (another host, or the look failed)."""
    try:
        return identify(identity.pid) == identity if identity.host == here() else None
    except OSError:
        return None


def environment(pid: int) -> dict[str, str] | None:
    """The environment a process was started with; None: not ours to read, or gone."""
    if not _LINUX:
        with suppress(psutil.Error, OSError):
            return psutil.Process(pid).environ()
        return None
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in raw.split(b"\0") if entry)
    return {os.fsdecode(key): os.fsdecode(value) for key, _, value in pairs}


class Table:
    """All processes at one moment (nearly: /proc is read line by line, so look again after acting)."""

    def __init__(self, processes: Iterable[Process]) -> None:
        self._by_pid = {one.pid: one for one in processes}
        self._children: dict[int, list[Process]] = defaultdict(list)
        for one in self._by_pid.values():
            self._children[one.ppid].append(one)

    def __iter__(self) -> Iterator[Process]:
        return iter(self._by_pid.values())

    def get(self, pid: int) -> Process | None:
        return self._by_pid.get(pid)

    def children(self, pid: int) -> list[Process]:
        return self._children.get(pid, [])

    def tree(self, pid: int) -> list[Process]:
        """The process and all below it, parents before children; empty if there is no such process."""
        found: dict[int, Process] = {}
        queue = deque([self._by_pid[pid]] if pid in self._by_pid else [])
        while queue:
            one = queue.popleft()
            if one.pid not in found:
                found[one.pid] = one
                queue.extend(self.children(one.pid))
        return list(found.values())

    def ancestors(self, pid: int) -> list[Process]:
        """Parent, grandparent and so on."""
        found: dict[int, Process] = {}
        one = self._by_pid.get(pid)
        while one and (one := self._by_pid.get(one.ppid)) and one.pid not in found:
            found[one.pid] = one
        return list(found.values())

    @cached_property
    def marks(self) -> dict[int, str]:
        """pid -> the session mark in its environment; whose environment cannot be read is not in it."""
        readable = ((one.pid, environment(one.pid)) for one in self if not one.dead)
        return {pid: variables[MARK] for pid, variables in readable if variables and MARK in variables}

    def members(
        self,
        root: Identity,
        mark: str = "",
        seen: Collection[Identity] = (),
        spare: Collection[str] = (),
        taken: Collection[Identity] = (),
    ) -> Members:
        """What belongs to the session that ``root`` leads, whether or not ``root`` still lives.

        Ours: what descends from root, shares its session or group, or is in ``taken`` (this ending has begun with it);
        and of those elsewhere that carry ``mark`` the ones in ``seen`` (once our descendants) and the orphans, with
        all that descends from them. Left: what has a session of its own and a name in SPARED or ``spare`` (command
        names; the kernel keeps 15 bytes), with all below it; whatever else carries the mark; us and our ancestors.
        """
        claim = _Claim(self, root, mark, frozenset(seen), frozenset(taken), _short(spare) | SPARED)
        reached, spared = claim.reach()
        untouchable = {1, os.getpid(), *(one.pid for one in self.ancestors(os.getpid()))}
        mine = {one.pid: one for one in reached if not one.dead and one.pid not in untouchable}
        touched = {one.pid for one in (*reached, *spared)}
        others = [one for one in self if not one.dead and one.pid not in mine]
        left = [one for one in others if one.pid in touched or claim.marked(one)]
        depth = {pid: sum(up.pid in mine for up in self.ancestors(pid)) for pid in mine}
        return Members(sorted(mine.values(), key=lambda one: (depth[one.pid], one is not claim.leader)), left)


def _short(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.encode()[:NAME_LIMIT].decode(errors="replace") for name in names)


@dataclass(frozen=True)
class _Claim:
    """The rules by which a process belongs to a session."""

    table: Table
    root: Identity
    mark: str
    seen: frozenset[Identity]
    taken: frozenset[Identity]
    names: frozenset[str]

    @cached_property
    def leader(self) -> Process | None:
        one = self.table.get(self.root.pid)
        return one if one and one.identity == self.root else None

    @cached_property
    def session(self) -> int:
        """The session's number; 0 once somebody else has it, for then it says nothing of us."""
        return self.root.pid if self.leader or not self.table.get(self.root.pid) else 0

    @cached_property
    def above(self) -> frozenset[int]:
        return frozenset(one.pid for one in self.table.ancestors(self.root.pid)) if self.leader else frozenset()

    def marked(self, one: Process) -> bool:
        return bool(self.mark) and self.table.marks.get(one.pid) == self.mark

    def orphan(self, one: Process) -> bool:
        """Its parent is gone: whoever has it now is init, or adopts as init does, above the root's own parent."""
        parent = self.table.get(one.ppid)
        own = self.leader.ppid if self.leader else 0
        return not parent or parent.pid in {1, *(self.above - {own})} or parent.command in ADOPTERS

    def starts(self, one: Process) -> bool:
        if one is self.leader or one.identity in self.taken:
            return True
        if self.session and self.session in (one.sid, one.pgid):
            return self.leader is not None or self.marked(one) or one.identity in self.seen
        return self.marked(one) and (one.identity in self.seen or self.orphan(one))

    def spared(self, one: Process) -> bool:
        own = self.leader.sid if self.leader else self.session
        return one.command in self.names and one.sid != own

    def sheltered(self, one: Process) -> bool:
        return any(self.spared(up) for up in self.table.ancestors(one.pid) if up.pid not in self.above)

    def reach(self) -> tuple[list[Process], list[Process]]:
        """What is found from the starting points downwards, and where the way down was stopped."""
        found: dict[int, Process] = {}
        spared: dict[int, Process] = {}
        queue = deque(one for one in self.table if self.starts(one) and not self.sheltered(one))
        while queue:
            one = queue.popleft()
            if self.spared(one):
                spared[one.pid] = one
            elif one.pid not in found:
                found[one.pid] = one
                queue.extend(self.table.children(one.pid))
        return list(found.values()), list(spared.values())


def snapshot() -> Table:
    """The process table now. Raises Unknown where it cannot be read: an empty table would mean that all are gone."""
    try:
        return Table(one for pid in _pids() if (one := _read(pid)))
    except OSError as error:
        raise Unknown(f"The process table cannot be read: {error}.") from error


class _Looks:
    """Snapshots shared by all who ask meanwhile; each gets one that began after it asked. Fifty kills, few scans."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began = 0.0
        self._table = Table(())

    def after(self, asked: float) -> Table:
        with self._lock:
            if self._began < asked:
                began = time.monotonic()
                self._table, self._began = snapshot(), began
            return self._table


_looks = _Looks()


def stats(roots: dict[str, int], table: Table) -> dict[str, Stats]:
    """What each tree costs, by the caller's key; a root that is gone costs nothing."""
    trees = {key: [one for one in table.tree(pid) if not one.dead] for key, pid in roots.items()}
    return {
        key: Stats(sum(one.cpu for one in tree), sum(one.rss for one in tree), len(tree)) for key, tree in trees.items()
    }


def _pin(identity: Identity) -> int | None:
    """A descriptor that means this process for good; None: it is dead. OSError: no such descriptor to be had."""
    if not hasattr(os, "pidfd_open"):
        raise OSError(errno.ENOSYS, "no pidfd")
    try:
        pinned = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return None
    if identify(identity.pid) == identity:  # looked at after pinning: a reused number shows its new start here
        return pinned
    os.close(pinned)
    return None


def _send(identity: Identity, number: signal.Signals) -> None:
    """Signal this process or nobody. Not being allowed to is no error here: the caller sees it survive."""
    with suppress(ProcessLookupError, PermissionError):
        try:
            pinned = _pin(identity)
        except OSError:
            if alive(identity):
                os.kill(identity.pid, number)
            return
        if pinned is not None:
            try:
                signal.pidfd_send_signal(pinned, number)
            finally:
                os.close(pinned)


def nudge(server_pid: int) -> None:
    """Have a tmux server collect its dead children (tmux <= 3.5a with utempter misses more than half of them)."""
    with suppress(ProcessLookupError):
        os.kill(server_pid, signal.SIGCHLD)


def canonical(where: int | str) -> bool | None:
    """Whether a terminal (a path, or the one that is stdin of a pid) hands over whole lines; None: cannot be told."""
    path = where if isinstance(where, str) else f"/proc/{where}/fd/0"
    try:
        if not os.path.realpath(path).startswith(("/dev/pts/", "/dev/tty")):  # opening other devices may do things
            return None
        opened = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return bool(termios.tcgetattr(opened)[3] & termios.ICANON)
    except termios.error:
        return None
    finally:
        os.close(opened)


def _by_pidfd(loop: asyncio.AbstractEventLoop, identity: Identity, dead: Callable[[], None]) -> Callable[[], None]:
    try:
        pinned = _pin(identity)
    except OSError:
        return _by_looking(loop, identity, dead)
    if pinned is None:
        return loop.call_soon(dead).cancel
    loop.add_reader(pinned, dead)

    def cancel() -> None:
        loop.remove_reader(pinned)
        os.close(pinned)

    return cancel


def _by_looking(loop: asyncio.AbstractEventLoop, identity: Identity, dead: Callable[[], None]) -> Callable[[], None]:
    timer: list[asyncio.Handle] = []

    def look() -> None:
        if alive(identity) is False:
            dead()
        else:
            timer[:] = [loop.call_later(POLL, look)]

    timer.append(loop.call_soon(look))
    return lambda: timer[0].cancel()  # noqa: PLW0108  the handle of then, not of now


class Deaths:
    """Tells of deaths, from the running loop, within milliseconds and once each; at once if it was dead before."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._notice = _by_pidfd if hasattr(os, "pidfd_open") else _by_looking
        self._cancels: dict[Identity, Callable[[], None]] = {}

    def watch(self, identity: Identity, callback: Callable[[], None]) -> None:
        """Call back when this process is dead; one callback a process, a second watch replaces the first."""
        _must_be_near(identity)
        self.forget(identity)

        def dead() -> None:
            self.forget(identity)
            callback()

        self._cancels[identity] = self._notice(self._loop, identity, dead)

    def forget(self, identity: Identity) -> None:
        if cancel := self._cancels.pop(identity, None):
            cancel()

    def close(self) -> None:
        for identity in list(self._cancels):
            self.forget(identity)


def _must_be_near(identity: Identity) -> None:
    if identity.host != here():
        raise Unknown(f"Process {identity.pid} belongs to another machine or container; nothing can be said of it.")


async def wait_gone(identity: Identity, timeout: float) -> bool:  # noqa: ASYNC109  the answer is a bool, not an error
    """Whether the process was dead within so many seconds."""
    if alive(identity) is False:
        return True
    deaths, done = Deaths(), asyncio.Event()
    try:
        deaths.watch(identity, done.set)
        async with asyncio.timeout(timeout):
            return await done.wait()
    except TimeoutError:
        return False
    finally:
        deaths.close()


async def _all_gone(processes: Iterable[Process], until: float) -> None:
    """Return when all are dead, or at that moment of the monotonic clock. One by one: one descriptor at a time."""
    for one in processes:
        if not await wait_gone(one.identity, until - time.monotonic()):
            return


async def end(
    root: Identity,
    *,
    mark: str,
    grace: float,
    seen: Collection[Identity] = (),
    spare: Collection[str] = (),
) -> Ended:
    """End what ``Table.members`` calls ours and prove it: TERM, up to ``grace`` seconds, then STOP and KILL.

    Returns as soon as all are gone, at the latest ``grace`` + BUDGET seconds from now. Each signal goes to a process
    whose identity was checked while its number was pinned. Raises Unknown, having touched nothing, if the root is of
    another host or the process table cannot be read.
    """
    _must_be_near(root)
    return await _Hunt(root, mark, frozenset(seen), frozenset(spare)).run(grace)


@dataclass
class _Hunt:
    root: Identity
    mark: str
    seen: frozenset[Identity]
    spare: frozenset[str]
    taken: dict[Identity, Process] = field(default_factory=dict)
    left: list[Process] = field(default_factory=list)

    async def run(self, grace: float) -> Ended:
        """Two looks in a row must find nothing: one misses who is just forking, or has no environment while in exec."""
        soft = time.monotonic() + grace
        asked: set[Identity] = set()
        while (found := await self.look() or await self.look()) and (now := time.monotonic()) < soft + BUDGET:
            if now < soft:
                self.ask([one for one in found if one.identity not in asked])
                asked.update(one.identity for one in found)
                await _all_gone(found, soft)
            else:
                self.force(found)
                await _all_gone(found, now + SETTLE)
        survivors = {one.identity for one in found}
        ended = [one for identity, one in self.taken.items() if identity not in survivors]
        return Ended(ended, found, [one for one in self.left if alive(one.identity)])

    async def look(self) -> list[Process]:
        asked = time.monotonic()
        found, self.left = await asyncio.to_thread(self._members, asked)
        self.taken.update((one.identity, one) for one in found)
        return found

    def _members(self, asked: float) -> Members:
        return _looks.after(asked).members(self.root, self.mark, self.seen, self.spare, tuple(self.taken))

    def ask(self, found: list[Process]) -> None:
        """TERM, children before parents; a stopped one must be continued to hear it."""
        for one in reversed(found):
            _send(one.identity, signal.SIGTERM)
            if one.state == "T":
                _send(one.identity, signal.SIGCONT)

    def force(self, found: list[Process]) -> None:
        """Stop all before killing any, so that none forks or restarts another meanwhile."""
        for one in found:
            _send(one.identity, signal.SIGSTOP)
        for one in reversed(found):
            _send(one.identity, signal.SIGKILL)
