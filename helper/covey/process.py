"""Processes: who is who, what they cost, and a signal for exactly one of them. The only room that knows psutil.

Linux is read through /proc (about 10 ms for 330 processes); elsewhere psutil answers the same questions.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections import defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from covey.errors import Unknown
from covey.models import Identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MARK = "COVEY_ID"  # the variable by which a session's processes are known wherever they went
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


def started(identity: Identity) -> float:
    """When this process of this machine was started, in seconds since 1970."""
    ago = time.clock_gettime(time.CLOCK_BOOTTIME) - identity.start / _TICKS if _LINUX else 0.0
    return time.time() - ago if _LINUX else identity.start / 1000


def alive(identity: Identity) -> bool | None:
    """Whether exactly this process runs. None: it cannot be told (another host, or the look failed)."""
    try:
        return identify(identity.pid) == identity if identity.host == here() else None
    except OSError:
        return None


def stopped(identity: Identity) -> bool:
    """Whether that very process is stopped (SIGSTOP, a debugger): it answers nobody until it is continued."""
    found = _read(identity.pid)
    return found is not None and found.identity == identity and found.state in "Tt"


def arguments(pid: int) -> list[str]:
    """The words a process was started with; none where they are not ours to read, or it is gone."""
    if not _LINUX:
        with suppress(psutil.Error, OSError):
            return psutil.Process(pid).cmdline()
        return []
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [os.fsdecode(word) for word in raw.split(b"\0")]


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

    def orphan(self, one: Process) -> bool:
        """Whether its parent is gone: nobody has it now, or init, or who adopts as init does."""
        parent = self._by_pid.get(one.ppid)
        return parent is None or parent.pid == 1 or parent.command in ADOPTERS

    @cached_property
    def marks(self) -> dict[int, str]:
        """pid -> the session mark in its environment; whose environment cannot be read is not in it."""
        readable = ((one.pid, environment(one.pid)) for one in self if not one.dead)
        return {pid: variables[MARK] for pid, variables in readable if variables and MARK in variables}


def snapshot() -> Table:
    """The process table now. Raises Unknown where it cannot be read: an empty table would mean that all are gone."""
    try:
        return Table(one for pid in _pids() if (one := _read(pid)))
    except OSError as error:
        raise Unknown(f"The process table cannot be read: {error}.") from error


def stats(roots: dict[str, int], table: Table) -> dict[str, Stats]:
    """What each tree costs, by the caller's key; a root that is gone costs nothing."""
    trees = {key: [one for one in table.tree(pid) if not one.dead] for key, pid in roots.items()}
    return {
        key: Stats(sum(one.cpu for one in tree), sum(one.rss for one in tree), len(tree)) for key, tree in trees.items()
    }


def pin(identity: Identity) -> int | None:
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


def send(identity: Identity, number: signal.Signals) -> None:
    """Signal this process or nobody. Not being allowed to is no error here: the caller sees it survive."""
    with suppress(ProcessLookupError, PermissionError):
        try:
            pinned = pin(identity)
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


def same_place(identity: Identity) -> None:
    """Raises Unknown for a process of another machine or container, of which nothing can be said here."""
    if identity.host != here():
        raise Unknown(f"Process {identity.pid} belongs to another machine or container; nothing can be said of it.")
