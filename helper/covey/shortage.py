"""What a machine, or the limits a process was started with, has no more of: a sentence, and never a bug of ours."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from covey.errors import Unavailable

T = TypeVar("T")

LEAST_FILES = 128  # open files that a tmux server must be able to have: it ends, with all in it, when it can have none
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
SPENT = {
    errno.EMFILE: ("this process may have no more files open", "raise the limit: ulimit -n"),
    errno.ENFILE: ("this machine can have no more files open", "end some programs"),
    errno.EAGAIN: ("no more processes may be started", "end some, or raise the limit: ulimit -u"),
    errno.ENOMEM: ("there is no memory left", "end some programs, or raise the limit: ulimit -v"),
}


class Workers(ThreadPoolExecutor):
    """Threads for what waits. Where no more can be had, those that are there do all of it."""

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()  # what ``submit`` calls once the work is in the queue
        except RuntimeError:
            if not self._threads:
                raise


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Raise ``Unavailable`` where the block fails for want of something."""
    try:
        yield
    except (OSError, MemoryError, RuntimeError) as error:
        if lack := of(error):
            raise lack from error
        raise


def run(work: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``; it undoes no work that no thread can be had in the end, to wait for the others."""
    done: list[T] = []

    async def kept() -> None:
        done.append(await work)

    try:
        asyncio.run(kept())
    except RuntimeError as error:
        if not (done and of(error)):
            raise
    return done[0]


def of(error: BaseException) -> Unavailable | None:
    """The sentence for an error that says that something is short; None for any other."""
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        where = error.filename or "a file of covey's own"
        return Unavailable(f"{where} cannot be written: {error.strerror}", "make room, or make it writable")
    if isinstance(error, OSError) and error.errno in SPENT:
        return Unavailable(*SPENT[error.errno])
    if isinstance(error, MemoryError) or str(error) == "can't start new thread":
        return Unavailable(*SPENT[errno.ENOMEM])
    return None


def check_files() -> None:
    """Raise ``Unavailable`` where a server that is started now could not have enough files open."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < LEAST_FILES:
        sentence = f"a tmux server would not last here: it might have only {most} files open"
        raise Unavailable(sentence, f"raise the limit: ulimit -n {LEAST_FILES}")
