"""What every verb needs to understand what it was asked."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from covey import process
from covey.errors import NotFound, Usage
from covey.helper import Helper
from covey.models import Session

Environ: TypeAlias = Mapping[str, str] | None


def in_order(helper: Helper) -> list[Session]:
    return sorted(helper.fleet.views.values(), key=lambda view: (view.created, view.id))


async def addressed(helper: Helper, name: str) -> Session:
    """The session meant, looked up anew when it is not known yet; one that is being made is waited for."""
    try:
        return helper.fleet.find(name)
    except NotFound:
        await helper.fleet.underway.made(name)
        await helper.fleet.refresh()
        return helper.fleet.find(name)


def is_within(view: Session) -> bool:
    """Whether who asks runs in that very session: the shell, or the editor whose helper this is."""
    return os.environ.get(process.MARK) == view.id


def time_to_wait(what: str, value: float) -> float:
    """A time to wait: any number that a clock can reach."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and value >= 0):
        raise Usage(f"{what} cannot be {value!r}", "give a number of seconds, 0 or more")
    return float(value)


def one_of(what: str, value: str, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        raise Usage(f"{what} cannot be {value!r}", f"use one of: {', '.join(allowed)}")
    return value
