"""A helper in the test's own process: what an editor or a command line would run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from brood import Brood
from desk import Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from world import World


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    """A ``Desk`` in the test's world, closed with its tmux server at the end."""
    here = Desk(world)
    await here.start()
    yield here
    await here.close()


@pytest.fixture
def brood() -> Iterator[Brood]:
    """Whatever processes a test starts with it are gone after it, and that is looked at, not assumed."""
    family = Brood()
    yield family
    family.clear()
    assert family.living() == []


@pytest.fixture(params=["pidfd", "looking"])
def notice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with the kernel's descriptors of processes, once without."""
    if request.param == "looking":
        monkeypatch.delattr(os, "pidfd_open")
