"""The windows in every editor: session files, tab pages, status lines, backgrounds, lazy loading, leaving."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from editor import ROOT
from stage import Stage, session

if TYPE_CHECKING:
    from collections.abc import Callable

    from editor import Editor
    from world import World

FIX = session("fix", state="blocked", cwd="/tmp")
BOB = session("bob")


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.answer("attach", {"argv": ["sh", "-c", "echo ready; cat"], "env": {}})
    made.fleet(FIX, BOB)
    return made


def all_windows(stage: Stage) -> None:
    """A prompt, an attached split, a preview, the board: as much of covey as can be open at once."""
    nvim = stage.nvim
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.keys("a draft<Esc>")
    nvim.wait(lambda: nvim.eval("getline(1)") == "a draft")
    nvim.cmd("wincmd p")
    nvim.lua("require('covey').attach({ name = 'fix', style = 'split' })")
    nvim.wait(lambda: "ready" in nvim.screen())
    nvim.keys("<C-\\><C-n><C-w>p")
    stage.frame(stage.preview(BOB), ["screen of bob"])
    nvim.wait(lambda: "screen of bob" in nvim.screen())


def test_a_session_file_brings_back_the_draft_and_starts_nothing(
    stage: Stage, nvim: Editor, start_nvim: Callable[..., Editor], world: World
) -> None:
    (world.home / "file.txt").write_text("text\n")
    nvim.cmd(f"edit {world.home}/file.txt")
    all_windows(stage)
    nvim.cmd(f"mksession {world.home}/session.vim")
    assert nvim.quit("qa") == 0
    again = start_nvim()
    Stage(again)
    again.cmd(f"source {world.home}/session.vim")
    again.wait(lambda: "press <CR> to open this session's prompt again" in again.screen())
    assert again.messages() == ""
    assert again.lua("return stage.calls") == []
    assert "a draft" in again.screen()
    assert len(again.vim.windows) == 3


def test_what_a_session_file_left_opens_again(stage: Stage, nvim: Editor, start_nvim: Callable[..., Editor]) -> None:
    all_windows(stage)
    assert nvim.quit("qa") == 0
    again = start_nvim()
    there = Stage(again)
    there.answer("list", [FIX])
    there.answer("attach", {"argv": ["sh", "-c", "echo ready; cat"], "env": {}})
    there.fleet(FIX)
    again.cmd(f"split covey://prompt/{FIX['id']}")
    again.keys("<CR>")
    again.wait(lambda: again.eval("&buftype") == "acwrite" and again.eval("getline(1)") == "a draft")
    again.cmd(f"tabedit covey://attach/{FIX['id']}")
    again.keys("<CR>")
    again.wait(lambda: again.eval("&filetype") == "covey-attach" and "ready" in again.screen())
    again.cmd("stopinsert | tabnew covey://preview/zzzzzzzz")
    assert "nothing is kept" in again.screen()


def test_edit_in_a_living_prompt_keeps_it(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.keys("a draft<Esc>")
    nvim.wait(lambda: nvim.eval("getline(1)") == "a draft")
    nvim.cmd("edit!")
    assert nvim.eval("getline(1, '$')") == ["a draft"]
    nvim.keys("A and more<Esc>")
    nvim.wait(lambda: "fix · standin · blocked · 16 bytes" in nvim.screen())
    assert nvim.eval("&modified") == 0


@pytest.mark.parametrize("how", ["wqa", "xa", "qa", "wqa!", "quitall", "confirm qa"])
def test_nothing_of_covey_stops_the_editor_from_leaving(stage: Stage, nvim: Editor, how: str) -> None:
    all_windows(stage)
    nvim.lua("require('covey').board({})")
    assert nvim.quit(how) == 0
    assert "Error" not in nvim.stderr()


@pytest.mark.parametrize(
    "options",
    [
        "laststatus=3",
        "cmdheight=0",
        "laststatus=0 cmdheight=0 showtabline=2",
        "background=light",
        "notermguicolors nonumber signcolumn=yes",
        "columns=60 lines=20",
        "winborder=double",
    ],
)
def test_every_window_opens_under_any_options(stage: Stage, nvim: Editor, options: str) -> None:
    name = options.partition("=")[0]
    if not nvim.eval(f"exists('+{name.removeprefix('no').split()[0]}')"):
        pytest.skip(f"there is no {name} in this nvim")
    nvim.cmd(f"set {options}")
    all_windows(stage)
    nvim.lua("require('covey').board({})")
    nvim.wait(lambda: "blocked" in nvim.screen())
    nvim.keys("g?")
    nvim.wait("vim.bo.filetype == 'covey-help'")
    nvim.keys("qq")
    nvim.wait("not vim.bo.filetype:find('^covey.[bh]')")
    assert nvim.messages() == ""


def test_highlights_are_links_and_survive_colorschemes(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey').board({})")
    nvim.cmd("highlight CoveyName guifg=#123456")
    for scheme, background in [("habamax", "dark"), ("default", "light"), ("morning", "light"), ("default", "dark")]:
        nvim.cmd(f"set background={background} | colorscheme {scheme}")
        links = nvim.lua("return require('covey.ui.highlight').links()")
        for name, target in links.items():
            if name != "CoveyName":
                assert nvim.lua("return vim.api.nvim_get_hl(0, { name = ... }).link", name) == target


def test_two_tab_pages_have_their_own_windows_of_one_session(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.cmd("tabnew")
    nvim.lua("require('covey').attach({ name = 'fix', style = 'split' })")
    nvim.wait(lambda: "ready" in nvim.screen())
    nvim.keys("<C-\\><C-n>")
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    assert nvim.eval("tabpagenr()") == 1
    nvim.cmd("tabclose")
    assert nvim.eval("tabpagenr('$')") == 1
    nvim.lua("require('covey').attach({ name = 'fix' })")
    nvim.wait(lambda: nvim.eval("&filetype") == "covey-attach")


MANAGER = """
    -- what a plugin manager does: stubs first, the plugin's directory on the path at the first use
    vim.opt.runtimepath:remove(...)
    local root = ...
    vim.api.nvim_create_user_command('Covey', function(given)
      vim.api.nvim_del_user_command('Covey')
      vim.opt.runtimepath:prepend(root)
      vim.cmd.source(root .. '/plugin/covey.lua')
      vim.cmd({ cmd = 'Covey', args = given.fargs })
    end, { nargs = '*' })
