"""Which Python runs the helper, and `:Covey install`."""

from __future__ import annotations

import os
import stat
import sys

import pytest

PYTHON = "local path, err = require('covey.install').python(); return { path or vim.NIL, err or vim.NIL }"
INSTALL = """
    _G.said, _G.shown, _G.done, _G.agents = {}, {}, nil, (...) or {}
    vim.notify = function(message) table.insert(_G.said, message) end
    local echo = vim.api.nvim_echo
    vim.api.nvim_echo = function(chunks, history, opts)
      table.insert(_G.shown, { chunks[1][1], history })
      echo(chunks, history, opts)
    end
    package.loaded['covey.rpc'] = {
      reset = function() end,
      call = function(method, _, cb) cb(nil, method == 'agents' and _G.agents) end,
    }
    require('covey').install({}, function(err, result) _G.done = { err or vim.NIL, result or vim.NIL } end)
"""


def program(path, script="exit 0"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def bare(start_nvim, world):
    """An nvim with nothing but `/bin` things of ours on its PATH, and no `g:python3_host_prog`."""
    (world.root / "bin").mkdir()
    for name in ("rm", "sh"):
        (world.root / "bin" / name).symlink_to(f"/bin/{name}")
    nvim = start_nvim("--cmd", f"let $PATH = '{world.root}/bin'", "--cmd", "unlet g:python3_host_prog")
    nvim.bin = world.root / "bin"
    return nvim


def venv(world):
    return world.data / "nvim" / "covey" / "venv"


def test_the_first_of_the_candidates_is_taken(bare, world):
    assert bare.lua(PYTHON)[1]["message"] == "no Python found"
    python3 = program(bare.bin / "python3")
    assert bare.lua(PYTHON)[0] == str(python3)
    wrapper = program(bare.bin / "pynvim-python")
    assert bare.lua(PYTHON)[0] == str(wrapper)
    tool = program(world.root / "tool" / "pynvim-python")
    beside = program(world.root / "tool" / "python")
    wrapper.unlink()
    wrapper.symlink_to(tool)
    assert bare.lua(PYTHON)[0] == str(beside)
    host = program(world.root / "host python")
    bare.cmd(f"let g:python3_host_prog = '{host}'")
    assert bare.lua(PYTHON)[0] == str(host)
    own = program(venv(world) / "bin" / "python")
    assert bare.lua(PYTHON)[0] == str(own)
    bare.lua("require('covey').setup({ python = ... })", str(python3))
    assert bare.lua(PYTHON)[0] == str(python3)


def test_Y02_an_active_environment_changes_nothing(start_nvim, world):
    other = program(world.root / "other" / "bin" / "python3", "echo wrong >&2; exit 1")
    nvim = start_nvim(env={"VIRTUAL_ENV": str(other.parents[1]), "PATH": f"{other.parent}:{os.environ['PATH']}"})
    assert nvim.lua(PYTHON)[0] == sys.executable


def test_a_python_that_was_named_and_is_none_is_told(bare):
    program(bare.bin / "python3")
    bare.cmd("let g:python3_host_prog = '/gone/python'")
    assert bare.lua(PYTHON)[1]["message"] == 'g:python3_host_prog is "/gone/python", which is no program'


def test_Y05_an_environment_whose_python_went_away_is_one_sentence(bare, world):
    (venv(world) / "bin").mkdir(parents=True)
    (venv(world) / "bin" / "python").symlink_to("/gone/python3.9")
    error = bare.lua(PYTHON)[1]
    assert error["message"] == f"covey's own Python in {venv(world)} is broken"
    assert error["hint"] == "run :Covey install to build it anew"


def test_install_with_uv(bare, world):
    log = world.root / "uv.log"
    program(
        bare.bin / "uv",
        f"""printf '%s\\n' "$*" >> {log}
case $1 in venv) /bin/mkdir -p "{venv(world)}/bin"; printf '#!/bin/sh\\n' > "{venv(world)}/bin/python"
/bin/chmod +x "{venv(world)}/bin/python";; esac""",
    )
    (venv(world) / "stale").mkdir(parents=True)
    bare.lua(INSTALL)
    error, result = bare.wait("_G.done")
    assert (error, result) == (None, {"python": f"{venv(world)}/bin/python"})
    made, packages = log.read_text().splitlines()
    assert made == f"venv --python >=3.11 {venv(world)}"
    assert packages.startswith(f"pip install --python {venv(world)}/bin/python pynvim>=")
    assert all(name in packages for name in ("libtmux>=", "psutil>=", "platformdirs>="))
    assert "pytest" not in packages
    assert not (venv(world) / "stale").exists()
    assert bare.lua("return _G.shown[2]") == ["covey: 2/3 making the environment with uv", False]
    assert bare.lua(PYTHON)[0] == result["python"]


AGENTS = [
    ([], "covey: ready. No agent is installed yet; :Covey open standin shows how it works without one"),
    (["codex", "pi"], "covey: ready. Installed here: codex, pi. Go on with :Covey open codex"),
]


@pytest.mark.parametrize(("installed", "word"), AGENTS, ids=["none", "some"])
def test_the_last_word_is_what_to_do_next(bare, world, installed, word):
    program(bare.bin / "uv")
    bare.lua(INSTALL, [{"name": name, "installed": name in ("shell", *installed)} for name in ("codex", "pi", "shell")])
    assert bare.wait("_G.done")[0] is None
    bare.wait("#_G.said > 0")
    assert bare.lua("return _G.said") == [word]


def test_install_without_uv_uses_venv_and_pip(bare, world):
    log = world.root / "py.log"
    script = f"""printf '%s\\n' "$*" >> {log}
case "$1 $2" in "-m venv") /bin/mkdir -p "$3/bin"; /bin/cp "$0" "$3/bin/python";; esac"""
    program(bare.bin / "python3.14", "echo 'pyenv: python3.14: command not found' >&2; exit 127")
    program(bare.bin / "python3.13", "exec /nowhere/python")
    program(bare.bin / "python3.12", script)
    program(bare.bin / "python3", "exit 1")
    bare.lua(INSTALL)
    assert bare.wait("_G.done")[0] is None
    _, made, packages = log.read_text().splitlines()
    assert made == f"-m venv {venv(world)}"
    assert packages.startswith("-m pip install --disable-pip-version-check pynvim>=")
    assert "--break-system-packages" not in packages


FAILURES = [
    (
        'case "$1 $2" in "-m venv") echo "ensurepip is not available" ; exit 1;; esac',
        "this Python cannot make environments: its module ensurepip is missing",
        "python3-venv",
    ),
    (
        'case "$1" in "-c") exit 1;; esac',
        "none of these runs, is 3.11 or newer and can make environments: {bin}/python3",
        "install uv",
    ),
    (
        'case "$1 $2" in "-m venv") echo "disk full" >&2 ; exit 7;; esac',
        "making the environment with {bin}/python3 failed with code 7",
        "disk full",
    ),
]


@pytest.mark.parametrize(("script", "message", "hint"), FAILURES)
def test_L02_an_installation_that_fails_says_what_to_do(bare, script, message, hint):
    program(bare.bin / "python3", script)
    bare.lua(INSTALL)
    error, _ = bare.wait("_G.done")
    assert error["message"] == message.format(bin=bare.bin)
    assert hint in error["hint"]


def test_L02_an_installation_with_nothing_to_go_by(bare):
    bare.lua(INSTALL)
    error, _ = bare.wait("_G.done")
    assert error["message"] == "there is neither uv nor a python3"


def test_one_installation_at_a_time_and_the_editor_goes_on(bare, world):
    gate = world.root / "gate"
    os.mkfifo(gate)
    program(bare.bin / "python3", f'case "$1" in "-c") read line < {gate};; esac; exit 1')
    bare.lua(INSTALL)
    bare.keys("ihello<Esc>")
    bare.wait("vim.api.nvim_get_current_line() == 'hello'")
    bare.lua("require('covey').install({}, function(err) _G.second = err end)")
    assert bare.wait("_G.second")["code"] == "refused"
    assert bare.lua(PYTHON)[1]["message"] == "covey's own Python is being installed"
    bare.lua("package.loaded['covey.rpc'] = nil")
    bare.cmd("checkhealth covey")
    report = bare.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
    assert "covey's own Python is being installed" in "\n".join(report)
    bare.cmd("bwipeout! | Covey open standin")
    bare.wait("#_G.said > 0")
    assert bare.lua("return _G.said") == [
        "covey: covey's own Python is being installed; wait until it says that it is ready"
    ]
    gate.write_text("go\n")
    assert bare.wait("_G.done")[0] is not None
