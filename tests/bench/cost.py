"""What running processes cost, read from Linux's /proc: time on a core, memory, children started."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1024 * 1024


def on_core(pid: int) -> float:
    """Seconds that all living threads of a process have run; finer than the clock ticks of ``times``."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # a thread that ended in between
            continue
    return total / 1e9


def resident(pid: int) -> float:
    """MiB in memory."""
    return psutil.Process(pid).memory_info().rss / MIB


def until_dead(pid: int, act: Callable[[], object]) -> float:
    """Milliseconds from ``act`` until the kernel says that the process ended: nobody can know it earlier."""
    handle = os.pidfd_open(pid)
    try:
        began = time.monotonic()
        act()
        select.select([handle], [], [], PATIENCE)
        return 1000 * (time.monotonic() - began)
    finally:
        os.close(handle)


class Meter:
    """Shares of a core, of several processes by name, from ``start`` to ``stop``."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids
        self._began = time.monotonic()
        self._before = {name: on_core(pid) for name, pid in pids.items()}

    def shares(self) -> dict[str, float]:
        """Percent of one core since this meter was made."""
        took = time.monotonic() - self._began
        return {name: 100 * (on_core(pid) - self._before[name]) / took for name, pid in self._pids.items()}


class Births:
    """Whether processes started children that lived for ever so short.

    The kernel adds the page faults of each child that was waited for to its parent's ``cminflt`` (proc_pid_stat(5)),
    and no process runs without one: an unchanged sum and an unchanged set of children mean that none was started.
    """

    def __init__(self, *pids: int) -> None:
        self._pids = pids
        self._before = [self._state(pid) for pid in pids]

    def seen(self) -> int:
        """How many were started at least."""
        return sum(
            len(now[0] - before[0]) + (now[1] != before[1])
            for before, now in zip(self._before, map(self._state, self._pids), strict=True)
        )

    @staticmethod
    def _state(pid: int) -> tuple[set[int], int]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return {child.pid for child in psutil.Process(pid).children()}, int(fields[8])
