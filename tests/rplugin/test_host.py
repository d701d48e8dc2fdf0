"""The host process, from the editor's side of its pipes: a real nvim, the real adapter, a core that knows nothing."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path

import psutil
import pytest

import fake_core
from waiting import eventually
from world import ROOT

CALL = """
    local method, params = ...
    _G.answer = nil
    require('covey.rpc').call(method, params or {}, function(err, result)
      _G.answer = { err = err or vim.NIL, result = result == nil and vim.NIL or result }
    end)
"""


def ask(nvim, method, params=None):
    """The answer to one call as (err, result)."""
    nvim.lua(CALL, method, params or {})
    answer = nvim.wait("_G.answer")
    return answer["err"], answer["result"]


@pytest.fixture
def python(world):
    return fake_core.install(world)


@pytest.fixture
def editor(start_nvim, python):
    """An nvim whose covey uses the fake core."""
    return start_nvim("--cmd", f"let g:covey = {{'python': '{python}'}}")


def host_pid(nvim):
    return ask(nvim, "where")[1]["pid"]


def test_a_call_comes_back(editor):
    assert ask(editor, "echo", {"text": "grüße\n\t\0 ❯", "none": None}) == (None, {"text": "grüße\n\t\0 ❯"})


def test_calls_are_answered_whatever_happens_in_them(editor, world):
    assert ask(editor, "mistake")[0] == {
        "code": "refused",
        "message": "that will not do",
        "hint": "do it otherwise",
    }
    bug = ask(editor, "bug")[0]
    log = world.state / "nvim" / "covey-host.log"
    assert (bug["code"], bug["message"]) == ("bug", "a bug in bug: ValueError: a bug of ours")
    assert bug["hint"] == f"log: {log}"
    eventually(lambda: "ValueError: a bug of ours" in log.read_text())
    assert ask(editor, "unpackable")[0]["code"] == "bug"
    assert ask(editor, "echo", {"still": "there"}) == (None, {"still": "there"})


def test_Y03_nothing_printed_reaches_the_protocol(editor, world):
    assert ask(editor, "print") == (None, "printed")
    assert ask(editor, "echo", {"a": 1}) == (None, {"a": 1})
    log = (world.state / "nvim" / "covey-host.log").read_text()
    assert "a stray print at import" in log
    assert "and one past Python\nand one by a child\n" in log
    assert "E5560" not in editor.messages()


def test_Y03_a_loud_python(start_nvim, python, world):
    loud = world.home / "startup.py"
    loud.write_text("print('loud')")
    nvim = start_nvim(
        *("--cmd", f"let g:covey = {{'python': '{python}'}}"),
        env={"PYTHONWARNINGS": "always", "PYTHONSTARTUP": str(loud), "PYTHONVERBOSE": "1", "PYTHONPATH": "/nowhere"},
    )
    error, where = ask(nvim, "where")
    assert error is None
    assert not [name for name in where["env"] if name.startswith("PYTHON") and name != "PYTHONPATH"]


def test_Y04_the_working_directory_shadows_nothing(start_nvim, python, world):
    for name in ("json.py", "select.py", "queue.py", "pynvim.py", "asyncio.py"):
        (world.home / name).write_text("raise RuntimeError('shadowed')")
    nvim = start_nvim("--cmd", f"let g:covey = {{'python': '{python}'}}")
    error, where = ask(nvim, "where")
    assert error is None
    assert not {"", str(world.home)} & set(where["path"])
    assert str(ROOT / "rplugin" / "python3" / "covey_rplugin") not in where["path"]


def test_the_core_is_found_beside_the_adapter_where_it_is_not_installed(start_nvim, world):
    """From a checkout behind a symlink, with an interpreter that has pynvim and no covey."""
    site = world.root / "site"
    site.mkdir()
    for package in ("pynvim", "msgpack", "greenlet", "typing_extensions.py"):
        found = Path(sys.modules["pynvim"].__file__).parents[1] / package
        if found.exists():
            (site / package).symlink_to(found)
    fake_core.install(world)
    checkout, link = world.root / "checkout", world.root / "link"
    for part in ("lua", "plugin", "rplugin"):
        shutil.copytree(ROOT / part, checkout / part)
    shutil.copytree(world.root / "fake", checkout / "helper")
    link.symlink_to(checkout)
    bare = fake_core.interpreter(world, f'PYTHONPATH="{site}" exec "{Path(sys.base_prefix, "bin/python3")}" -S "$@"')
    nvim = start_nvim(
        *("--cmd", f"let &runtimepath = '{link},' .. &runtimepath"), *("--cmd", f"let g:covey = {{'python': '{bare}'}}")
    )
    error, where = ask(nvim, "where")
    assert error is None
    assert str(checkout / "helper") in where["path"]


@pytest.mark.parametrize("command", ["qall!", "wqall", "normal! ZZ", "cquit 3"])
def test_the_editor_says_goodbye_and_the_host_sweeps_after_it(editor, world, command):
    ask(editor, "slow_bye", {"seconds": 0.3})
    pid = host_pid(editor)
    editor.quit(command)
    eventually(lambda: not psutil.pid_exists(pid))
    assert fake_core.trace(world)[-3:] == ["bye", "swept", "closed"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_the_host_sweeps_however_the_editor_ended(editor, world, number):
    ask(editor, "slow_bye", {"seconds": 0.3})
    pid = host_pid(editor)
    editor.process.send_signal(number)
    editor.gone()
    eventually(lambda: not psutil.pid_exists(pid))
    assert fake_core.trace(world)[-3:] == ["bye", "swept", "closed"]


def test_a_call_sent_before_python_is_up_is_done_before_the_goodbye(editor, world):
    editor.lua("require('covey.rpc').call('emit', {event = 'Notice', data = {message = 'x'}})")
    editor.quit()
    eventually(lambda: "closed" in fake_core.trace(world))
    assert fake_core.trace(world) == [f"hello {editor.pid}", "ready", "bye", "swept", "closed"]


def test_a_host_that_is_told_to_end_sweeps_nothing_of_a_living_editor(editor, world):
    pid = host_pid(editor)
    psutil.Process(pid).terminate()
    eventually(lambda: not psutil.pid_exists(pid))
    assert "bye" not in fake_core.trace(world)
    assert ask(editor, "echo", {"again": True}) == (None, {"again": True})


HEARD = """
    local wait, path = vim.wait, vim.env.HOME .. '/heard'
    vim.wait = function(...)
      local heard = wait(...)
      vim.fn.writefile({ tostring(heard) }, path)
      return heard
    end
