"""The wire from the editor's side: a host that dies, that does not start, that leaves events out."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

import fake_core
from waiting import eventually

ASK = """
    local key, method, params = ...
    _G.answers = _G.answers or {}
    require('covey.rpc').call(method, params or {}, function(err, result)
      _G.answers[key] = { err or vim.NIL, result == nil and vim.NIL or result }
    end)
"""
LISTEN = """
    _G.notices = {}
    vim.notify = function(message) table.insert(_G.notices, message) end
"""


class Asking:
    """An nvim that calls its helper by hand."""

    def __init__(self, nvim):
        self.nvim = nvim
        self.count = 0
        nvim.lua(LISTEN)

    def begin(self, method, params=None):
        """Send a call; the key of its answer."""
        self.count += 1
        self.nvim.lua(ASK, f"k{self.count}", method, params or {})
        return f"k{self.count}"

    def answer(self, key):
        return self.nvim.wait(f"_G.answers.{key}")

    def ask(self, method, params=None):
        """The answer to one call, as [err, result]."""
        return self.answer(self.begin(method, params))

    def notices(self):
        self.nvim.lua("vim.wait(20)")
        return self.nvim.lua("local said = _G.notices; _G.notices = {}; return said")

    def pid(self):
        return self.ask("where")[1]["pid"]


@pytest.fixture
def editor(start_nvim, world):
    python = fake_core.install(world)
    return Asking(start_nvim("--cmd", f"let g:covey = {{'python': '{python}'}}"))


def with_python(start_nvim, path, **more):
    return Asking(start_nvim("--cmd", f"let g:covey = {{'python': '{path}'}}", **more))


def test_the_host_starts_with_the_first_call_and_not_before(editor):
    assert psutil.Process(editor.nvim.pid).children() == []
    assert editor.ask("list") == [None, []]
    assert len(psutil.Process(editor.nvim.pid).children()) == 1
    assert editor.nvim.lua("return require('covey').list()") == []


def test_a_host_that_dies_is_one_notice_and_every_call_is_answered(editor):
    pid = editor.pid()
    sending, listing = editor.begin("send", {"text": "x"}), editor.begin("hang")
    editor.nvim.lua("require('covey.rpc').call('hang')")
    editor.begin("die")
    error = editor.answer(sending)[0]
    assert error["code"] == "host_lost"
    assert error["message"].startswith("the covey helper was ended by signal 9; sessions are untouched")
    assert error["message"].endswith('"send" was under way: whether it was done is not known')
    assert editor.answer(listing)[0]["code"] == "host_lost"
    assert len(editor.notices()) == 1
    assert editor.nvim.lua("return { require('covey').list() }") in ([None, "not connected"], {})
    assert editor.pid() != pid


def test_reading_leaves_no_question_open(editor, world):
    process = psutil.Process(editor.pid())
    process.suspend()
    key = editor.begin("list")
    process.kill()
    assert editor.answer(key)[0]["message"].endswith('"list" was under way: nothing was changed')


def test_restarts_wait_longer_and_end_after_three_deaths(editor):
    assert editor.ask("list") == [None, []]
    editor.ask("die")
    assert editor.ask("echo", {"a": 1}) == [None, {"a": 1}]
    editor.ask("die")
    keys = [editor.begin("echo", {"n": number}) for number in range(3)]
    assert [editor.answer(key)[1] for key in keys] == [{"n": 0}, {"n": 1}, {"n": 2}]
    editor.ask("die")
    assert len(editor.notices()) == 3
    error = editor.ask("list")[0]
    assert error["message"].startswith("the covey helper failed 3 times within a minute: the covey helper was ended")
    editor.nvim.lua("require('covey').list(); require('covey').warm()")
    assert editor.notices() == []
    editor.nvim.lua("require('covey.rpc').reset()")
    assert editor.ask("list") == [None, []]


def test_Y08_a_host_that_does_not_start_leaves_its_last_words(start_nvim, world):
    broken = fake_core.interpreter(world, "seq 1 50 >&2; echo 'SyntaxError: odd' >&2; exit 1")
    editor = with_python(start_nvim, broken)
    error = editor.ask("list")[0]
    assert error["message"] == "the covey helper ended with code 1 before it was ready"
    assert error["hint"].splitlines() == [
        *("46", "47", "48", "49", "50", "SyntaxError: odd"),
        f"log: {world.state}/nvim/covey-host.log",
    ]
    assert len(editor.notices()) == 1


def test_a_python_without_pynvim_is_one_sentence(start_nvim, world):
    bare = fake_core.interpreter(world, f'exec "{Path(sys.base_prefix, "bin/python3")}" -S "$@"')
    editor = with_python(start_nvim, bare)
    error = editor.ask("list")[0]
    base = os.path.realpath(Path(sys.base_prefix, "bin/python3"))
    assert error["message"].startswith("the Python package pynvim is missing from ")
    assert os.path.realpath(error["message"].split()[-1]) == base
    assert error["hint"].startswith("run :Covey install")
    assert len(editor.notices()) == 1
    assert "Traceback" not in editor.nvim.messages()


def test_a_python_that_is_too_old_is_one_sentence(start_nvim, world):
    old = fake_core.interpreter(world, "echo 'unknown option -P' >&2; echo 'usage: python [option]' >&2; exit 2")
    editor = with_python(start_nvim, old)
    assert editor.ask("list")[0]["message"] == f"{old} is too old: covey needs Python 3.11 or newer"


def test_a_program_that_is_none_is_named(start_nvim, world):
    editor = with_python(start_nvim, "/no/such/python")
    error = editor.ask("list")[0]
    assert error["message"] == 'the option `python` is "/no/such/python", which is no program'


def test_Y06_much_on_stderr_from_a_failing_host(start_nvim, world):
    loud = fake_core.interpreter(world, "head -c 5000000 /dev/zero | tr '\\0' 'x' >&2; exit 1")
    editor = with_python(start_nvim, loud)
    error = editor.ask("list")[0]
    assert error["code"] == "host_lost"
    assert len(error["hint"]) < 4000
    assert "E5560" not in editor.nvim.messages()


def test_Y06_verbs_may_be_called_where_the_editor_may_not(editor):
    """In a callback of libuv."""
    editor.nvim.lua("""
        vim.uv.new_timer():start(0, 0, function()
          local covey = require('covey')
          local function done(err) _G.fast = err and err.message or 'no error' end
          covey.open({ name = 'x' }, function() covey.kill('x', done) end)
        end)
    """)
    assert editor.nvim.wait("_G.fast") == "a bug in kill: AttributeError: 'Front' object has no attribute 'do_kill'"
    assert "E5560" not in editor.nvim.messages()


def test_X04_the_goodbye_survives_the_autocommands_of_others(editor, world):
    editor.ask("list")
    editor.nvim.cmd("autocmd! VimLeavePre")
    editor.nvim.lua("local wait = vim.wait; vim.wait = function(...) vim.fn.writefile({}, 'waited'); wait(...) end")
    editor.nvim.quit("qall")
    assert (world.home / "waited").exists()
    eventually(lambda: fake_core.trace(world)[-1] == "closed")
    assert fake_core.trace(world).count("bye") == 1


def test_X04_a_module_that_is_loaded_again_still_says_goodbye(editor, world):
    editor.ask("list")
    editor.nvim.lua("for m in pairs(package.loaded) do if m:find('^covey') then package.loaded[m] = nil end end")
    editor.ask("list")
    editor.nvim.quit("qall")
    eventually(lambda: fake_core.trace(world).count("closed") == 2)


def test_nothing_calls_back_once_the_editor_leaves(editor, world):
    editor.ask("list")
    editor.nvim.lua("""
        local path = vim.env.HOME .. '/late'
        require('covey.rpc').call('hang', {}, function() vim.fn.writefile({ 'late' }, path) end)
        vim.api.nvim_create_autocmd('VimLeave', { callback = function()
          require('covey.rpc').call('list', {}, function() vim.fn.writefile({ 'late' }, path) end)
          vim.wait(300)
        end })
    """)
    editor.nvim.quit("qall")
    assert not (world.home / "late").exists()


def test_an_editor_that_never_asked_leaves_at_once_and_starts_nothing(start_nvim, world):
    nvim = start_nvim()
    nvim.cmd("autocmd VimLeavePre * lua require('covey').list({}, function() end)")
    assert nvim.quit("qall") == 0
    assert fake_core.trace(world) == []


def test_a_gap_in_the_events_asks_for_everything_once(editor, world):
    editor.ask("list")
    session = {"id": "bbbbbbbb", "name": "new", "state": "idle", "agent": "shell"}
    for _ in range(2):
        editor.ask("emit", {"event": "Changed", "data": session, "skip": 1})
    editor.nvim.wait("require('covey').names()[1] == 'found again'")
    editor.ask("emit", {"event": "Changed", "data": session})
    assert fake_core.trace(world).count("snapshot") in (1, 2)
    count = fake_core.trace(world).count("snapshot")
    editor.ask("emit", {"event": "Changed", "data": session})
    assert fake_core.trace(world).count("snapshot") == count


def test_frames_go_to_the_preview_and_notices_to_the_person(editor):
    editor.nvim.lua("package.loaded['covey.ui.preview'] = { frame = function(event) _G.frame = event end }")
    editor.ask("emit", {"event": "Frame", "data": {"view": "v", "ansi": "x"}})
    assert editor.nvim.wait("_G.frame")["data"] == {"view": "v", "ansi": "x"}
    editor.ask("emit", {"event": "Notice", "data": {"level": "info", "message": "by the way"}})
    editor.ask("emit", {"event": "Notice", "data": {"level": "warn", "message": "beware"}})
    assert editor.notices() == ["covey: beware"]


def test_an_error_in_a_callback_is_told_and_stops_nothing(editor):
    editor.nvim.lua("require('covey.rpc').call('list', {}, function() error('mine') end)")
    editor.nvim.wait("#_G.notices > 0")
    (notice,) = editor.notices()
    assert notice.startswith("covey: error in the callback of list:")
    assert editor.ask("list") == [None, []]


def test_Y07_typing_goes_on_while_the_helper_is_stuck(editor):
    editor.ask("list")
    process = psutil.Process(editor.pid())
    process.send_signal(signal.SIGSTOP)
    try:
        editor.nvim.lua("for _ = 1, 50 do require('covey').send({ name = 'x', text = ('y'):rep(10000) }) end")
        editor.nvim.keys("ihello<Esc>")
        editor.nvim.wait("vim.api.nvim_get_current_line() == 'hello'")
        assert editor.nvim.lua("return { require('covey').names(), require('covey').statusline() }") == [[], ""]
    finally:
        process.send_signal(signal.SIGCONT)
