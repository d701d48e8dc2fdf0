"""Sitting in front of a session: from within a tmux, from within the session itself, at several places at once."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from covey import process
from covey.errors import Refused
from waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from desk import Desk
    from terminal import Terminal
    from world import World

SIZES = """
import os, signal, sys
def tell(*_):
    size = os.get_terminal_size(0)
    open(sys.argv[1], "a").write(f"{size.columns}x{size.lines}\\n")
signal.signal(signal.SIGWINCH, tell)
tell()
while True:
    os.read(0, 100)
"""


async def argv(desk: Desk, name: str) -> list[str]:
    plan: dict[str, Any] = await desk("attach", name=name)
    return plan["argv"]


async def test_W03_from_inside_the_session_it_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    one = await desk("open", name="one", cmd=["cat"])
    await desk("open", name="two", cmd=["cat"])
    monkeypatch.setenv(process.MARK, one["id"])
    with pytest.raises(Refused, match="one is the session that this runs in"):
        await argv(desk, "one")
    assert await argv(desk, "two")


async def test_W03_from_inside_another_session_it_nests(desk: Desk) -> None:
    await desk("open", name="one", cmd=["sh", "-c", "echo in front; cat"])
    inside = f"TMUX={desk.socket},1,0 exec covey attach one"
    await desk("open", name="two", cmd=["sh", "-c", inside])
    await desk.shows("two", "in front")


async def test_several_places_have_the_size_of_who_typed_last(
    desk: Desk, start_terminal: Callable[[], Terminal]
) -> None:
    record = desk.world.tmp / "sizes"
    await desk("open", name="one", cmd=[sys.executable, "-c", SIZES, str(record)])
    words = await argv(desk, "one")
    expected: list[str] = []

    def becomes(size: str) -> None:
        expected.append(size)
        eventually(lambda: len(seen()) >= len(expected), message=f"the screen is {size}")
        assert seen() == expected

    def seen() -> list[str]:
        return record.read_text().split() if record.exists() else []

    becomes("120x40")
    large, small = start_terminal(), start_terminal()
    large.start(words, 100, 30)
    becomes("100x30")
    small.start(words, 60, 20)
    becomes("60x20")
    for typist, size in ((large, "100x30"), (small, "60x20")):
        typist.type("x")
        becomes(size)


def test_who_attaches_from_a_shell_is_told_the_way_out(world: World, start_terminal: Callable[[], Terminal]) -> None:
    command, name = [sys.executable, "-m", "covey.cli"], "a%H#S"

    def covey(*words: str) -> str:
        done = subprocess.run([*command, *words], env=world.env, capture_output=True, text=True, check=True)
        return done.stdout

    covey("open", name, "--cwd", str(world.home), "--", "sh", "-c", "read line; exit 3")
    terminal = start_terminal().start([*command, "attach", name], 100, 30)
    terminal.wait_for(r"^CTRL-\] d leaves, CTRL-\] \[ reads back$")
    terminal.keys("Enter")
    eventually(lambda: "exited (3)" in covey("get", name))
    terminal.keys("C-]", "d")
    eventually(lambda: not terminal.running())
    again = start_terminal().start([*command, "attach", name], 100, 30)
    again.wait_for(r"its agent has exited \(3\): covey respawn a%H#S$")
