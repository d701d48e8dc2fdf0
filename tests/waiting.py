"""Waiting for a condition: the only way a test lets time pass."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

PATIENCE = 30.0  # seconds; long, because it is only ever used up by a failure
PAUSE = 0.01  # seconds between two looks


def eventually(
    predicate: Callable[[], T], timeout: float = PATIENCE, message: str | Callable[[], str] = "condition"
) -> T:
    """The first truthy value of ``predicate()``; after ``timeout`` seconds an AssertionError.

    What ``predicate`` raises goes through. The error says ``message`` (a text, or a callable that is called only then)
    and the last value seen.
    """
    deadline = time.monotonic() + timeout
    while not (value := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(_complaint(message, timeout, value))
        time.sleep(PAUSE)
    return value


async def eventually_async(
    predicate: Callable[[], T],
    timeout: float = PATIENCE,
    message: str | Callable[[], str] = "condition",
) -> T:
    """As ``eventually``, for a test that runs on an event loop: the loop goes on between two looks."""
    deadline = time.monotonic() + timeout
    while not (value := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(_complaint(message, timeout, value))
        await asyncio.sleep(PAUSE)
    return value


def written(path: Path) -> list[str]:
    """The lines of a file that are written to their end; another process may be at the next. None without a file."""
    text = path.read_text() if path.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


def _complaint(message: str | Callable[[], str], timeout: float, value: object) -> str:
    said = message() if callable(message) else message
    return f"still not after {timeout:g} s: {said} (last seen: {value!r})"
