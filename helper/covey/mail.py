"""What becomes of prompts that one helper was asked to send: waited for, and noticed whoever settles it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from covey.models import FINAL, Receipt
from covey.outbox import Outbox

PAUSE, PAUSE_MOST = 0.05, 0.5  # seconds between looks at a receipt that another helper may write


@dataclass(slots=True)
class Mail:
    """``tell`` is called with what others made of the acts that are followed."""

    outbox: Outbox
    tell: Callable[[Receipt], None]
    _followed: dict[str, Receipt] = field(default_factory=dict)  # of acts that wait
    _awaited: dict[str, asyncio.Event] = field(default_factory=dict)

    def follow(self, receipt: Receipt) -> None:
        """From now on notice what becomes of this act, also where another helper settles it."""
        self._followed[receipt.id] = receipt
        if receipt.outcome in FINAL:
            self._followed.pop(receipt.id)

    def heard(self, receipt: Receipt) -> None:
        """This became of an act: whoever waits for it goes on."""
        if receipt.id in self._followed:
            self.follow(receipt)
        if waiting := self._awaited.get(receipt.id):
            waiting.set()

    async def catch_up(self) -> None:
        """Tell what others made of the acts that are followed; that one is being typed is no news."""
        if self._followed:
            for receipt in await asyncio.to_thread(self.outbox.receipts, tuple(self._followed)):
                if receipt.outcome != "queued" and receipt != self._followed.get(receipt.id):
                    self.tell(receipt)

    async def settled(self, act: str, *, patience: float, until: frozenset[str] = FINAL | {"held"}) -> Receipt:
        """The receipt once its outcome is in ``until``, or as it is after ``patience`` seconds."""
        waiting = self._awaited.setdefault(act, asyncio.Event())
        deadline = asyncio.get_running_loop().time() + patience
        pause = PAUSE
        try:
            while True:
                waiting.clear()
                receipt = await asyncio.to_thread(self.outbox.receipt, act)
                left = deadline - asyncio.get_running_loop().time()
                if receipt.outcome in until or left <= 0:
                    return receipt
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(waiting.wait(), min(left, pause))
                pause = min(2 * pause, PAUSE_MOST)
        finally:
            self._awaited.pop(act, None)
