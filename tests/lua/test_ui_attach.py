"""Attach: a terminal whose keys are the agent's, and which never holds the editor back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stage import Stage, session

if TYPE_CHECKING:
    from editor import Editor

FIX = session("fix")
ECHO = ["sh", "-c", 'stty raw -echo; echo "ready $MARK"; exec cat -v']


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(FIX)
    made.answer("attach", {"argv": ECHO, "env": {"MARK": "here"}})
    return made


def attach(nvim: Editor, style: str = "float") -> None:
    nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": style})
    nvim.wait(lambda: "ready here" in nvim.screen())


@pytest.mark.parametrize("style", ["float", "split", "vsplit", "tab"])
def test_every_key_reaches_the_agent(stage: Stage, nvim: Editor, style: str) -> None:
    attach(nvim, style)
    assert nvim.eval("mode()") == "t"
    nvim.keys("hello<Esc><C-c><C-h><C-b>")
    nvim.wait(lambda: "hello^[^C^H^B" in nvim.screen())
    nvim.keys("<C-\\><C-n>")
    nvim.wait(lambda: nvim.eval("mode(1)") == "nt")


@pytest.mark.parametrize("style", ["float", "split", "vsplit", "tab"])
@pytest.mark.parametrize("how", ["quit", "close", "bdelete!", "lua vim.api.nvim_win_close(0, true)"])
def test_closing_the_window_detaches(stage: Stage, nvim: Editor, style: str, how: str) -> None:
    before = len(nvim.vim.windows)
    attach(nvim, style)
    pid = nvim.eval("jobpid(b:terminal_job_id)")
    nvim.keys("<C-\\><C-n>")
    nvim.wait(lambda: nvim.eval("mode(1)") == "nt")
    nvim.cmd(how)
    nvim.wait(f"vim.uv.kill({pid}, 0) ~= 0")
    nvim.wait(lambda: len(nvim.vim.windows) == before)
    assert nvim.messages() == ""
    assert (
        nvim.lua(
            "return #vim.tbl_filter(function(b) return vim.bo[b].buftype == 'terminal' end, vim.api.nvim_list_bufs())"
        )
        == 0
    )
    attach(nvim, style)


DETACHED = ["sh", "-c", "echo ready here; read line; echo '[detached (from session fix)]'"]
ENDED = ["sh", "-c", "echo ready here; read line; echo '[exited]'"]


@pytest.mark.parametrize("style", ["float", "split", "tab"])
def test_who_detaches_has_the_window_closed(stage: Stage, nvim: Editor, style: str) -> None:
    stage.answer("attach", {"argv": DETACHED, "env": {}})
    attach(nvim, style)
    nvim.keys("<CR>")
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    assert nvim.messages() == ""


def read_on(nvim: Editor) -> None:
    """Leave terminal mode, and then the client ends."""
    nvim.keys("<C-\\><C-n>")
    nvim.wait(lambda: nvim.eval("mode(1)") == "nt")
    nvim.lua("vim.api.nvim_chan_send(vim.b.terminal_job_id, '\\n')")


@pytest.mark.parametrize("style", ["float", "split", "tab"])
def test_keys_for_an_agent_that_goes_reach_nothing_else(stage: Stage, nvim: Editor, style: str) -> None:
    nvim.cmd("call setline(1, ['one', 'two', 'three'])")
    stage.answer("attach", {"argv": ENDED, "env": {}})
    attach(nvim, style)
    nvim.keys("<CR>ddddifour<Esc>oddd")
    nvim.wait(lambda: "[fix is gone; q closes this]" in nvim.screen())
    nvim.keys("<Esc>dddifour<Esc>")
    nvim.wait(lambda: nvim.eval("mode(1)") == "n")
    assert "ready here" in nvim.screen()
    nvim.keys("q")
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    assert nvim.eval("getline(1, '$')") == ["one", "two", "three"]


GONE = {"id": FIX["id"], "name": FIX["name"], "reason": "killed"}
WHY = "covey: fix is gone: killed"


@pytest.mark.parametrize("style", ["float", "split", "tab"])
@pytest.mark.parametrize("first", ["client", "word"])
def test_why_a_window_closed_by_itself_is_told(stage: Stage, nvim: Editor, style: str, first: str) -> None:
    stage.answer("attach", {"argv": ENDED, "env": {}})
    attach(nvim, style)
    if first == "word":
        stage.emit("Gone", GONE)
    read_on(nvim)
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    if first == "client":
        stage.emit("Gone", GONE)
    nvim.wait(lambda: nvim.messages() == WHY)


@pytest.mark.parametrize(("method", "told"), [("kill", ""), ("send", WHY)])
def test_who_ended_a_session_himself_is_not_told_that_it_is_gone(
    stage: Stage, nvim: Editor, method: str, told: str
) -> None:
    stage.answer("attach", {"argv": ENDED, "env": {}})
    attach(nvim)
    nvim.lua("require('covey.calls').mint(..., 'fix', print)", method)
    read_on(nvim)
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    stage.emit("Gone", GONE)
    nvim.lua("vim.schedule(function() said = true end)")
    nvim.wait("said")
    assert nvim.messages() == told


def test_closing_the_window_of_a_session_that_goes_later_says_nothing(stage: Stage, nvim: Editor) -> None:
    attach(nvim)
    nvim.keys("<C-\\><C-n>q")
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    stage.emit("Gone", GONE)
    attach(nvim)
    assert nvim.messages() == ""


def test_a_client_that_fails_is_quoted(stage: Stage, nvim: Editor) -> None:
    stage.answer("attach", {"argv": ["sh", "-c", "echo no such session; exit 1"], "env": {}})
    nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": "float"})
    nvim.wait(lambda: "no such session" in nvim.messages())
    nvim.wait(lambda: nvim.eval("&buftype") != "terminal")


@pytest.mark.parametrize("style", ["float", "split", "tab"])
@pytest.mark.parametrize("how", ["wqa", "qa", "q | q", "xa", "confirm wqa"])
def test_never_stops_the_editor_from_leaving(stage: Stage, nvim: Editor, style: str, how: str) -> None:
    attach(nvim, style)
    nvim.keys("<C-\\><C-n>")
    nvim.wait(lambda: nvim.eval("mode(1)") == "nt")
    assert nvim.quit(how) == 0
    assert "Error" not in nvim.stderr()


def test_comes_back_when_the_editor_does_not_leave_after_all(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("call setline(1, 'not saved')")
    attach(nvim)
    nvim.lua("pcall(vim.cmd, 'qa')")
    nvim.wait(lambda: len(stage.asked("attach")) == 2)
    nvim.wait(lambda: "ready here" in nvim.screen())
    assert len(nvim.vim.windows) == 2


def test_the_same_session_twice_is_one_window(stage: Stage, nvim: Editor) -> None:
    attach(nvim, "vsplit")
    there = nvim.eval("win_getid()")
    nvim.cmd("stopinsert | wincmd p")
    nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": "float"})
    assert nvim.eval("win_getid()") == there
    assert len(stage.asked("attach")) == 1


def test_asked_twice_at_once_is_one_window(stage: Stage, nvim: Editor) -> None:
    nvim.lua("for _ = 1, 2 do require('covey.ui.attach').open(...) end", FIX)
    nvim.wait(lambda: "ready here" in nvim.screen())
    assert len(stage.asked("attach")) == 1


def test_the_mode_is_as_it_was_left(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("tnoremap <C-w> <Cmd>wincmd p<CR>")
    attach(nvim, "vsplit")
    nvim.keys("<C-w>")
    nvim.wait(lambda: nvim.eval("mode()") == "n")
    nvim.cmd("wincmd p")
    nvim.wait(lambda: nvim.eval("mode()") == "t")
    nvim.keys("<C-\\><C-n>")
    nvim.wait(lambda: nvim.eval("mode(1)") == "nt")
    nvim.cmd("wincmd p | wincmd p")
    nvim.lua("vim.wait(50)")
    assert nvim.eval("mode(1)") == "nt"


def test_an_error_of_the_helper_is_a_sentence(stage: Stage, nvim: Editor) -> None:
    stage.fail("attach", "no session is called fix")
    nvim.lua("require('covey.ui.attach').open(...)", FIX)
    nvim.wait(lambda: "no session is called fix" in nvim.messages())
    assert len(nvim.vim.windows) == 1


def test_the_title_follows_the_state(stage: Stage, nvim: Editor) -> None:
    attach(nvim)
    stage.emit("State", FIX | {"state": "working"})
    nvim.wait(lambda: "fix · standin · working" in nvim.screen())


@pytest.mark.parametrize("style", ["float", "split", "tab"])
def test_the_edge_says_how_to_leave_and_what_the_agent_does(stage: Stage, nvim: Editor, style: str) -> None:
    attach(nvim, style)
    assert "<C-\\><C-n> q detaches · g? keys" in nvim.screen()
    stage.emit("State", FIX | {"state": "working"})
    nvim.wait(lambda: "fix · standin · working" in nvim.screen())
    nvim.keys("<C-\\><C-n>g?")
    nvim.wait(lambda: "detach and close" in nvim.screen())


@pytest.mark.parametrize("style", ["float", "split"])
def test_an_agent_that_ended_is_started_again_from_here(stage: Stage, nvim: Editor, style: str) -> None:
    stage.answer("respawn", FIX)
    attach(nvim, style)
    over = FIX | {"state": "exited", "exit": {"code": 3}}
    stage.emit("Exited", over)
    nvim.wait(lambda: "<C-\\><C-n> R respawns · q detaches · g? keys" in nvim.screen())
    nvim.keys("<C-\\><C-n>R")
    nvim.wait(lambda: [call["name"] for call in stage.asked("respawn")] == [FIX["id"]] and nvim.eval("mode()") == "t")
    stage.emit("State", FIX)
    nvim.wait(lambda: "respawns" not in nvim.screen())


DEAD = session("a4", state="exited", exit={"code": None, "signal": 11})
OUT = "<C-\\><C-n> R respawns"


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (170, f" a4 · standin · exited (signal 11)      {OUT} · q detaches · g? keys"),
        (120, f" a4 · standin · exited (signal 11)    {OUT}"),
        (55, " a4 · exited (signal 11)"),
        (19, " a4 · exited (si…"),
    ],
)
def test_at_the_edge_the_hint_gives_way_to_name_and_state(stage: Stage, nvim: Editor, columns: int, shown: str) -> None:
    stage.fleet(DEAD)
    nvim.cmd("set columns=170")
    nvim.lua("require('covey.ui.attach').open(...)", DEAD, {"style": "vsplit"})
    nvim.wait(lambda: "ready here" in nvim.screen())
    nvim.cmd(f"set columns={columns} | wincmd =")
    nvim.wait(lambda: nvim.screen().split("\n")[0].split("│")[0].rstrip() == shown)


def test_the_next_session_comes_into_the_same_float(stage: Stage, nvim: Editor) -> None:
    bob = session("bob")
    stage.fleet(FIX, bob)
    attach(nvim)
    before, job = nvim.eval("win_getid()"), nvim.eval("jobpid(b:terminal_job_id)")
    stage.answer("attach", {"argv": ["sh", "-c", "echo here is bob; cat"], "env": {}})
    nvim.cmd("stopinsert | wincmd p")
    nvim.lua("require('covey').next()")
    nvim.wait(lambda: "here is bob" in nvim.screen() and "bob · standin · idle" in nvim.screen())
    assert (nvim.eval("win_getid()"), stage.floats(), nvim.eval("mode()")) == (before, 1, "t")
    nvim.wait(f"vim.uv.kill({job}, 0) ~= 0")
    nvim.cmd("tabnew")
    nvim.lua("require('covey').attach({ name = 'fix' })")
    nvim.wait(lambda: stage.floats() == 2)
    nvim.cmd("tabclose!")
    nvim.wait(lambda: stage.floats() == 1 and "here is bob" in nvim.screen())
    assert nvim.messages() == ""


@pytest.mark.parametrize("style", ["split", "vsplit"])
def test_the_next_session_comes_into_the_same_split(stage: Stage, nvim: Editor, style: str) -> None:
    stage.fleet(FIX, session("bob"))
    nvim.lua("require('covey').setup({ attach = { style = ... } })", style)
    nvim.lua("require('covey').attach({ name = 'fix' })")
    nvim.wait(lambda: "ready here" in nvim.screen())
    before, job = nvim.eval("win_getid()"), nvim.eval("jobpid(b:terminal_job_id)")
    stage.answer("attach", {"argv": ["sh", "-c", "echo here is bob; cat"], "env": {}})
    nvim.cmd("stopinsert | wincmd p")
    nvim.cmd("Covey next")
    nvim.wait(lambda: "here is bob" in nvim.screen() and "bob · standin · idle" in nvim.screen())
    assert (nvim.eval("win_getid()"), len(nvim.vim.windows), nvim.eval("mode()")) == (before, 2, "t")
    nvim.wait(f"vim.uv.kill({job}, 0) ~= 0")
    nvim.lua("require('covey').attach({ name = 'fix', style = ... })", style)
    nvim.wait(lambda: len(nvim.vim.windows) == 3)
    assert nvim.messages() == ""


def test_keys_that_are_switched_off_are_not_told(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey').setup({ keys = { attach = { leave = false, help = false } } })")
    attach(nvim, "vsplit")
    assert " q detaches" in nvim.screen()
    assert "keys" not in nvim.screen()


def test_the_buffer_is_called_by_the_session(stage: Stage, nvim: Editor) -> None:
    attach(nvim, "split")
    assert nvim.eval("fnamemodify(bufname(), ':t')") == "fix"
    stage.emit("Renamed", FIX | {"name": "a/b #1"})
    nvim.wait(lambda: nvim.eval("fnamemodify(bufname(), ':t')") == "a∕b #1")
    names = nvim.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())")
    assert [name for name in names if name] == [nvim.eval("bufname()")]


def test_an_unknown_style_is_a_sentence(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey.ui.attach').open(...)", FIX, {"style": "popover"})
    nvim.wait(lambda: "style is one of float, split, vsplit, tab, popup, tmux, not popover" in nvim.messages())
    assert stage.asked("attach") == []


def test_C13_keys_of_the_editor_go_through_an_agent(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey').setup({ attach = { editor_keys = { '<C-h>', '<C-w>' } } })")
    nvim.cmd("nnoremap <C-h> <Cmd>let g:pressed = get(g:, 'pressed', 0) + 1<CR>")
    attach(nvim, "vsplit")
    nvim.keys("<C-h>")
    nvim.wait(lambda: nvim.eval("get(g:, 'pressed', 0)") == 1 and nvim.eval("mode()") == "t")
    nvim.keys("<C-w>")
    nvim.keys("p")
    nvim.wait(lambda: nvim.eval("&buftype") == "" and nvim.eval("mode()") == "n")
    nvim.cmd("wincmd p")
    nvim.wait(lambda: nvim.eval("mode()") == "t")
    nvim.keys("done")
    nvim.wait(lambda: "done" in nvim.screen())
    assert "^H" not in nvim.screen()
    assert "^W" not in nvim.screen()
