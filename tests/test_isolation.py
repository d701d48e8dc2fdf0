"""A test cannot touch what is a person's, nor leave anything running: the fixtures see it when it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from untouched import PLACES, changes, snapshot, watched
from waiting import PATIENCE, eventually
from world import World, is_alive

SLEEPER = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_the_environment_of_a_test_names_nothing_of_the_persons(world):
    below_home = {value for value in os.environ.values() if value.startswith(str(Path.home()))}
    assert Path.home() == world.home
    assert below_home == {str(world.home)}
    assert not {"TMUX", "TMUX_PANE", "NVIM", "VIRTUAL_ENV", "PYTHONPATH"} & set(os.environ)
    assert {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} == world.env


def test_a_socket_in_a_world_has_a_short_path(world):
    assert len(str(world.run)) < 40


def test_the_default_tmux_socket_of_a_test_lies_in_its_world(world):
    subprocess.run(["tmux", "-f", "/dev/null", "new-session", "-d", "cat"], env=world.env, check=True)
    assert [path.name for path in world.sockets()] == ["default"]


def test_the_persons_places_are_read_before_any_world_is_made(world):
    assert PLACES
    assert not [place for place in PLACES if str(place).startswith(str(world.root))]


@pytest.mark.parametrize(
    ("place", "verb"),
    [(".config/covey/config.toml", "made"), (".local/state/covey/store.db", "changed"), (".tmux.conf", "removed")],
)
def test_a_touched_file_of_the_persons_is_named(tmp_path, place, verb):
    places = watched(tmp_path, 12345, None)
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if verb != "made":
        path.write_text("before")
    before = snapshot(places)
    if verb == "removed":
        path.unlink()
    else:
        path.write_text("after")
        os.utime(path, ns=(1, 1))
    assert f"{verb} {path}" in changes(before, snapshot(places))


def test_a_persons_own_editor_may_write_its_state(tmp_path):
    shada = tmp_path / ".local/state/nvim/shada/main.shada"
    shada.parent.mkdir(parents=True)
    before = snapshot(watched(tmp_path, 12345, None))
    shada.write_text("typed meanwhile")
    assert changes(before, snapshot(watched(tmp_path, 12345, None))) == []


@pytest.fixture
def patience(monkeypatch):
    monkeypatch.setattr("world.FAREWELL", 0.3)


def test_a_process_left_running_is_named_and_ended(patience):
    here = World()
    with subprocess.Popen(SLEEPER, env=here.env, stdin=subprocess.PIPE) as left:
        told = here.close()
        assert left.wait(PATIENCE) == -9
    assert len(told) == 1
    assert told[0].startswith(f"{left.pid} ")
    assert not here.root.exists()


def test_a_tmux_server_and_its_panes_end_quietly_with_the_world(patience):
    here = World()
    socket = str(here.run / "s")
    subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "cat"], env=here.env, check=True)
    running = eventually(lambda: len(found := here.processes()) >= 2 and found)
    assert here.close() == []
    assert not [one for one in running if is_alive(one)]


def test_what_outlives_its_tmux_server_is_named_and_ended(patience, monkeypatch):
    monkeypatch.setattr("world.DYING", 1.0)
    here = World()
    deaf = "trap '' HUP TERM; while :; do sleep 1; done"
    subprocess.run(
        ["tmux", "-S", str(here.run / "s"), "-f", "/dev/null", "new-session", "-d", "sh", "-c", deaf],
        env=here.env,
        check=True,
    )
    eventually(lambda: here.running("trap"))
    told = here.close()
    assert [line for line in told if "outlived" in line and "trap" in line]
    assert here.processes() == []


def test_a_failed_test_can_show_the_end_of_each_log(world):
    (world.state / "covey").mkdir()
    (world.state / "covey" / "covey.log").write_text("\n".join(f"line {number}" for number in range(100)))
    (world.state / "empty.log").touch()
    shown = world.logs().splitlines()
    assert shown[0].endswith("covey.log")
    assert (shown[1], shown[-1]) == ("line 60", "line 99")


def test_an_nvim_of_a_test_lives_in_its_world(nvim, world):
    assert nvim.lua("return vim.fn.stdpath('state')").startswith(str(world.state))
    assert nvim.eval("$HOME") == str(world.home)
    assert nvim.lua("return vim.uv.os_getpid()") == nvim.pid
    nvim.cmd("call setline(1, 'seen')")
    nvim.wait("vim.fn.getline(1) == 'seen'")
    assert nvim.screen().startswith("seen")
    assert nvim.quit() == 0


def test_two_nvims_of_a_test_are_two(start_nvim):
    first, second = start_nvim(), start_nvim(env={"EXTRA": "yes"})
    assert first.pid != second.pid
    assert (first.eval("$EXTRA"), second.eval("$EXTRA")) == ("", "yes")
    first.process.terminate()
    assert first.gone() != 0
    assert second.running()


def test_a_terminal_types_what_it_is_given(terminal):
    terminal.start(["sh", "-c", 'stty -echo; echo "TMUX=[$TMUX] $COLORTERM"; exec cat'], cols=60, rows=10)
    terminal.wait_for(r"^TMUX=\[\] truecolor$")
    terminal.type("-x 'a' \"b\" $HOME;")
    terminal.keys("Enter")
    terminal.wait_for(r"^-x 'a' \"b\" \$HOME;$")
    terminal.keys("C-d")
    eventually(lambda: not terminal.running())


def test_a_terminal_shows_colours_and_sizes(terminal):
    terminal.start(["sh", "-c", r"printf '\033[38;2;1;2;3mred\033[0m\n'; exec cat"], cols=50, rows=7)
    terminal.wait_for("^red")
    assert "38;2;1;2;3" in terminal.ansi()
    terminal.resize(40, 9)
    assert terminal.tmux("display-message", "-p", "#{pane_width}x#{pane_height}").strip() == "40x9"


def test_a_failed_wait_says_what_it_saw(terminal):
    terminal.start(["sh", "-c", "echo here; exec cat"], cols=40, rows=5)
    terminal.wait_for("here")
    with pytest.raises(AssertionError, match=r"(?s)'nowhere' on\nhere"):
        terminal.wait_for("nowhere", timeout=0.1)
