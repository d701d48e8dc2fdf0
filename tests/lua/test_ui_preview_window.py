"""The window of a preview: where it lies, how it closes, and that it never gets in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stage import Stage, session
from waiting import eventually

if TYPE_CHECKING:
    from editor import Editor

FIX = session("fix")
NUMBERED = [f"row {number}" for number in range(1, 40)]  # what an editor of 40 lines has room for


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(FIX)
    return made


def test_the_focus_stays_where_it_is(stage: Stage, nvim: Editor) -> None:
    before = nvim.eval("win_getid()")
    nvim.lua("vim.api.nvim_create_autocmd('TermOpen', { command = 'startinsert' })")
    stage.frame(stage.preview(FIX), NUMBERED)
    stage.shows(NUMBERED)
    assert nvim.eval("win_getid()") == before
    assert nvim.eval("mode()") == "n"


def test_a_focused_preview_never_stays_in_terminal_mode(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("autocmd BufEnter,WinEnter * if &buftype == 'terminal' | startinsert | endif")
    stage.frame(stage.preview(FIX), NUMBERED)
    stage.shows(NUMBERED)
    nvim.lua("view.float:focus()")
    nvim.wait(lambda: nvim.eval("mode(1)") == "nt")
    nvim.keys("q")
    nvim.wait(lambda: stage.floats() == 0)


def test_frames_come_while_the_command_line_window_is_open(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    nvim.keys("q:")
    nvim.wait(lambda: nvim.eval("getcmdwintype()") == ":")
    stage.frame(view, ["one"])
    stage.shows(["one"])
    stage.frame(view, [f"{number:03d}" * 40 for number in range(1, 36)])
    eventually(lambda: len(stage.text()) == 35, message=lambda: f"{stage.text()} {nvim.messages()}")
    assert nvim.messages() == ""


def test_the_focus_moves_when_asked(stage: Stage, nvim: Editor) -> None:
    stage.preview(FIX, focus=True)
    assert nvim.eval("win_getid()") == nvim.lua("return view.float.win")


def test_the_title_says_who_and_what(stage: Stage, nvim: Editor) -> None:
    stage.preview(FIX)
    assert "fix · standin · idle" in nvim.screen()
    stage.emit("State", FIX | {"state": "working"})
    nvim.wait(lambda: "fix · standin · working" in nvim.screen())


@pytest.mark.parametrize(
    "how",
    [
        "lua require('covey.ui.preview').close(view)",
        "fclose!",
        'execute "normal! \\<C-w>o"',
        "tabnew | tabonly",
        "%bdelete!",
        "lua vim.api.nvim_win_close(view.float.win, true)",
        "lua vim.api.nvim_buf_delete(view.float.buf, { force = true })",
        "only",
        "tabnew | tabclose 1",
    ],
)
def test_V03_closes_cleanly_however_it_is_closed(stage: Stage, nvim: Editor, how: str) -> None:
    view = stage.preview(FIX)
    stage.frame(view, [f"{number:03d}" * 40 for number in range(1, 36)])
    eventually(lambda: len(stage.text()) == 35, message=lambda: str(stage.text()))
    nvim.cmd("vnew")
    nvim.cmd(how)
    nvim.wait(lambda: [call["view"] for call in stage.asked("unpreview")] == [view])
    for number in range(3):
        stage.frame(view, [f"late {number}"])
    nvim.lua("vim.wait(50)")
    assert nvim.messages() == ""
    assert stage.floats() == 0
    assert nvim.lua("return vim.api.nvim_buf_is_valid(view.float.buf)") is False
    again = stage.preview(FIX)
    stage.frame(again, ["again"])
    stage.shows(["again"])


def test_V03_closing_many_at_once_is_no_crash(stage: Stage, nvim: Editor) -> None:
    """Neovim closes floats from a list it made before: one that another's autocommand closed would be used after."""
    sessions = [session(name) for name in ("one", "two", "three")]
    stage.fleet(*sessions)
    rows = [f"{number:03d}" * 40 for number in range(1, 36)]
    for _ in range(20):
        for one in sessions:
            stage.frame(stage.preview(one), rows)
        nvim.lua("require('covey.ui.board').open({}) vim.wait(5)")
        nvim.cmd("wincmd p | fclose!")
        nvim.wait(lambda: stage.floats() == 0)
    assert nvim.running()
    assert nvim.messages() == ""


@pytest.mark.parametrize("how", ["q", "close", "wq", "normal! ZZ"])
def test_X02_never_stops_the_last_window_of_a_tab_from_closing(stage: Stage, nvim: Editor, how: str) -> None:
    nvim.cmd("tabnew")
    nvim.cmd("edit some.txt | call setline(1, 'text') | write")
    stage.frame(stage.preview(FIX), NUMBERED)
    stage.shows(NUMBERED)
    nvim.cmd(how)
    assert nvim.eval("tabpagenr('$')") == 1
    assert nvim.messages().count("E5601") == 0


