"""Each installed agent is led through a session: questions, prompts, permission, interrupt, resume, quit, kill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from covey.rehearsal import rehearse
from drawn import CATALOG

if TYPE_CHECKING:
    from desk import Desk

REHEARSED = [name for name in CATALOG.names() if CATALOG.get(name).rehearsal is not None]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("agent", REHEARSED)
async def test_an_agent_is_read_typed_into_and_ended_as_its_profile_says(agent: str, path: str, desk: Desk) -> None:
    told = await rehearse("rehearsal", desk, CATALOG.get(agent), path)
    assert [each for each in told["checks"] if not each["ok"]] == []
    assert [session["name"] for session in await desk("list")] == []
