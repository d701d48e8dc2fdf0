"""The windows as a person has them: nvim in a terminal, keys pressed, the screen looked at."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from editor import _option, connected
from stage import Stage, session
from waiting import eventually
from world import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from terminal import Terminal
    from world import World

BETA = session("beta", state="blocked", evidence={"excerpt": "Do you want to proceed?"}, queued=2)
SESSIONS = [
    session("alpha", state="working", last_line="running tests"),
    BETA,
    session("gamma", state="exited", exit={"code": 3}, flags=["unseen"]),
]
SCREEN = ["\x1b[31mred\x1b[0m and \x1b[1;38;2;10;200;30mtrue colour\x1b[0m", *[f"row {n}" for n in range(2, 41)]]
FLOOD = """
    local view, session = ...
    local count = 0
    vim.uv.new_timer():start(0, 1, vim.schedule_wrap(function()
      count = count + 1
      local ansi, cursor = 'frame ' .. count, { x = 0, y = 0, visible = true }
      stage.emit('Frame', { view = view, ansi = ansi, cols = 120, rows = 1, cursor = cursor })
      stage.emit('State', session)
    end))
"""


class Person:
    """An nvim in a terminal: ``keys`` by hand, ``lua`` through its socket for what the helper would do."""

    def __init__(self, world: World, terminal: Terminal) -> None:
        self.terminal = terminal
        self._socket = world.run / "person.nvim"
        commands = ["--cmd", f"let &runtimepath = '{_option(ROOT)},' .. &runtimepath", "--listen", str(self._socket)]
        terminal.start(["nvim", "--clean", "-n", *commands], cols=120, rows=40)
        terminal.wait_for(r"\[No Name\]|~")
        self.vim = eventually(lambda: connected(self._socket), message="nvim listens")

    def lua(self, code: str, *args: Any) -> Any:
        return self.vim.exec_lua(code, *args)

    def leave(self) -> None:
        """Close nvim, and let pynvim see that it is gone before its socket is closed."""
        with contextlib.suppress(OSError, EOFError):
            self.vim.command("qall!")
        with contextlib.suppress(OSError, EOFError):
            self.vim.api.get_mode()
        self.vim.close()


@pytest.fixture
def person(world: World, terminal: Terminal) -> Iterator[Person]:
    made = Person(world, terminal)
    yield made
    made.leave()


@pytest.fixture
def stage(person: Person) -> Stage:
    made = Stage(person)
    made.fleet(*SESSIONS)
    return made


def test_a_preview_in_a_terminal_is_live_and_coloured(stage: Stage, terminal: Terminal) -> None:
    view = stage.preview(BETA)
    stage.frame(view, SCREEN)
    terminal.wait_for("beta · standin · blocked")
    terminal.wait_for("row 40")
    terminal.type("ihello")
    terminal.wait_for("^hello")
    stage.frame(view, SCREEN[:2], cursor=(0, 1))
    terminal.wait_for("red and true colour")
    colours = terminal.ansi()
    assert "\x1b[31mred" in colours or "\x1b[38;5;1mred" in colours
    assert "38;2;10;200;30mtrue colour" in colours


def test_the_terminal_is_resized_while_a_preview_is_open(stage: Stage, terminal: Terminal) -> None:
    stage.frame(stage.preview(BETA), SCREEN)
    terminal.wait_for("row 40")
    for cols, rows in [(60, 15), (20, 5), (200, 50), (120, 40)]:
        terminal.resize(cols, rows)
        eventually(lambda want=cols: stage.nvim.lua("return vim.o.columns") == want, message="nvim noticed")
        terminal.wait_for("row 40")
    assert "E5" not in terminal.screen()


def test_the_board_in_a_terminal(stage: Stage, terminal: Terminal) -> None:
    stage.answer("kill", {"name": "beta", "survivors": []})
    stage.nvim.lua("require('covey.ui.board').open({})")
    terminal.wait_for("covey · 1 blocked · 1 exited · 1 working")
    stage.frame(stage.asked("preview")[-1]["view"], SCREEN)
    terminal.wait_for("row 40")
    terminal.keys("x")
    terminal.wait_for(r"Kill beta \(standin\)\?")
    terminal.keys("l")
    eventually(lambda: "Kill beta" not in terminal.screen(), message=terminal.screen)
    assert stage.asked("kill") == []
    terminal.keys("x")
    terminal.wait_for(r"Kill beta \(standin\)\?")
    terminal.keys("k")
    eventually(lambda: stage.asked("kill") == [{"name": BETA["id"]}], message="kill was asked for")
    terminal.keys("q")
    eventually(lambda: len(stage.nvim.vim.windows) == 1, message="the board is closed")


@pytest.mark.parametrize("keys", [":q", ":qa", ":wqa", "ZZ"])
def test_X03_nothing_is_said_after_leaving(stage: Stage, terminal: Terminal, keys: str) -> None:
    view = stage.preview(BETA)
    stage.frame(view, SCREEN)
    terminal.wait_for("row 40")
    stage.nvim.lua(FLOOD, view, BETA)
    terminal.type(keys)
    if keys.startswith(":"):
        terminal.keys("Enter")
    eventually(lambda: not terminal.running(), message=terminal.screen)
    assert "E5" not in terminal.screen()
    assert "rror" not in terminal.screen()


WAITING = [{"number": n, "outcome": "held", "reason": "it works", "text": f"prompt {n} " * 20} for n in (1, 2)]


@pytest.mark.parametrize(
    ("typed", "answer", "rows"),
    [
        ("list", SESSIONS, ["alpha  standin  working", "gamma  standin  exited (3)"]),
        ("queue beta", WAITING, ["held     it works  prompt 1", "prompt 2 prompt 2"]),
        ("log beta", [], ["nothing happened yet"]),
        ("keep beta", BETA, ["covey: beta is kept"]),
    ],
)
def test_an_answer_never_has_one_press_a_key(
    stage: Stage, terminal: Terminal, typed: str, answer: Any, rows: list[str]
) -> None:
    terminal.resize(80, 20)
    eventually(lambda: stage.nvim.lua("return vim.o.columns") == 80, message="nvim noticed")
    stage.answer(typed.split(maxsplit=1)[0], answer)
    terminal.type(f":Covey {typed}")
    terminal.keys("Enter")
    for row in rows:
        terminal.wait_for(re.escape(row))
    many = len(rows) > 1
    assert stage.nvim.vim.api.get_mode() == {"mode": "n", "blocking": False}
    assert len(stage.nvim.vim.windows) == 1 + many
    if many:
        terminal.wait_for(typed.replace(" ", " · "))
        terminal.keys("q")
    eventually(lambda: len(stage.nvim.vim.windows) == 1, message="closed")
    assert "Press ENTER" not in terminal.screen()


def test_who_types_meanwhile_reads_the_answer_afterwards(stage: Stage, terminal: Terminal) -> None:
    stage.answer("list", SESSIONS)
    stage.nvim.vim.command("startinsert")
    terminal.wait_for("INSERT")
    stage.nvim.lua("require('covey.recipe').act('list', {})")
    terminal.type("typed")
    terminal.wait_for("^typed")
    assert stage.nvim.vim.api.get_mode() == {"mode": "i", "blocking": False}
    assert len(stage.nvim.vim.windows) == 1
    terminal.keys("Escape")
    terminal.wait_for("alpha  standin  working")
    terminal.keys("q")
    eventually(lambda: len(stage.nvim.vim.windows) == 1, message="closed")


@pytest.mark.parametrize(("begin", "mode"), [("i", "i"), ("v", "v"), (":terminal cat\ni", "t")])
def test_a_long_notice_stops_nobody_in_the_middle_of_a_word(
    stage: Stage, terminal: Terminal, begin: str, mode: str
) -> None:
    said = "covey: prompt 3 to beta held: " + "for a long reason " * 10 + "that ends here"
    for keys in begin.split("\n"):
        terminal.type(keys)
        terminal.keys(*["Enter"][: keys.startswith(":")])
    eventually(lambda: stage.nvim.vim.api.get_mode()["mode"] == mode, message=mode)
    stage.nvim.lua("require('covey.notify').warn(...); vim.schedule(function() _G.told = true end)", said)
    eventually(lambda: stage.nvim.vim.api.get_mode()["blocking"] or stage.nvim.lua("return _G.told"), message="told")
    assert stage.nvim.vim.api.get_mode() == {"mode": mode, "blocking": False}
    rows = stage.nvim.vim.api.exec2("messages", {"output": True})["output"].splitlines()
    assert "".join(rows).endswith(said)