@pytest.mark.parametrize("how", ["q", "qa", "wqa", "x", "normal! ZZ"])
def test_X02_never_stops_the_editor_from_leaving(stage: Stage, nvim: Editor, how: str) -> None:
    stage.frame(stage.preview(FIX), NUMBERED)
    stage.shows(NUMBERED)
    assert nvim.quit(how) == 0
    assert nvim.stderr() == ""


def test_V02_is_laid_out_again_when_the_editor_is_resized(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)
    for columns, lines in [(300, 100), (60, 15), (20, 5), (120, 40)]:
        nvim.cmd(f"set columns={columns} lines={lines}")
        eventually(lambda: NUMBERED[-1] in nvim.screen(), message=nvim.screen)
        position = nvim.lua("local p = vim.api.nvim_win_get_position(view.float.win) return p")
        assert position[1] + nvim.lua("return vim.api.nvim_win_get_width(view.float.win)") <= columns
        assert position[0] + nvim.lua("return vim.api.nvim_win_get_height(view.float.win)") <= lines
    assert nvim.messages() == ""


def test_V02_is_laid_out_again_when_bars_come_and_go(stage: Stage, nvim: Editor) -> None:
    stage.frame(stage.preview(FIX), NUMBERED)
    nvim.cmd("lua view.float:zoom()")
    for option, height in [("cmdheight=0", 37), ("laststatus=0", 38), ("showtabline=2", 37), ("laststatus=3", 36)]:
        nvim.cmd(f"set {option}")
        assert nvim.lua("return vim.api.nvim_win_get_height(view.float.win)") == height, option


def test_V02_without_room_for_a_border_there_is_no_title_and_no_error(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("set columns=20 lines=4")
    view = stage.preview(FIX)
    stage.frame(view, NUMBERED)
    stage.emit("State", FIX | {"state": "working"})
    stage.frame(view, NUMBERED, dead=True, exit={"code": 3})
    nvim.wait(lambda: NUMBERED[-1] in nvim.screen())
    nvim.cmd("set columns=120 lines=40")
    nvim.wait(lambda: "fix · standin · working" in nvim.screen() and "exited (3)" in nvim.screen())
    assert nvim.messages() == ""


def test_V02_closes_with_a_note_where_there_is_no_room(stage: Stage, nvim: Editor) -> None:
    stage.frame(stage.preview(FIX), NUMBERED)
    assert "too small" in nvim.cmd("set columns=12 lines=3")
    nvim.wait(lambda: stage.floats() == 0)


def test_several_at_once_share_the_edge(stage: Stage, nvim: Editor) -> None:
    others = [session(name) for name in ("one", "two", "three")]
    stage.fleet(*others)
    views = [stage.preview(other) for other in others]
    for view in views:
        stage.frame(view, [f"screen of {view}"])
    nvim.wait(lambda: all(f"screen of {view}" in nvim.screen() for view in views))
    nvim.cmd("lua require('covey.ui.preview').close(view)")
    nvim.wait(lambda: all(f"screen of {view}" in nvim.screen() for view in views[:2]))
    assert f"screen of {views[2]}" not in nvim.screen()


def test_opened_twice_is_one_view(stage: Stage, nvim: Editor) -> None:
    stage.preview(FIX)
    stage.preview(FIX, focus=True)
    assert len(stage.asked("preview")) == 1
    assert nvim.eval("win_getid()") == nvim.lua("return view.float.win")


def test_keys_zoom_and_close(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX, focus=True)
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)
    before = nvim.lua("return vim.api.nvim_win_get_width(view.float.win)")
    nvim.keys("zz")
    nvim.wait(lambda: nvim.lua("return vim.api.nvim_win_get_width(view.float.win)") == 118)
    nvim.keys("zz")
    nvim.wait(lambda: nvim.lua("return vim.api.nvim_win_get_width(view.float.win)") == before)
    stage.shows(NUMBERED)
    nvim.keys("q")
    nvim.wait(lambda: stage.floats() == 0)


def test_retarget_shows_another_session_in_the_same_window(stage: Stage, nvim: Editor) -> None:
    other = session("other")
    stage.fleet(FIX, other)
    first = stage.preview(FIX)
    stage.frame(first, ["of fix"])
    stage.shows(["of fix"])
    window = nvim.lua("return view.float.win")
    nvim.lua("require('covey.ui.preview').retarget(view, ...)", other)
    second = stage.asked("preview")[-1]["view"]
    stage.frame(second, ["of other"])
    stage.frame(first, ["too late"])
    stage.shows(["of other"])
    assert nvim.lua("return view.float.win") == window
    assert stage.asked("unpreview") == [{"view": first}]
