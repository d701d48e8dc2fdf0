"""Deaths are told at once, once each, however the kernel lets them be seen."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from covey import deaths, process
from covey.deaths import Deaths, wait_gone
from covey.errors import Unknown
from covey.models import Identity
from covey.process import alive
from waiting import eventually


async def test_wait_gone(brood, notice):
    root, _ = brood.run("tell()\nrest()")
    assert await wait_gone(root, 0.05) is False
    waiting = asyncio.create_task(wait_gone(root, 20))
    await asyncio.sleep(0)
    os.kill(root.pid, signal.SIGKILL)
    assert await waiting is True
    assert await wait_gone(root, 0) is True


async def test_what_died_while_we_were_stopped_is_gone(brood, notice):
    root, _ = brood.run("tell()\nrest()")
    waiting = asyncio.create_task(wait_gone(root, 0.1))
    await asyncio.sleep(0)
    os.kill(root.pid, signal.SIGKILL)
    eventually(lambda: alive(root) is False)
    time.sleep(0.1)  # noqa: ASYNC251  # as a SIGSTOP does: the time is up when we go on
    assert await waiting is True


async def test_wait_gone_of_another_host_is_unknown():
    with pytest.raises(Unknown):
        await wait_gone(Identity(os.getpid(), 1, "elsewhere:0:0"), 0.1)


async def test_each_death_is_told_once(brood, notice):
    roots = [brood.run("tell()\nrest()")[0] for _ in range(5)]
    watched, told, done = Deaths(), Counter(), asyncio.Event()

    def note(pid):
        told[pid] += 1
        if len(told) == 4:
            done.set()

    for root in roots:
        watched.watch(root, lambda pid=root.pid: note(pid))
    watched.forget(roots[0])
    for root in roots:
        os.kill(root.pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        await done.wait()
    await asyncio.sleep(0.01)
    assert told == {root.pid: 1 for root in roots[1:]}
    watched.close()


async def test_one_dead_before_is_told_soon_but_not_from_within(brood, notice):
    root, _ = brood.run("tell()\nrest()")
    os.kill(root.pid, signal.SIGKILL)
    eventually(lambda: alive(root) is False)
    watched, done = Deaths(), asyncio.Event()
    watched.watch(root, done.set)
    assert not done.is_set()
    async with asyncio.timeout(20):
        await done.wait()


async def test_a_second_watch_replaces_the_first(brood):
    root, _ = brood.run("tell()\nrest()")
    watched, first, second = Deaths(), asyncio.Event(), asyncio.Event()
    watched.watch(root, first.set)
    watched.watch(root, second.set)
    os.kill(root.pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        await second.wait()
    assert not first.is_set()


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_closing_tells_nobody_and_keeps_no_descriptor(brood, notice):
    before = descriptors()
    root, _ = brood.run("tell()\nrest()")
    watched, told = Deaths(), []
    watched.watch(root, lambda: told.append(root))
    watched.close()
    watched.close()
    os.kill(root.pid, signal.SIGKILL)
    eventually(lambda: alive(root) is False)
    await asyncio.sleep(deaths.POLL * 1.5)
    assert told == []
    assert descriptors() == before + 1  # the pipe of the script's output


async def test_when_descriptors_run_out_deaths_are_still_seen(brood, monkeypatch):
    root, _ = brood.run("tell()\nrest()")

    def exhausted(*_):
        raise OSError(24, "too many open files")

    monkeypatch.setattr(os, "pidfd_open", exhausted)
    assert await wait_gone(root, 0.05) is False
    waiting = asyncio.create_task(wait_gone(root, 20))
    await asyncio.sleep(0)
    process.send(root, signal.SIGKILL)
    assert await waiting is True
