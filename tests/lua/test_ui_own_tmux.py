"""A session in the person's own tmux: a popup over the editor, or a window beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stage import Stage, session
from waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from editor import Editor
    from terminal import Terminal
    from world import World

NAME = "it's #{pid} #1"
FIX = session(NAME)
ARGV = ["sh", "-c", 'stty raw -echo; echo "ready $MARK ${TMUX:-outside}"; exec cat -v']
OPTIONS = [["show-options", "-g"], ["show-options", "-s"], ["show-options", "-gw"], ["show-options", "-w"]]


@pytest.fixture
def person(start_terminal: Callable[[], Terminal]) -> tuple[Terminal, Terminal]:
    """Somebody's tmux, and the terminal in which they look at it."""
    theirs = start_terminal().start(["sleep", "1000"])
    shown = start_terminal()
    shown.start(["tmux", "-u", "-S", str(theirs.socket), "attach-session"])
    eventually(lambda: theirs.tmux("list-clients"), message="attached")
    return theirs, shown


@pytest.fixture
def stage(start_nvim: Callable[..., Editor], person: tuple[Terminal, Terminal]) -> Stage:
    theirs = person[0]
    pane, number = theirs.tmux("display-message", "-p", "#{pane_id} #{pid}").split()
    made = Stage(start_nvim(env={"TMUX": f"{theirs.socket},{number},0", "TMUX_PANE": pane}))
    made.fleet(FIX)
    made.answer("attach", {"argv": ARGV, "env": {"MARK": "here"}})
    return made


def options(theirs: Terminal) -> list[str]:
    return [theirs.tmux(*words) for words in OPTIONS]


def test_a_popup_over_the_editor(stage: Stage, person: tuple[Terminal, Terminal]) -> None:
    theirs, shown = person
    before = options(theirs)
    stage.nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": "popup"})
    shown.wait_for("ready here outside")
    if theirs.tmux("display-message", "-p", "#{version}").strip() >= "3.3":
        shown.wait_for(r"it's #\{pid\} #1")
    shown.type("typed")
    shown.wait_for("typed")
    assert options(theirs) == before
    assert stage.nvim.messages() == ""


def test_a_window_of_its_own_and_asked_again_the_same(stage: Stage, person: tuple[Terminal, Terminal]) -> None:
    theirs, shown = person
    before = options(theirs)[:3]
    names = ["list-windows", "-F", "#{window_active} #{window_name}"]
    for _ in range(2):
        stage.nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": "tmux"})
        shown.wait_for("ready here outside")
        eventually(
            lambda: f"1 covey: {NAME}".replace("#", "＃") in theirs.tmux(*names).splitlines(), message="the window"
        )
        assert len(theirs.tmux(*names).splitlines()) == 2
        theirs.tmux("select-window", "-t", ":0")
    assert options(theirs)[:3] == before
    assert stage.nvim.messages() == ""


@pytest.mark.parametrize("style", ["popup", "tmux"])
def test_it_shows_the_way_out_for_its_window_has_no_edge(
    stage: Stage, person: tuple[Terminal, Terminal], style: str
) -> None:
    argv = ["sh", "-c", 'stty raw -echo; echo "ready $*"; exec cat -v', "sh"]
    stage.answer("attach", {"argv": argv, "env": {}, "way_out": ["display-message", "it's by #{pid}"]})
    stage.nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": style})
    person[1].wait_for(r"ready ; display-message it's by #\{pid\}")


def test_a_client_that_fails_is_told(stage: Stage) -> None:
    stage.answer("attach", {"argv": ["sh", "-c", "exit 3"], "env": {}})
    stage.nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": "popup"})
    stage.nvim.wait(lambda: "ended with code 3" in stage.nvim.messages())


@pytest.mark.parametrize("style", ["popup", "tmux"])
def test_without_a_tmux_it_is_a_sentence(nvim: Editor, style: str) -> None:
    Stage(nvim).answer("attach", {"argv": ARGV, "env": {}})
    nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": style})
    nvim.wait(lambda: f"covey: style={style} needs an editor that runs in tmux; try style=float" in nvim.messages())


def test_an_old_tmux_is_a_sentence(start_nvim: Callable[..., Editor], world: World) -> None:
    old = world.root / "old" / "tmux"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 3.1c\n")
    old.chmod(0o755)
    nvim = start_nvim(env={"TMUX": "/nowhere,1,0", "PATH": f"{old.parent}:{world.env['PATH']}"})
    Stage(nvim).answer("attach", {"argv": ARGV, "env": {}})
    nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": "popup"})
    nvim.wait(lambda: "covey: style=popup needs tmux 3.2; yours is 3.1c" in nvim.messages())
