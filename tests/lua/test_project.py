"""A project's own settings: read after trust, and never more than they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from editor import Editor
    from wire import Wire
    from world import World

PARSE = "local found, wrong = require('covey.toml').parse(...); return { found or vim.NIL, wrong or vim.NIL }"
CONFIG = "return require('covey.config').get()"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", {}),
        ('a = "text" # with a remark\n\n# and another', {"a": "text"}),
        (r'a = "q\"b\\n\n\t" ' + "\nb = 'as \\ it is'", {"a": 'q"b\\n\n\t', "b": "as \\ it is"}),
        ("a = 1\nb=-2.5\n c = +3", {"a": 1, "b": -2.5, "c": 3}),
        ("a = true\r\nb = false\r\n", {"a": True, "b": False}),
        (
            'top = "#1"\n[sub-table]\na = 1\n[other] # yes\na = 2',
            {"top": "#1", "sub-table": {"a": 1}, "other": {"a": 2}},
        ),
    ],
)
def test_what_is_read(nvim: Editor, text: str, result: dict[str, object]) -> None:
    found, wrong = nvim.lua(PARSE, text)
    assert wrong is None
    assert (found or {}) == result


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a = 1\nnonsense", "line 2: this is neither `key = value` nor `[table]`"),
        ("a = [1, 2]", 'line 1: a wants a "text", a number, true or false'),
        ('a = "open', 'line 1: a wants a "text", a number, true or false'),
        ('a = "x" y', 'line 1: a wants a "text", a number, true or false'),
        ("a = 0x10", 'line 1: a wants a "text", a number, true or false'),
        ("a =", 'line 1: a wants a "text", a number, true or false'),
        ('a = """x"""', 'line 1: a wants a "text", a number, true or false'),
        ("[a.b]", "line 1: this is neither `key = value` nor `[table]`"),
        ("[[a]]", "line 1: this is neither `key = value` nor `[table]`"),
        ("a.b = 1", "line 1: this is neither `key = value` nor `[table]`"),
        ("a = 1\na = 2", "line 2: a is there twice"),
        ("[a]\nx = 1\n[a]", "line 3: a is there twice"),
    ],
)
def test_what_is_refused_with_its_line(nvim: Editor, text: str, wrong: str) -> None:
    assert nvim.lua(PARSE, text) == [None, wrong]


@pytest.fixture
def project(wire: Wire, world: World) -> Path:
    folder = world.home / "project"
    (folder / "deep").mkdir(parents=True)
    wire.nvim.cmd(f"cd {folder}/deep")
    return folder


def trust(nvim: Editor, file: Path) -> None:
    nvim.lua("vim.fn.mkdir(vim.fn.stdpath('state'), 'p')")
    nvim.cmd(f"split {file}")
    nvim.lua("vim.secure.trust({ action = 'allow', bufnr = 0 })")
    nvim.cmd("bwipeout")


def test_a_trusted_file_counts_for_what_is_done_there(project: Path, wire: Wire) -> None:
    nvim = wire.nvim
    (project / ".covey.toml").write_text('default_agent = "codex"\n[attach]\nstyle = "tab"\n')
    trust(nvim, project / ".covey.toml")
    assert nvim.lua(CONFIG)["default_agent"] == "claude"
    nvim.lua("require('covey').setup({ default_agent = 'pi', on_exit = 'keep' })")
    nvim.cmd("Covey open name=x")
    method, params = wire.call()
    assert (method, params["agent"], params["on_exit"]) == ("open", "codex", "keep")
    assert nvim.lua(CONFIG)["attach"]["style"] == "tab"
    nvim.cmd("cd /")
    nvim.cmd("Covey open name=y")
    assert wire.call()[1]["agent"] == "pi"


def test_it_is_read_anew_when_it_was_written(project: Path, wire: Wire) -> None:
    nvim, file = wire.nvim, project / ".covey.toml"
    for agent in ("codex", "aider"):
        file.write_text(f'default_agent = "{agent}"\n')
        trust(nvim, file)
        nvim.lua("require('covey').open({ name = 'x' })")
        assert wire.call()[1]["agent"] == agent


def test_what_is_not_trusted_is_asked_about_once_and_does_nothing(project: Path, wire: Wire) -> None:
    nvim = wire.nvim
    nvim.lua("_G.asked = 0; vim.secure.read = function() _G.asked = _G.asked + 1 end")
    (project / ".covey.toml").write_text('default_agent = "codex"\n')
    for _ in range(3):
        nvim.cmd("Covey open name=x")
        assert wire.call()[1]["agent"] == "claude"
    assert nvim.lua("return _G.asked") == 1


def test_redraws_and_other_reads_never_ask(project: Path, wire: Wire) -> None:
    nvim = wire.nvim
    nvim.lua("vim.secure.read = function() _G.asked = true end")
    (project / ".covey.toml").write_text('default_agent = "codex"\n')
    nvim.lua("require('covey').statusline(); require('covey').list(); require('covey.config').get()")
    assert nvim.lua("return _G.asked") is None


def test_what_is_wrong_is_told_once_and_nothing_is_fatal(project: Path, wire: Wire) -> None:
    nvim, file = wire.nvim, project / ".covey.toml"
    file.write_text('python = "/tmp/evil"\nnonsense = 1\ndefault_agent = 3\non_exit = "keep"\n')
    trust(nvim, file)
    for _ in range(2):
        nvim.cmd("Covey open name=x")
        assert wire.call()[1]["on_exit"] == "keep"
    assert wire.notices() == ["covey: .covey.toml: python is not for a project to set"]
    problems = nvim.lua("return require('covey.config').problems()")
    assert any("nonsense is no option" in problem for problem in problems)
    assert any("default_agent: expected" in problem for problem in problems)
    assert nvim.lua(CONFIG)["python"] == ""
    file.write_text("a = [\n")
    trust(nvim, file)
    nvim.cmd("Covey open name=x")
    assert wire.notices() == [f'covey: {file}, line 1: a wants a "text", a number, true or false']


def test_what_is_huge_is_not_read_and_said_once(project: Path, wire: Wire) -> None:
    nvim = wire.nvim
    nvim.lua("vim.secure.read = function() _G.asked = true end")
    (project / ".covey.toml").write_text("#" * 70_000)
    for _ in range(2):
        nvim.cmd("Covey open name=x")
        wire.call()
    assert wire.notices() == [f"covey: {project}/.covey.toml holds more than 64 KiB, and is not read"]
    assert nvim.lua("return _G.asked") is None
