"""One look at a pane while a prompt is typed, looking until it shows something, and what tmux itself looks for."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from covey import state
from covey.agents import Profile
from covey.models import Pane
from covey.prompt import SHELLS
from covey.tmux.screen import Screen

FIRST, MOST, GROWTH = 0.001, 0.05, 1.25  # seconds between looks at the composer
DIALOG = "(❯|›|●|▶) *1[.] "  # what tmux itself looks for in the line that presses Enter
NO_DIALOG = f"#{{==:#{{C/r:{DIALOG}}},0}}"
NO_SHELL = f"#{{==:#{{m/r:^({'|'.join(sorted(SHELLS))})$,#{{pane_current_command}}}},0}}"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look:
    """A pane, its screen and what of it matters here."""

    pane: Pane
    screen: Screen
    dialog: bool
    composer: str | None
    pointed: bool  # whether tmux would find a dialog on it: words may look like one

    @classmethod
    def read(cls, pane: Pane, seen: Screen, profile: Profile) -> Look:
        dialog = state.dialog(seen, profile) is not None
        pointed = re.search(DIALOG, seen.text) is not None
        return cls(pane, seen, dialog, None if dialog else state.composer(seen, profile), pointed)


async def poll(look: Callable[[], Awaitable[T | None]], seconds: float) -> T | None:
    """Look until there is an answer, and once more when the time is up; often at first, then less."""
    deadline, pause, late = time.monotonic() + seconds, FIRST, False
    while (answer := await look()) is None and not late:
        await asyncio.sleep(pause)
        pause, late = min(pause * GROWTH, MOST), time.monotonic() >= deadline
    return answer
