"""A helper in the test's own process: what an editor or a command line would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desk import Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from world import World


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    """A ``Desk`` in the test's world, closed with its tmux server at the end."""
    here = Desk(world)
    await here.start()
    yield here
    await here.close()
