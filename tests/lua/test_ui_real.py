"""The windows on a real agent: the real helper, a real tmux server, the stand-in."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from covey import paths
from waiting import written
from world import tmux

if TYPE_CHECKING:
    from editor import Editor
    from world import World

FOOTER = "require('covey.ui.viewport').footer(view)"
OPEN = """
    result, failure = nil, nil
    require('covey').open(..., function(err, session) result, failure = session, err end)
"""


@pytest.fixture
def agent(nvim: Editor) -> dict[str, Any]:
    """A stand-in that waits for a prompt."""
    nvim.lua(OPEN, {"name": "fix", "agent": "standin"})
    nvim.wait("failure or (require('covey').get('fix') or {}).state == 'idle'")
    assert nvim.lua("return failure") is None
    return nvim.lua("return require('covey').get('fix')")


def preview(nvim: Editor) -> None:
    nvim.lua("view = require('covey.ui.preview').open(require('covey').get('fix'))")
    nvim.wait(lambda: "Type a prompt" in nvim.screen())


def test_a_preview_is_live_and_shows_the_end_and_the_new_beginning(nvim: Editor, agent: dict[str, Any]) -> None:
    preview(nvim)
    nvim.lua("require('covey').send({ name = 'fix', text = 'echo heard and seen' })")
    nvim.wait(lambda: nvim.screen().count("heard and seen") >= 1)
    os.kill(agent["pid"], signal.SIGKILL)
    nvim.wait(f"{FOOTER} == ' exited (signal 9) · R respawns '")
    assert "heard and seen" in nvim.screen()
    nvim.lua("require('covey').respawn({ name = 'fix' })")
    nvim.wait(lambda: nvim.lua(f"return {FOOTER}") == "" and "fix · standin · idle" in nvim.screen())
    nvim.wait(lambda: "Type a prompt" in nvim.screen())


def test_a_preview_never_resizes_the_pane(nvim: Editor, agent: dict[str, Any]) -> None:
    size = "return { view.screen.cols, view.screen.rows }"
    preview(nvim)
    before = nvim.lua(size)
    for columns, lines in [(60, 15), (200, 60), (120, 40)]:
        nvim.cmd(f"set columns={columns} lines={lines}")
        nvim.lua("require('covey').send({ name = 'fix', text = ... })", f"echo at {columns} columns")
        nvim.wait(lambda want=columns: f"at {want} columns" in nvim.screen())
        assert nvim.lua(size) == before


def test_C08_the_agent_sees_nothing_of_previews_that_come_and_go(nvim: Editor, agent: dict[str, Any]) -> None:
    for _ in range(10):
        preview(nvim)
        nvim.lua("require('covey.ui.preview').close(view)")
    nvim.lua("require('covey').send({ name = 'fix', text = 'echo ok' }, function(_, r) receipt = r end)")
    nvim.wait("receipt and receipt.outcome == 'submitted'")
    preview(nvim)
    assert "[I" not in nvim.screen()
    assert "[O" not in nvim.screen()


def test_C08_the_agent_sees_nothing_of_attached_windows_that_come_and_go(nvim: Editor, agent: dict[str, Any]) -> None:
    for _ in range(5):
        nvim.lua("require('covey.ui.attach').open(require('covey').get('fix'), {})")
        nvim.wait(lambda: "Type a prompt" in nvim.screen() and nvim.eval("mode()") == "t")
        nvim.keys("<C-\\><C-n>q")
        nvim.wait(lambda: len(nvim.vim.windows) == 1)
    nvim.lua("require('covey').send({ name = 'fix', text = 'echo ok' }, function(_, r) receipt = r end)")
    nvim.wait("receipt and receipt.outcome == 'submitted'")
    preview(nvim)
    nvim.wait(lambda: "> echo ok" in nvim.screen())
    assert "[I" not in nvim.screen()
    assert "[O" not in nvim.screen()


def test_what_is_typed_in_an_attached_window_reaches_the_agent_which_lives_on(
    nvim: Editor, agent: dict[str, Any]
) -> None:
    nvim.lua("require('covey.ui.attach').open(require('covey').get('fix'), {})")
    nvim.wait(lambda: "Type a prompt" in nvim.screen() and nvim.eval("mode()") == "t")
    nvim.keys("echo by hand<CR>")
    nvim.wait(lambda: "> echo by hand" in nvim.screen())
    nvim.keys("<C-\\><C-n>q")
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    preview(nvim)
    os.kill(agent["pid"], 0)


@pytest.mark.parametrize(
    ("who", "told"), [("a command line", "covey: fix is gone: killed"), ("this editor", "covey: killed fix")]
)
def test_one_is_told_why_an_attached_window_closed(
    nvim: Editor, world: World, agent: dict[str, Any], who: str, told: str
) -> None:
    nvim.lua("require('covey.ui.attach').open(require('covey').get('fix'), {})")
    nvim.wait(lambda: "Type a prompt" in nvim.screen() and nvim.eval("mode()") == "t")
    if who == "this editor":
        nvim.keys("<C-\\><C-n>:Covey kill fix<CR>")
    else:
        subprocess.run([sys.executable, "-m", "covey.cli", "kill", "fix"], env=world.env, check=True)
    nvim.wait(lambda: "fix" in nvim.messages())
    if who == "a command line":  # he was typing
        nvim.wait(lambda: "[fix is gone; q closes this]" in nvim.screen())
        nvim.keys("q")
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    assert nvim.messages().startswith(told)
    assert "\n" not in nvim.messages()


def test_the_prompt_buffer_submits(nvim: Editor, agent: dict[str, Any]) -> None:
    preview(nvim)
    nvim.lua("require('covey.ui.prompt').open(require('covey').get('fix'), {})")
    nvim.keys("echo from the buffer<C-s>")
    nvim.wait(lambda: "> echo from the buffer" in nvim.screen())
    nvim.wait(lambda: nvim.eval("getline(1, '$')") == [""])


def test_the_history_goes_back_before_the_screen(nvim: Editor, agent: dict[str, Any]) -> None:
    preview(nvim)
    nvim.lua("require('covey').send({ name = 'fix', text = 'flood 300' })")
    nvim.wait(lambda: "flood     300" in nvim.screen())
    nvim.lua("view.float:focus()")
    nvim.keys("gh")
    nvim.wait("vim.api.nvim_buf_line_count(0) > 300")
    nvim.keys("q")
    nvim.wait(lambda: "Type a prompt" in nvim.screen())


def test_a_server_that_dies_is_said_and_the_screen_stays(nvim: Editor, agent: dict[str, Any]) -> None:
    preview(nvim)
    tmux(paths.socket_path(), "kill-server")
    nvim.wait(lambda: "fix · standin · lost" in nvim.screen())
    assert "Type a prompt" in nvim.screen()
    nvim.lua("require('covey').respawn({ name = 'fix' }, function(err, r) failure, respawned = err, r end)")
    nvim.wait("failure or respawned")
    assert nvim.lua("return failure") is None
    nvim.lua("require('covey').send({ name = 'fix', text = 'echo alive again' })")
    nvim.wait(lambda: "> echo alive again" in nvim.screen())


def test_files_that_an_agent_changes_are_read_again_and_listed(nvim: Editor, world: World) -> None:
    folder = world.home / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    os.utime(folder / "a.txt", (1, 1))
    nvim.cmd(f"edit {folder}/a.txt")
    nvim.lua(
        "vim.api.nvim_create_autocmd('User', { pattern = 'CoveyFilesChanged', callback = function(event)"
        " _G.told = event.data.files end })"
    )
    nvim.lua(OPEN, {"name": "fix", "agent": "standin", "cwd": str(folder)})
    nvim.wait("failure or (require('covey').get('fix') or {}).state == 'idle'")
    nvim.lua("require('covey').send({ name = 'fix', text = 'work 1000' })")
    nvim.wait("require('covey').get('fix').state == 'working'")
    (folder / "a.txt").write_text("two\n")
    nvim.wait(lambda: nvim.eval("getline(1)") == "two")
    nvim.lua("require('covey').interrupt({ name = 'fix' })")
    nvim.wait("_G.told")
    assert nvim.lua("return _G.told") == [f"{folder}/a.txt"]


def test_the_editor_variable_of_an_agent_leads_back_here(nvim: Editor, world: World) -> None:
    draft = world.home / "draft.md"
    draft.write_text("from the agent\n")
    nvim.lua("require('covey').setup({ editor_bridge = true })")
    nvim.lua(OPEN, {"name": "fix", "cmd": ["/bin/sh", "-c", f'$EDITOR "{draft}"; cp "{draft}" "{draft}.read"; cat']})
    nvim.wait(lambda: nvim.eval("getline(1)") == "from the agent")
    nvim.keys("ofrom the person<C-s>")
    read = world.home / "draft.md.read"
    nvim.wait(lambda: written(read) == ["from the agent", "from the person"])
    nvim.wait(lambda: len(nvim.vim.windows) == 1)


def test_a_helper_that_dies_is_said_in_an_open_preview_which_comes_back(nvim: Editor, agent: dict[str, Any]) -> None:
    preview(nvim)
    host = nvim.lua(
        "return vim.fn.jobpid(vim.iter(vim.api.nvim_list_chans()):find(function(c)"
        " return c.stream == 'job' and c.argv and table.concat(c.argv, ' '):find('covey_rplugin') end).id)"
    )
    os.kill(host, signal.SIGKILL)
    nvim.wait(lambda: "not connected: the covey helper was ended by signal 9" in nvim.lua(f"return {FOOTER}"))
    assert "Type a prompt" in nvim.screen()
    nvim.lua("require('covey').send({ name = 'fix', text = 'echo alive again' })")
    nvim.wait(lambda: "> echo alive again" in nvim.screen())
    assert nvim.lua(f"return {FOOTER}") == ""


def test_the_board_shows_what_agents_cost(nvim: Editor, agent: dict[str, Any]) -> None:
    nvim.cmd("set columns=100")
    nvim.lua("require('covey').board({})")
    nvim.wait("vim.bo.filetype == 'covey-board'")
    nvim.keys("C")
    nvim.wait(lambda: re.search(r"\d%\s+\d+M", nvim.eval("getline(1)")))
