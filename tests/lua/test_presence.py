"""Sessions that are there before `:Covey` is used: who shows their number has it, and nobody else pays for that."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import psutil

from covey import paths

if TYPE_CHECKING:
    from editor import Editor
    from wire import Wire
    from world import World

WARMED = "(_G.warmed or 0) == 1"


def test_a_statusline_starts_the_helper_where_a_server_may_run(wire: Wire, world: World) -> None:
    paths.socket_path().touch()
    drawn = "for _ = 1, 3 do require('covey').statusline() end return _G.warmed"
    assert wire.nvim.lua(drawn) is None  # not while Neovim starts, and not in a redraw
    wire.nvim.wait(WARMED)
    wire.nvim.lua("require('covey').counts()")
    wire.nvim.lua("vim.wait(700)")
    assert wire.nvim.lua(f"return {WARMED}")


def test_a_socket_that_lies_somewhere_short_is_found_too(wire: Wire, world: World, monkeypatch) -> None:
    deep = world.run / ("d" * 90)
    deep.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    paths.socket_path().touch()
    try:
        wire.nvim.lua("vim.env.XDG_RUNTIME_DIR = ... require('covey').statusline()", str(deep))
        wire.nvim.wait(WARMED)
    finally:
        shutil.rmtree(paths.socket_path().parent)


def test_without_a_server_nothing_starts_and_one_that_comes_later_is_found(wire: Wire, world: World) -> None:
    wire.nvim.lua("""
        local now, clock = vim.uv.now, 0
        vim.uv.now = function() return now() + clock end
        _G.later = function() clock = clock + 5000 end
        require('covey').counts()
        vim.wait(700)
    """)
    assert wire.nvim.lua("return _G.warmed") is None
    paths.socket_path().touch()
    wire.nvim.lua("later() require('covey').counts()")
    wire.nvim.wait(WARMED)


def test_a_new_editor_shows_in_its_statusline_what_there_is(nvim: Editor, start_nvim, world: World) -> None:
    nvim.lua("require('covey').open({ name = 'one', agent = 'standin' })")
    nvim.wait("(require('covey').get('one') or {}).state == 'idle'")
    other = start_nvim("--cmd", "set laststatus=2 | let &statusline = '[%{v:lua.require(\"covey\").statusline()}]'")
    other.wait(lambda: "[covey 1]" in other.screen())
    quiet = start_nvim("--cmd", "set laststatus=2")
    quiet.lua("vim.wait(800)")
    assert psutil.Process(quiet.pid).children() == []