"""


def test_X01_a_busy_core_does_not_hold_the_editor(editor, world):
    """The core's thread is stuck; the adapter accepts the goodbye all the same."""
    pid = host_pid(editor)
    editor.lua("require('covey.rpc').call('busy', {seconds = 3})")
    editor.lua(HEARD)
    editor.quit()
    assert (world.home / "heard").read_text() == "true\n"
    eventually(lambda: not psutil.pid_exists(pid))


def test_X01_a_stopped_host_holds_the_editor_for_its_deadline_only(editor, world):
    process = psutil.Process(host_pid(editor))
    process.suspend()
    editor.lua(HEARD)
    try:
        editor.quit()
        assert (world.home / "heard").read_text() == "false\n"
    finally:
        process.resume()
    eventually(lambda: "closed" in fake_core.trace(world))


def test_the_watchdog_ends_a_sweep_that_hangs(editor, world, monkeypatch):
    pid = host_pid(editor)
    ask(editor, "slow_bye", {"seconds": 3600})
    editor.quit()
    eventually(lambda: not psutil.pid_exists(pid))
    assert fake_core.trace(world)[-1] == "bye"


def test_Y08_a_core_that_cannot_be_imported(start_nvim, world):
    python = fake_core.install(world, api="def broken(:\n")
    nvim = start_nvim("--cmd", f"let g:covey = {{'python': '{python}'}}")
    error, _ = ask(nvim, "list")
    assert error["code"] == "bug"
    assert "SyntaxError" in error["message"]
    assert error["hint"] == f"log: {world.state / 'nvim' / 'covey-host.log'}"


def test_a_missing_package_of_the_core_is_one_sentence(start_nvim, world):
    python = fake_core.install(world, api="import no_such_package\n")
    nvim = start_nvim("--cmd", f"let g:covey = {{'python': '{python}'}}")
    error, _ = ask(nvim, "list")
    assert error["message"] == f"the Python package no_such_package is missing from {sys.executable}"
    assert error["hint"] == "run :Covey install"
    eventually(lambda: "no_such_package" in nvim.messages())
    assert "Traceback" not in nvim.messages()
    assert nvim.messages().count("no_such_package") == 1
    eventually(lambda: not world.hosts())


def test_an_error_at_hello_answers_every_call_and_lets_the_host_go(editor, world):
    fake_core.refuse(world)
    error, _ = ask(editor, "list")
    assert (error["message"], error["hint"]) == ("tmux is missing", "do it otherwise")
    eventually(lambda: not world.hosts())


def test_after_UpdateRemotePlugins_nothing_is_registered_and_all_works(start_nvim, python, world):
    manifest = world.root / "rplugin.vim"
    setting = ("--cmd", f"let g:covey = {{'python': '{python}'}}")
    first = start_nvim(*setting)
    first.cmd(f"let g:loaded_remote_plugins = '{manifest}'")
    first.cmd("UpdateRemotePlugins")
    first.quit()
    assert "covey" not in manifest.read_text()
    second = start_nvim(*setting, "-S", str(manifest))
    assert ask(second, "echo", {"a": 1}) == (None, {"a": 1})
