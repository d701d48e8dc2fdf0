"""Real agents, where they are installed: found on PATH, or in the directories that COVEY_AGENTS_BIN names."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from desk import Desk
from drawn import CATALOG

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from world import World

PLACES = os.pathsep.join(part for part in (os.environ.get("COVEY_AGENTS_BIN", ""), os.environ["PATH"]) if part)


@pytest.fixture
def path(agent: str) -> str:
    """The PATH on which the agent of this test is found; without it the test is skipped, and says so."""
    program = CATALOG.get(agent).argv[0]
    if shutil.which(program, path=PLACES) is None:
        pytest.skip(f"{program} is not installed (looked on PATH and in COVEY_AGENTS_BIN)")
    return PLACES


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    """A ``Desk`` in the test's world, closed with its tmux server at the end."""
    here = Desk(world)
    await here.start()
    yield here
    await here.close()
