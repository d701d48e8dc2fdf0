"""A command line in front of which somebody waits: for a prompt to arrive, for an agent to finish."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

from covey import render
from covey.errors import CoveyError
from covey.models import FINAL, Json
from covey.prompt import STARTING, WORKING

REFUSED = frozenset({"refused", "cancelled", "dropped"})
SENT = frozenset({"submitted", "pasted", "queued", "held"})

Call: TypeAlias = Callable[..., Awaitable[Any]]


async def finish(call: Call, receipt: Json, given: argparse.Namespace) -> tuple[Json | None, int]:
    """The session once its agent has finished, or asks, if that was asked for; and the shell's status."""
    if given.wait == "idle" and receipt["outcome"] == "submitted":
        session = await call("idle", name=receipt["session"], seconds=given.timeout)
        unfinished = session["state"] in ("working", "blocked")
        if unfinished:
            aside(render.unfinished(session))
        return session, int(unfinished)
    waits = given.wait is not None and receipt["outcome"] in ("queued", "held")
    return None, status_of(receipt) or int(waits)


def is_terminal() -> bool:
    """Whether a person can be asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


async def ask(call: Call, receipt: Json) -> Json:
    """Have the person say what becomes of a prompt for an agent that works; no answer leaves it held."""
    question = f"{receipt['name']} is working: send now, when idle, or not at all? [now/idle/no] "
    while True:
        sys.stderr.write(question)
        sys.stderr.flush()
        said = await _typed()
        word = said.strip().lower()
        if word in ("now", "idle"):
            return await call("edit", act=receipt["id"], when=word)  # type: ignore[no-any-return]
        if word == "no":
            return await call("cancel", act=receipt["id"])  # type: ignore[no-any-return]
        if not said:
            return receipt


async def _typed() -> str:
    """A line from the terminal. A thread that reads it could not be called off."""
    loop, keyboard = asyncio.get_running_loop(), sys.stdin.fileno()
    there = asyncio.Event()
    loop.add_reader(keyboard, there.set)
    try:
        await there.wait()
    finally:
        loop.remove_reader(keyboard)
    return sys.stdin.readline()


async def see_through(call: Call, receipt: Json, seconds: float, *, patient: bool = False) -> Json:
    """Wait for a prompt that is held for a reason that passes by itself; we are the only helper it can count on.

    A ``patient`` one waits whatever the reason is. What is waited for is said, but for the moment of a start.
    """
    loop = asyncio.get_running_loop()
    deadline, told = loop.time() + seconds, ""
    while receipt["outcome"] not in FINAL and loop.time() < deadline:
        held = receipt["outcome"] == "held"
        if held and not patient and receipt["reason"] not in (STARTING, WORKING):
            break
        if held and (patient or receipt["reason"] == WORKING) and receipt["reason"] != told:
            told = receipt["reason"]
            aside(f"{render.held(receipt)}; waiting for up to {deadline - loop.time():.0f} s")
        receipt = await call("wait", act=receipt["id"], seconds=min(1.0, max(0.05, deadline - loop.time())))
    return receipt


@contextlib.asynccontextmanager
async def given_up(call: Call, act: str) -> AsyncIterator[None]:
    """Who stops waiting for a prompt (Ctrl-C) is told what became of it so far."""
    try:
        yield
    except asyncio.CancelledError:
        try:
            aside(render.answer("send", await call("wait", act=act, seconds=0)))
        except CoveyError:
            aside("nothing was sent")
        raise


def aside(text: str) -> None:
    """A word to who sits in front of the terminal, beside the answer."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"covey: {text}\n")
            sys.stderr.flush()


def status_of(receipt: Json) -> int:
    outcome = receipt["outcome"]
    return 0 if outcome in SENT else 3 if outcome in REFUSED else 1
