"""What covey does before it is used: nothing but a command and maps."""

from __future__ import annotations

import psutil

LOADED = "return vim.tbl_filter(function(m) return m:find('^covey') ~= nil end, vim.tbl_keys(package.loaded))"


def test_nothing_is_loaded_and_nothing_runs(nvim):
    assert nvim.lua(LOADED) == []
    assert psutil.Process(nvim.pid).children() == []
    assert nvim.eval("exists(':Covey')") == 2


def test_L04_without_tmux_and_python_an_editor_starts_in_silence(start_nvim, world):
    empty = world.root / "bin"
    empty.mkdir()
    nvim = start_nvim("--cmd", f"let $PATH = '{empty}'")
    nvim.cmd(f"edit {world.home}/file.py")
    assert nvim.messages() == ""


def test_what_needs_no_python_starts_none(nvim):
    nvim.lua("require('covey').setup({ default_agent = 'shell' })")
    nvim.lua("return { require('covey').statusline(), require('covey').counts(), require('covey').get('x') }")
    nvim.cmd("silent! Covey nonsense")
    assert psutil.Process(nvim.pid).children() == []


def test_every_map_does_something(nvim):
    maps = nvim.lua("""
        local found = {}
        for _, mode in ipairs({ 'n', 'x' }) do
          for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
            local name = map.lhs:match('^<Plug>%(Covey(%a+)%)$')
            if name then table.insert(found, name) end
          end
        end
        return found
    """)
    assert {"Send", "SendFile", "Board", "Next", "Attach"} <= set(maps)
    unknown = nvim.lua(
        """
        local actions, verbs = require('covey.keymap').actions, require('covey.command').verbs
        return vim.tbl_filter(function(name) return not actions[name] and not verbs[name:lower()] end, ...)
        """,
        maps,
    )
    assert unknown == []


WITHOUT_MAP = {"name": "the same as rename", "doctor": "the same as health"}


def test_every_verb_has_a_map(nvim):
    maps = nvim.lua("return vim.tbl_map(function(m) return m.lhs end, vim.api.nvim_get_keymap('n'))")
    verbs = set(nvim.lua("return require('covey.command').names()")) - WITHOUT_MAP.keys()
    assert {f"<Plug>(Covey{verb.capitalize()})" for verb in verbs} <= set(maps)


def test_no_key_of_the_person_is_mapped(nvim):
    taken = nvim.lua("""
        local found = {}
        for _, mode in ipairs({ 'n', 'x', 'i', 'o', 't', 'c' }) do
          for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
            if (map.desc or ''):lower():find('covey') and not map.lhs:find('^<Plug>') then
              table.insert(found, map.lhs)
            end
          end
        end
        return found
    """)
    assert taken == []


def test_Y01_the_command_is_there_without_a_manifest(start_nvim):
    nvim = start_nvim("--cmd", "let g:loaded_remote_plugins = 1", "--cmd", "let g:loaded_python3_provider = 0")
    assert nvim.eval("exists(':Covey')") == 2
    assert "open" in nvim.eval("getcompletion('Covey ', 'cmdline')")