"""


def test_it_can_be_loaded_at_its_first_command(start_nvim: Callable[..., Editor]) -> None:
    nvim = start_nvim("--cmd", "let g:loaded_covey = 1")
    nvim.cmd("unlet g:loaded_covey")
    nvim.lua(MANAGER, str(ROOT))
    assert nvim.lua("return package.loaded.covey") is None
    nvim.lua("package.preload['covey.rpc'] = function() return { call = function() end, warm = function() end } end")
    nvim.cmd("Covey board")
    nvim.wait("vim.bo.filetype == 'covey-board'")
    assert nvim.eval("maparg('<Plug>(CoveyBoard)', 'n')") != ""


def test_a_plain_package_is_enough(start_nvim: Callable[..., Editor], world: World) -> None:
    place = world.data / "nvim" / "site" / "pack" / "mine" / "start"
    place.mkdir(parents=True)
    (place / "covey").symlink_to(ROOT)
    nvim = start_nvim("--cmd", "let g:loaded_covey = 1")
    nvim.cmd("unlet g:loaded_covey")
    nvim.lua("vim.opt.runtimepath:remove(...)", str(ROOT))
    nvim.lua("vim.opt.runtimepath:prepend(vim.fn.stdpath('data') .. '/site')")
    nvim.lua("vim.opt.packpath:prepend(vim.fn.stdpath('data') .. '/site')")
    nvim.cmd("packloadall!")
    assert nvim.eval("exists(':Covey')") == 2
    assert Path(nvim.lua("return require('covey.host').root()")).resolve() == ROOT


HEAVY = {"covey.ui.board", "covey.ui.preview", "covey.ui.attach", "covey.bridge", "covey.changes", "covey.rpc"}


def test_a_status_line_loads_little(nvim: Editor) -> None:
    nvim.lua("return require('covey').statusline()")
    loaded = set(nvim.lua("return vim.tbl_keys(package.loaded)"))
    assert not loaded & HEAVY
