"""What proves, after an Enter, that a prompt has left."""

from __future__ import annotations

from typing import Any

import pytest

from covey.delivery import Delivery, Look
from covey.models import StateName, Verdict
from covey.prompt import Draft
from covey.tmux.screen import Screen
from drawn import CATALOG

DRAFT = "fix it"


def delivery(state: StateName) -> Delivery:
    nothing: Any = None

    def shows(*_: object) -> Verdict:
        return Verdict(state, "rule")

    rooms = dict.fromkeys(("server", "pane", "stage", "begin", "canonical", "shell"), nothing)
    each = Delivery(profile=CATALOG.get("copilot"), act="a", verdict=shows, draft=Draft(DRAFT, 1), **rooms)
    each._busy = False
    return each


@pytest.mark.parametrize(
    ("composer", "state", "left"),
    [
        ("", "idle", True),
        ("", "working", True),
        (None, "working", True),  # it works and shows no composer
        ("another", "working", True),  # it works, and suggests what to say next
        (DRAFT, "working", None),  # it still ends what it did before, and the Enter was lost on that
        (DRAFT, "idle", None),
        (None, "idle", None),
    ],
)
async def test_a_prompt_that_still_shows_has_not_left(
    monkeypatch: pytest.MonkeyPatch, composer: str | None, state: StateName, left: bool | None
) -> None:
    async def look(_: Delivery) -> Look:
        pane: Any = None
        return Look(pane, Screen.plain(""), dialog=False, composer=composer, pointed=False)

    monkeypatch.setattr(Delivery, "_look", look)
    assert await delivery(state)._left() is left
