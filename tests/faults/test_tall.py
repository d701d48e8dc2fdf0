"""A draft that is taller than the screen: what shows of it moves with the Enter, before the composer empties."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from desk import Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from world import World

AGENT = r"""
import json, os, sys, termios, time, tty
tty.setraw(0)
def show(text):
    sys.stdout.write(text.replace("\n", "\r\n"))
    sys.stdout.flush()
show("\x1b[?2004h> ")
typed = b""
while True:
    typed += os.read(0, 65536)
    if b"\x1b[200~" in typed and b"\x1b[201~" not in typed:
        continue
    text = typed.replace(b"\x1b[200~", b"").replace(b"\x1b[201~", b"").decode()
    if not text.endswith("\r"):
        show("\x1b[2J\x1b[3J\x1b[H> " + text.replace("\n", "\n> "))
        continue
    with open(sys.argv[1], "a") as record:
        record.write(json.dumps({"text": text[:-1]}) + "\n")
    show("\n\n")
    time.sleep(1.0)
    termios.tcflush(0, termios.TCIFLUSH)
    show("\ndone\n> ")
    typed = b""
"""
PROFILE = """
name = "tall"
title = "Tall"
argv = []
enter_delay = 0.2
enter_schedule = [0.2]
queues_itself = true

[composer]
kind = "line"
prompt = '>(?: |$)'
top = ''
bottom = ''
"""


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    folder = world.config / "covey" / "agents"
    folder.mkdir(parents=True)
    (folder / "tall.toml").write_text(PROFILE)
    here = await Desk(world).start()
    yield here
    await here.close()


@pytest.mark.parametrize("rows", [3, 30, 45, 100])
async def test_a_draft_taller_than_the_screen_is_seen_to_leave(desk, rows):
    record = str(desk.world.tmp / "one.jsonl")
    await desk("open", name="one", agent="tall", cmd=[sys.executable, "-c", AGENT, record])
    await desk.state("one", "idle")
    text = "\n".join(f"row {number}" for number in range(rows))
    receipt = await desk("send", name="one", text=text)
    assert (receipt["outcome"], receipt["reason"]) == ("submitted", "")
    assert desk.prompts("one") == [text]
