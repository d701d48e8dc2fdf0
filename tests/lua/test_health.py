"""`:checkhealth covey`: it says what is broken and what to do, and it always ends."""

from __future__ import annotations

import pytest

import fake_core

API = """
class Front:
    def __init__(self, emit):
        pass

    async def hello(self, params):
        return {"version": "1.2.3", "tmux": "tmux"}

    async def call(self, method, params):
        return {
            "list": [],
            "doctor": {
                "packages": {"libtmux": "0.62.0"},
                "tmux": {"ok": False, "version": "tmux 1.8", "options": {"exit-empty": "on", "escape-time": "0"}},
                "fleet": {"sessions": 2, "options": {}, "names": ["a", "b"]},
                "problems": ["claude.toml: no argv"],
                "agents": [
                    {"name": "shell", "installed": True, "version": "5.2", "untested": True},
                    {"name": "claude", "installed": False},
                ],
            },
            "selftest": {"ms": 12.5, "checks": [
                {"name": "open", "ok": True, "note": ""},
                {"name": "send", "ok": False, "note": "held"},
            ]},
        }[method]

    async def bye(self, params):
        pass

    async def close(self):
        pass
"""


def report(nvim):
    nvim.cmd("checkhealth covey")
    return "\n".join(nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))


@pytest.fixture
def settings(world):
    """What makes a healthy editor out of a plain one."""
    python = fake_core.install(world, api=API)
    return f"let g:covey = {{'python': '{python}'}}"


def test_L06_every_link_is_shown_before_setup_was_called(start_nvim, settings, world):
    text = report(start_nvim("--cmd", settings))
    for line in (
        "OK Neovim",
        "OK nothing is wrong with them",
        "OK it answers, as covey 1.2.3",
        "options: escape-time 0, exit-empty on",
        "options: none",
        "names: a, b",
        "libtmux: 0.62.0",
        "ERROR not as it should be",
        "WARNING claude.toml: no argv",
        "OK shell 5.2; its profile is untested",
        "- not installed: claude. To use one, install it,",
        "OK open",
        "ERROR send: held",
        "12.5 ms",
    ):
        assert line in text
    assert "ERROR claude" not in text
    assert text.count(str(world.root)) == 2, "the helper's Python and its log, each once"


def test_a_fresh_editor_with_wrong_options(start_nvim, settings):
    nvim = start_nvim("--cmd", settings)
    nvim.lua("require('covey').setup({ on_exit = 'kil', nonsense = 1 })")
    text = report(nvim)
    assert "WARNING nonsense is no option of covey" in text
    assert 'WARNING on_exit: expected one of keep, reap, settled, got "kil"' in text


TMUXES = [
    ("exec yes", 'says "y"'),
    ("exec sleep 600", "says nothing"),
    ("exit 127", "says nothing"),
    ("echo tmux 3.1c", "is tmux 3.1c, older than 3.2"),
    ("echo tmux next-3.6", "OK"),
]


@pytest.mark.parametrize(("script", "words"), TMUXES, ids=[case[0] for case in TMUXES])
def test_L03_a_tmux_that_does_not_behave(start_nvim, settings, world, script, words):
    tmux = world.root / "bin" / "tmux"
    tmux.parent.mkdir()
    tmux.write_text(f"#!/bin/sh\n{script}\n")
    tmux.chmod(0o755)
    text = report(start_nvim("--cmd", settings, "--cmd", f"let $PATH = '{tmux.parent}:' .. $PATH"))
    section = text.split("covey: tmux")[1].split("covey: helper")[0]
    assert words in section
    assert "OK it answers" in text


def test_L01_without_tmux_it_says_where_it_looked(start_nvim, settings, world):
    text = report(start_nvim("--cmd", settings, "--cmd", f"let $PATH = '{world.home}'"))
    assert 'ERROR there is no program "tmux"' in text
    assert f"PATH is {world.home}" in text


def test_without_python_it_says_what_to_do(start_nvim):
    text = report(start_nvim("--cmd", "let g:covey = {'python': '/no/python'}"))
    assert 'ERROR the option `python` is "/no/python", which is no program' in text


def test_a_helper_that_hangs_does_not_hold_it(start_nvim, world):
    api = API.replace(
        'return {\n            "list"',
        'import asyncio\n        await asyncio.sleep(99)\n        return {\n            "list"',
    )
    python = fake_core.install(world, api=api)
    assert 'ERROR no answer to "list" within 5 s' in report(
        start_nvim("--cmd", f"let g:covey = {{'python': '{python}'}}")
    )
