"""Choosing a session: by vim.ui.select, or beside its screen in a picker that the person has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stage import Stage, session

if TYPE_CHECKING:
    from editor import Editor

PICK = "_G.chosen = nil; require('covey.ui.picker').session({}, function(s) _G.chosen = s and s.name or 'none' end)"
SELECT = "vim.ui.select = function(items, opts, cb) _G.selected = { #items, opts.kind }; cb(items[2]) end"
SNACKS = """
    package.loaded.snacks = { config = { picker = { enabled = true } }, picker = { pick = function(opts)
      _G.picker = opts
    end } }
"""
FZF = """
    package.loaded['fzf-lua'] = { fzf_exec = function(lines, opts) _G.lines, _G.picker = lines, opts end }
    package.loaded['fzf-lua.previewer.builtin'] = { base = { extend = function() return {
      get_tmp_buffer = function() return vim.api.nvim_create_buf(false, true) end,
      set_preview_buf = function(_, buf) _G.shown = buf end,
    } end } }
"""
TELESCOPE = """
    package.loaded.telescope = {}
    package.loaded['telescope.finders'] = { new_table = function(opts) return opts end }
    package.loaded['telescope.config'] = { values = { generic_sorter = function() end } }
    package.loaded['telescope.previewers'] = { new_buffer_previewer = function(opts) return opts end }
    package.loaded['telescope.actions.state'] = { get_selected_entry = function() return _G.entry end }
    package.loaded['telescope.actions'] = {
      close = function() _G.closed = true end,
      select_default = { replace = function(_, act) _G.confirm = act end },
    }
    package.loaded['telescope.pickers'] = { new = function(_, opts)
      _G.picker = opts
      return { find = function() opts.attach_mappings(1) end }
    end }
"""


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(session("ada", state="blocked"), session("bob", state="blocked"))
    made.answer("capture", {"lines": ["a screen", "of bob\x07", "", " "], "cols": 80, "rows": 4})
    nvim.lua(SELECT)
    return made


def test_select_is_used_where_there_is_nothing_else(stage: Stage, nvim: Editor) -> None:
    nvim.lua(PICK)
    nvim.wait("_G.chosen == 'bob'")
    assert nvim.lua("return _G.selected") == [2, "covey"]


def test_who_needs_the_person_is_offered_first(stage: Stage, nvim: Editor) -> None:
    stage.fleet(session("ada"), session("bob", state="working"), session("cid", state="exited"))
    nvim.lua("vim.ui.select = function(items) _G.names = vim.tbl_map(function(s) return s.name end, items) end")
    nvim.lua(PICK)
    assert nvim.lua("return _G.names") == ["cid", "ada", "bob"]


def test_snacks_shows_the_screen(stage: Stage, nvim: Editor) -> None:
    nvim.lua(SNACKS)
    nvim.lua(PICK)
    assert [item["text"].split() for item in nvim.lua("return _G.picker.items")][1][:3] == ["bob", "standin", "blocked"]
    nvim.lua("""
        local item = _G.picker.items[2]
        local preview = { item = item, reset = function() end, set_lines = function(_, l) _G.shown = l end }
        _G.picker.preview({ item = item, preview = preview })
    """)
    nvim.wait("_G.shown")
    assert nvim.lua("return _G.shown") == ["a screen", "of bob "]
    nvim.lua("_G.picker.confirm({ close = function() _G.closed = true end }, _G.picker.items[2])")
    nvim.wait("_G.chosen == 'bob' and _G.closed")


def test_telescope_shows_the_screen(stage: Stage, nvim: Editor) -> None:
    nvim.lua(TELESCOPE)
    nvim.lua(PICK)
    nvim.lua("_G.entry = _G.picker.finder.entry_maker(_G.picker.finder.results[2])")
    assert nvim.lua("return _G.entry.display").split()[:3] == ["bob", "standin", "blocked"]
    nvim.lua("_G.buf = vim.api.nvim_create_buf(false, true)")
    nvim.lua("_G.picker.previewer.define_preview({ state = { bufnr = _G.buf } }, _G.entry)")
    nvim.wait("vim.api.nvim_buf_get_lines(_G.buf, 0, 1, false)[1] == 'a screen'")
    nvim.lua("_G.confirm()")
    nvim.wait("_G.chosen == 'bob' and _G.closed")


def test_fzf_shows_the_screen(stage: Stage, nvim: Editor) -> None:
    nvim.lua(FZF)
    nvim.lua(PICK)
    assert nvim.lua("return _G.lines")[1].startswith("2\tbob")
    nvim.lua("_G.picker.previewer._ctor():populate_preview_buf(_G.lines[2])")
    nvim.wait("vim.api.nvim_buf_get_lines(_G.shown, 0, 1, false)[1] == 'a screen'")
    nvim.lua("_G.picker.actions.default({ _G.lines[2] })")
    nvim.wait("_G.chosen == 'bob'")


def test_a_picker_that_is_not_what_it_was_is_said_and_select_serves(stage: Stage, nvim: Editor) -> None:
    nvim.lua(SNACKS)
    nvim.lua("package.loaded.snacks.picker = nil")
    nvim.lua(PICK)
    nvim.wait("_G.chosen == 'bob'")
    nvim.wait(lambda: "the picker snacks does not work" in nvim.messages())


def test_the_option_decides(stage: Stage, nvim: Editor) -> None:
    nvim.lua(SNACKS)
    nvim.lua("require('covey').setup({ picker = 'select' })")
    nvim.lua(PICK)
    nvim.wait("_G.chosen == 'bob'")
    nvim.lua("require('covey').setup({ picker = 'telescope' })")
    nvim.lua(PICK)
    nvim.wait("_G.chosen == 'bob'")
    nvim.wait(lambda: "the picker telescope does not work" in nvim.messages())
    assert nvim.lua("return _G.picker") is None


def test_a_picker_that_is_there_but_not_loaded_is_left_alone(stage: Stage, nvim: Editor) -> None:
    nvim.lua("package.preload.telescope = function() _G.loaded = true return {} end")
    nvim.lua(PICK)
    nvim.wait("_G.chosen == 'bob'")
    assert nvim.lua("return _G.loaded") is None
