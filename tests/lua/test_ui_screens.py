"""A real agent's screen in the editor: the same signs and colours, however often it is looked at, at no process."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from covey import paths
from editor import _option, connected
from waiting import eventually
from world import ROOT, tmux

if TYPE_CHECKING:
    from collections.abc import Callable

    from editor import Editor
    from terminal import Terminal
    from world import World

GLYPHS = "✳ café про 你好 ✅"
GRADIENT = [f"38;2;{red};100;{255 - red}" for red in range(0, 250, 50)]
OPEN = """
    result, failure = nil, nil
    require('covey').open(..., function(err, session) result, failure = session, err end)
"""
IDLE = "failure or (require('covey').get('fix') or {}).state == 'idle'"


def opened(nvim: Editor, **spec: object) -> None:
    nvim.lua(OPEN, {"name": "fix", **spec})
    nvim.wait(IDLE if spec.get("agent") else "failure or result")
    assert nvim.lua("return failure") is None


def attach(nvim: Editor, shows: str) -> None:
    nvim.lua("require('covey').attach({ name = 'fix' })")
    nvim.wait(lambda: shows in nvim.screen() and nvim.eval("mode()") == "t")


def leave(nvim: Editor) -> None:
    nvim.keys("<C-\\><C-n>q")
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    eventually(lambda: not on_server("list-clients", "-F", "#{client_tty}").strip(), message="the client is gone")


def on_server(*words: str) -> str:
    return tmux(paths.socket_path(), *words)


def screen_of(name: str) -> str:
    (pane,) = [
        line.split()[0] for line in on_server("list-panes", "-a", "-F", "#{pane_id} #S").splitlines() if name in line
    ]
    return on_server("capture-pane", "-p", "-S", "-100", "-t", pane)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_V01_signs_are_themselves_whatever_the_locale(start_nvim: Callable[..., Editor], locale: str) -> None:
    nvim = start_nvim(env={"LC_ALL": locale})
    opened(nvim, cmd=["sh", "-c", f"printf '{GLYPHS} end'; cat"])
    nvim.lua("require('covey').preview({ name = 'fix' })")
    nvim.wait(lambda: f"{GLYPHS} end" in nvim.screen())
    nvim.lua("require('covey').attach({ name = 'fix', style = 'tab' })")
    nvim.wait(lambda: nvim.eval("&filetype") == "covey-attach" and f"{GLYPHS} end" in nvim.screen())


def test_V06_looking_ten_times_leaves_the_screen_as_it_was(nvim: Editor) -> None:
    opened(nvim, agent="standin")
    identity = nvim.lua("return require('covey').get('fix').id")
    attach(nvim, "Type a prompt")
    leave(nvim)
    before = screen_of(identity)
    assert "Type a prompt" in before
    for _ in range(10):
        nvim.lua("view = require('covey.ui.preview').open(require('covey').get('fix'))")
        nvim.wait(lambda: "Type a prompt" in nvim.screen())
        nvim.lua("require('covey.ui.preview').close(view)")
        attach(nvim, "Type a prompt")
        leave(nvim)
    assert screen_of(identity) == before


def test_V08_looking_at_six_sessions_starts_no_process(start_nvim: Callable[..., Editor], world: World) -> None:
    log, wrapper = world.tmp / "calls", world.root / "counted-tmux"
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec tmux "$@"\n')
    wrapper.chmod(0o755)
    nvim = start_nvim()
    nvim.lua("require('covey').setup({ tmux = ... })", str(wrapper))
    for number in range(6):
        opened(nvim, name=f"fix {number}", cmd=["cat"])

    def calls() -> list[str]:
        return [line for line in log.read_text().splitlines() if "attach-session" not in line or "no-output" in line]

    before = calls()
    assert before
    nvim.lua("require('covey').board({})")
    nvim.wait("vim.bo.filetype == 'covey-board'")
    for number in range(6):
        nvim.lua("heard = nil; require('covey').list({}, function() heard = true end)")
        nvim.lua("require('covey').statusline(); vim.fn.getcompletion('Covey send f', 'cmdline')")
        nvim.keys("j")
        nvim.lua("require('covey').capture({ name = ... }, function() seen = true end)", f"fix {number}")
        nvim.wait("heard and seen")
    assert calls() == before


def gradient_in(terminal: Terminal) -> None:
    terminal.wait_for("X0x X1x X2x X3x X4x")
    shown = terminal.ansi()
    assert [colour for n, colour in enumerate(GRADIENT) if f"{colour}mX{n}x" not in shown] == []


def test_V11_true_colour_arrives_as_it_was_printed(world: World, terminal: Terminal) -> None:
    socket = world.run / "person.nvim"
    path = ["--cmd", f"let &runtimepath = '{_option(ROOT)},' .. &runtimepath", "--listen", str(socket)]
    terminal.start(["nvim", "--clean", "-n", *path, "--cmd", "let g:python3_host_prog = exepath('python')"])
    terminal.wait_for(r"\[No Name\]|~")
    vim = eventually(lambda: connected(socket), message="nvim listens")
    script = "; ".join(f"printf '\\033[{colour}mX{n}x\\033[0m '" for n, colour in enumerate(GRADIENT))
    vim.exec_lua("require('covey').open({ name = 'fix', cmd = { 'sh', '-c', ... } })", script + "; cat")
    eventually(lambda: vim.exec_lua("return require('covey').get('fix') ~= nil"), message="opened")
    vim.exec_lua("view = require('covey.ui.preview').open(require('covey').get('fix'))")
    gradient_in(terminal)
    vim.exec_lua("require('covey.ui.preview').close(view)")
    eventually(lambda: "X0x" not in terminal.screen(), message=terminal.screen)
    vim.exec_lua("require('covey').attach({ name = 'fix' })")
    gradient_in(terminal)
    with contextlib.suppress(OSError, EOFError):
        vim.command("qall!")
    eventually(lambda: not terminal.running(), message=terminal.screen)
    vim.close()
