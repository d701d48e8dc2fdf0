"""X*: leaving the editor, every way there is: it goes at once, what is over is reaped, what lives lives on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest

from desk import Desk
from editor import executable
from waiting import eventually
from world import ROOT, is_tmux_server, tmux, words

OPEN = """
local done, failed = 0, nil
local specs = ...
for _, spec in ipairs(specs) do
  require('covey').open(spec, function(err) done = done + 1; failed = failed or err end)
end
vim.wait(20000, function() return done == #specs end, 10)
return failed or vim.NIL
"""
FLEET = [
    {"name": "lives", "agent": "standin"},
    {"name": "over", "cmd": ["true"]},
    {"name": "kept", "cmd": ["true"]},
    {"name": "reaped", "cmd": ["sleep", "1000"], "on_exit": "reap"},
    {"name": "stays", "cmd": ["sleep", "1000"], "on_exit": "keep"},
]


def covey(world, *words):
    argv = [sys.executable, "-m", "covey.cli", *words]
    return subprocess.run(argv, env=world.env, capture_output=True, text=True, check=False)


def sessions(world):
    return {each["name"]: each for each in json.loads(covey(world, "list", "--json").stdout)}


def watched(world):
    """The tmux sessions that have a client, over all servers of the test."""
    clients = (tmux(each, "list-clients", "-F", "#{session_name}") for each in world.sockets())
    return [name for rows in clients for name in rows.split()]


@pytest.fixture
def editor(start_nvim):
    nvim = start_nvim()
    assert nvim.lua(OPEN, FLEET) is None
    nvim.wait("require('covey').get('over').state == 'exited' and require('covey').get('kept').state == 'exited'")
    nvim.lua("require('covey').keep({name='kept', on=true}, function() vim.g.kept = 1 end)")
    nvim.wait("vim.g.kept")
    return nvim


def assert_swept(world):
    eventually(lambda: not world.hosts(), message="the host has ended")
    left = sessions(world)
    assert set(left) == {"lives", "kept", "stays"}
    assert left["lives"]["owner"] is None
    assert left["stays"]["owner"] is None
    assert left["kept"]["keep"]


@pytest.mark.parametrize("command", ["qa", "qall!", "wqa", "q", "x", "cq", "normal! ZZ", "normal! ZQ"])
def test_R06_leaving_by_command(editor, world, command):
    editor.quit(command)
    assert_swept(world)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda n: n.name)
def test_R06_R07_leaving_by_signal(editor, world, number):
    os.kill(editor.pid, number)
    editor.gone()
    assert_swept(world)


def test_after_editor_and_host_were_killed_the_next_covey_sweeps(editor, world, start_nvim):
    for host in world.hosts():
        host.kill()
    os.kill(editor.pid, signal.SIGKILL)
    editor.gone()
    assert set(sessions(world)) == {"lives", "over", "kept", "reaped", "stays"}
    other = start_nvim()
    other.lua("require('covey').warm()")
    other.wait("#(require('covey').list() or {}) == 3")
    assert set(sessions(world)) == {"lives", "kept", "stays"}


def test_another_editors_sessions_are_left_alone(editor, world, start_nvim):
    other = start_nvim()
    assert other.lua(OPEN, [{"name": "theirs", "cmd": ["true"]}]) is None
    other.wait("require('covey').get('theirs').state == 'exited'")
    editor.quit("qa")
    eventually(lambda: len(world.hosts()) == 1)
    assert "theirs" in sessions(world)


def test_what_another_editor_shows_is_spared(editor, world, start_nvim):
    other = start_nvim()
    other.lua("require('covey').preview({name='over'})")
    other.wait("#vim.api.nvim_list_wins() > 1")
    eventually(lambda: any(name != "hub" for name in watched(world)), message="the preview's own client")
    editor.quit("qa")
    eventually(lambda: len(world.hosts()) == 1)
    left = sessions(world)
    assert set(left) == {"lives", "over", "kept", "stays"}
    assert left["over"]["owner"] is None


def test_X01_a_stopped_tmux_server_does_not_hold_the_editor(editor, world):
    servers = [one for one in world.processes() if is_tmux_server(one)]
    for server in servers:
        server.suspend()
    try:
        editor.quit("qa")
        assert world.hosts(), "the editor left before its host gave up"
        eventually(lambda: not world.hosts(), message="the host's watchdog ends it")
    finally:
        for server in servers:
            server.resume()
    assert {"lives", "stays", "kept"} <= set(sessions(world))


def test_X01_a_stopped_host_does_not_hold_the_editor(editor, world):
    (host,) = world.hosts()
    host.suspend()
    try:
        editor.quit("qa")
    finally:
        host.resume()
    assert_swept(world)


def test_R07_a_killed_editor_with_a_preview_leaves_no_helper(editor, world):
    editor.lua("require('covey').preview({name='lives'})")
    editor.wait("#vim.api.nvim_list_wins() > 1")
    os.kill(editor.pid, signal.SIGKILL)
    editor.gone()
    assert_swept(world)
    assert world.running("attach-session") == []


def test_leaving_fifty_live_sessions_behind_to_be_reaped(start_nvim, world):
    nvim = start_nvim()
    many = [{"name": f"s{number}", "cmd": ["sleep", "1000"], "on_exit": "reap"} for number in range(50)]
    deaf = {"name": "deaf", "cmd": ["sh", "-c", 'trap "" TERM HUP; sleep 1000 & wait'], "on_exit": "reap"}
    assert nvim.lua(OPEN.replace("20000", "90000"), [*many[1:], deaf]) is None
    nvim.quit("qa")
    eventually(lambda: not world.hosts(), message="the host has ended")
    assert sessions(world) == {}
    assert [one for one in world.processes() if "1000" in words(one)] == []


@pytest.mark.parametrize("seconds", [0, 3])  # it waits for half of three
def test_an_editor_that_leaves_before_its_helper_is_up_has_its_policy_all_the_same(world, seconds):
    slow = world.tmp / "python"
    slow.write_text(f'#!/bin/sh\nsleep {seconds}\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o700)
    setup = [f"let g:python3_host_prog = '{slow}'", f"let &runtimepath = '{ROOT},' .. &runtimepath"]
    argv = [executable(world), "--headless", "--clean", "-n", "--cmd", " | ".join(setup)]
    argv += ["-c", "Covey open one standin on_exit=reap", "-c", "Covey open two standin on_exit=keep", "-c", "qa"]
    subprocess.run(argv, env=world.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=True)
    eventually(lambda: sessions(world).keys() == {"two"}, message="one was reaped")
    assert "by the sweep after editor" in covey(world, "log", "one").stdout


async def test_what_was_asked_for_by_an_editor_that_is_gone_already_is_done(world):
    desk = await Desk(world).start()
    await desk.standin("one")
    await desk.standin("two")
    asked = [
        asyncio.create_task(desk("send", name="one", text="last words")),
        asyncio.create_task(desk("kill", name="two")),
        asyncio.create_task(desk("keep", name="one")),
    ]
    await asyncio.sleep(0)
    await desk.front.bye({})
    await desk.close()
    await asyncio.gather(*asked)
    other = await Desk(world).start()
    try:
        assert other.prompts("one") == ["last words"]
        assert [(each["name"], each["keep"]) for each in await other("list")] == [("one", True)]
    finally:
        await other.close()
