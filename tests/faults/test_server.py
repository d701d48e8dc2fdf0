"""S*, C*: the tmux server: absent, lost, stopped, and whatever a person's own tmux is like."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time

import psutil
import pytest

from covey import paths
from covey.errors import CoveyError, Refused, ServerLost, Unavailable
from desk import Desk
from world import kill, words

HOSTILE = """
set -g base-index 1
setw -g pane-base-index 1
set -g default-command "exit 0"
set -g remain-on-exit off
set -g exit-unattached on
set -g focus-events on
set -g automatic-rename on
set -g allow-rename on
set -s extended-keys always
set-hook -g session-created "rename-session mine"
set-hook -g after-new-session "kill-session"
new-session -d -s user
"""


def server_pid(desk):
    return int(desk.tmux("display-message", "-p", "#{pid}"))


async def test_S01_no_server_is_an_empty_list(desk):
    assert await desk("list") == []
    assert not desk.socket.exists()


async def test_S01_a_stale_socket_is_an_empty_list_and_open_works(desk):
    await desk("open", name="one", agent="shell")
    os.kill(server_pid(desk), signal.SIGKILL)
    await desk.state("one", "lost")
    assert desk.socket.exists()
    await desk("kill", name="one")
    assert await desk("list") == []
    assert (await desk("open", name="two", agent="shell"))["state"] != "lost"


async def test_S01_a_server_that_somebody_else_starts_is_soon_found(desk, monkeypatch):
    monkeypatch.setattr("covey.helper.SAFETY_PAUSE", 3600.0)
    assert await desk("list") == []
    argv = [sys.executable, "-m", "covey.cli", "open", "one", "--", "cat"]
    await asyncio.to_thread(subprocess.run, argv, env=desk.world.env, check=True)
    await desk.until(lambda: desk.front.helper.fleet.views)


async def test_S02_a_killed_server_leaves_lost_sessions_that_are_offered_again(desk):
    one = await desk.standin("one")
    desk.events.clear()
    os.kill(server_pid(desk), signal.SIGKILL)
    await desk.until(lambda: [e for e in desk.events if e["event"] == "Lost"], message="one notice of the loss")
    assert [each["name"] for each in await desk("restore")] == ["one"]
    (again,) = await desk("restore", yes=True)
    assert (again["id"], again["name"], again["epoch"]) == (one["id"], "one", 2)
    await desk.state("one", "idle")
    assert (await desk("send", name="one", text="back"))["outcome"] == "submitted"


async def test_S03_a_start_right_after_an_end_works(desk):
    for round_ in range(8):
        await desk("open", name=f"s{round_}", cmd=["cat"])
        await desk("kill", name=f"s{round_}")


async def test_S04_a_long_runtime_directory_gets_a_short_socket(world, monkeypatch):
    deep = world.root / ("d" * 60) / ("ü" * 40)
    deep.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    desk = await Desk(world).start()
    try:
        assert len(os.fsencode(desk.socket)) <= paths.SOCKET_MAX
        await desk("open", name="one", agent="shell")
        await desk("kill", name="one")
    finally:
        await desk.close()
        subprocess.run(["rm", "-rf", str(desk.socket.parent)], check=True)


async def test_S05_a_runtime_directory_that_is_open_to_others_is_refused(world, monkeypatch):
    (world.run / "covey").symlink_to(world.tmp)
    with pytest.raises(CoveyError) as refusal:
        await Desk(world).start()
    assert isinstance(refusal.value, Unavailable)


async def test_S06_neither_TMUX_nor_TMUX_TMPDIR_is_followed(world, monkeypatch, terminal):
    terminal.start(["cat"])
    monkeypatch.setenv("TMUX", f"{terminal.socket},1,0")
    monkeypatch.setenv("TMUX_TMPDIR", "/nonexistent")
    desk = await Desk(world).start()
    try:
        await desk("open", name="one", agent="shell")
        assert "covey" not in terminal.tmux("list-sessions")
        await desk("kill", name="one")
    finally:
        await desk.close()


@pytest.mark.parametrize("kind", ["missing", "file"])
async def test_S09_a_directory_that_is_none_is_refused_before_anything_runs(desk, kind):
    path = desk.world.home / kind
    if kind == "file":
        path.write_text("")
    with pytest.raises(Refused, match="not a directory"):
        await desk("open", name="one", agent="shell", cwd=str(path))
    assert not desk.socket.exists()


async def test_S09_K04_a_respawn_into_a_removed_directory_is_refused(desk):
    path = desk.world.home / "gone"
    path.mkdir()
    await desk("open", name="one", cmd=["true"], cwd=str(path))
    await desk.state("one", "exited")
    path.rmdir()
    with pytest.raises(Refused, match="does not exist"):
        await desk("respawn", name="one")


async def test_S08_the_server_itself_lives_in_the_root_directory(desk):
    await desk("open", name="one", agent="shell", cwd=str(desk.world.home))
    assert psutil.Process(server_pid(desk)).cwd() == "/"


async def test_C01_C05_C10_a_persons_tmux_conf_is_neither_read_nor_touched(world):
    conf = world.home / ".tmux.conf"
    conf.write_text(HOSTILE)
    desk = await Desk(world).start()
    try:
        await desk.standin("one")
        assert (await desk("send", name="one", text="works"))["outcome"] == "submitted"
        assert [each["name"] for each in await desk("list")] == ["one"]
        await desk("open", name="dead", cmd=["sh", "-c", "exit 3"])
        assert (await desk.state("dead", "exited"))["exit"] == {"code": 3, "signal": None}
        assert conf.read_text() == HOSTILE
    finally:
        await desk.close()


async def test_C02_C03_hostile_settings_on_our_own_server_do_not_mislead(desk):
    await desk.standin("one")
    desk.tmux("set-option", "-g", "default-command", "exit 0")
    desk.tmux("set-hook", "-g", "session-created", "rename-session -t . mine")
    desk.tmux("set-hook", "-g", "after-new-session", "new-window")
    desk.tmux("set-option", "-g", "base-index", "1")
    await desk.standin("two")
    assert (await desk("send", name="two", text="reaches two"))["outcome"] == "submitted"
    assert (desk.prompts("one"), desk.prompts("two")) == ([], ["reaches two"])


async def test_C04_a_look_alike_is_foreign_and_left_alone(desk):
    await desk("open", name="one", agent="shell")
    desk.tmux("new-session", "-d", "-s", "covey-abcdefg2", "cat")
    assert [each["name"] for each in await desk("list")] == ["one"]
    await desk("reap", yes=True)
    await desk("kill", name="one")
    assert "covey-abcdefg2" in desk.tmux("list-sessions")


async def test_C06_a_tiny_client_elsewhere_does_not_shrink_an_agent(desk, terminal):
    await desk("open", name="one", agent="shell")
    argv = (await desk("attach", name="one"))["argv"]
    terminal.start(argv, cols=20, rows=5)
    await desk.until(lambda: desk.tmux("list-clients", "-F", "#{client_control_mode}").split().count("0") == 1)
    session = await desk("open", name="two", agent="shell")
    assert desk.tmux("display-message", "-p", "-t", session["pane"], "#{pane_width}x#{pane_height}") == "120x40"


async def test_S12_a_stopped_server_is_unknown_and_nothing_is_lost(desk):
    await desk("open", name="one", agent="shell")
    pid = server_pid(desk)
    wire = desk.front.helper.place.wire
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(CoveyError, match="did not answer"):
            await wire.run(("list-sessions",), deadline=0.2)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert [each["name"] for each in await desk("list")] == ["one"]


async def test_a_server_whose_socket_was_removed_is_asked_for_it(desk):
    await desk("open", name="one", agent="shell")
    await desk.close()
    desk.socket.unlink()
    other = await Desk(desk.world).start()
    try:
        (session,) = await other("list")
        assert (session["name"], session["state"] == "lost") == ("one", False)
    finally:
        await other.close()


async def test_two_clients_and_a_killed_server_wedge_nothing(desk):
    other = await Desk(desk.world).start()
    try:
        await desk.standin("one")
        await other("list")
        await desk("preview", name="one", view="v")
        desk.tmux("kill-server")
        await desk.state("one", "lost")
        await desk.until(lambda: not other.front.helper.place.wire.connected)
        await other("restore", yes=True)
        assert (await desk.state("one", "idle"))["epoch"] == 2
    finally:
        await other.close()


async def test_closed_outside_is_told_and_forgotten(desk):
    session = await desk("open", name="one", agent="shell")
    desk.tmux("kill-session", "-t", f"=covey-{session['id']}")
    await desk.until(lambda: [e for e in desk.events if e["event"] == "Gone"])
    assert await desk("list") == []


async def test_files_of_ours_are_private(desk):
    await desk.standin("one")
    await desk("send", name="one", text="secret plans")
    for path in [*desk.world.run.rglob("covey/**/*"), *desk.world.state.rglob("covey/**/*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode & 0o077 == 0, f"{path} has mode {mode:o}"


OPEN_ONE = """
local name, at = ...
vim.g.got = nil
local function open()
  require('covey').open({ name = name, cmd = { 'sleep', '1000' }, cwd = '/' }, function(err, session)
    vim.g.got = { id = session and session.id or err.message, made = session and session.opened or false }
  end)
end
vim.defer_fn(open, math.max(0, math.floor(at - vim.uv.hrtime() / 1e6)))
"""
ROUNDS = int(os.environ.get("COVEY_ROUNDS", "3"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [2, 5])
def test_editors_that_open_one_name_at_one_moment_get_one_agent(start_nvim, world, count):
    editors = [start_nvim() for _ in range(count)]
    for editor in editors:
        editor.lua("require('covey').warm()")
    for editor in editors:
        editor.wait("require('covey').list() ~= nil")
    for number in range(ROUNDS):
        moment = time.monotonic() * 1000 + 50  # ms; the clock of vim.uv.hrtime()
        for editor in editors:
            editor.lua(OPEN_ONE, f"n{number}", moment)
        for editor in editors:
            editor.wait("vim.g.got ~= nil")
        got = [editor.lua("return vim.g.got") for editor in editors]
        assert len({each["id"] for each in got}) == 1, got
        assert [each["made"] for each in got].count(True) == 1
        agents = [one for one in world.processes() if words(one) == ["sleep", "1000"]]
        assert len(agents) == 1
        editors[0].lua(
            "vim.g.ended = nil require('covey').kill({ name = ... }, function(err) vim.g.ended = err or 1 end)",
            f"n{number}",
        )
        editors[0].wait("vim.g.ended == 1")


ORPHANER = """
import os, subprocess, sys
read, write = os.pipe()
subprocess.Popen(["sleep", "60"], pass_fds=[write])
subprocess.Popen(sys.argv[1:], stdin=read, stdout=subprocess.DEVNULL)
os._exit(0)
"""


MUTED = """
import os, subprocess, sys
client = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
client.stdin.write(b"list-keys\\n" * 50)
client.stdin.flush()
os.read(client.stdout.fileno(), 1)
os._exit(0)
"""


@pytest.mark.parametrize("orphaner", [ORPHANER, MUTED], ids=["that hears somebody else", "that was answering"])
async def test_a_control_client_whose_helper_is_gone_is_ended(desk, orphaner):
    await desk.standin("one")
    argv = [sys.executable, "-S", "-c", orphaner, *desk.front.helper.place.wire.client()]
    subprocess.run(argv, check=True)
    await desk.until(lambda: len(desk.tmux("list-clients").splitlines()) == 2, message="the orphan is attached")
    other = await Desk(desk.world).start()
    await other.close()
    await desk.until(lambda: len(desk.tmux("list-clients").splitlines()) == 1, message="the orphan is gone")
    for each in desk.world.running("sleep"):
        kill(each)


async def test_a_helper_that_has_left_attaches_no_more(desk):
    await desk.standin("one")
    wire = desk.front.helper.place.wire
    coming = asyncio.create_task(wire.connect())
    await desk.close()
    with pytest.raises(ServerLost):
        await wire.connect()
    await asyncio.gather(coming, return_exceptions=True)
    await desk.until(lambda: not desk.tmux("list-clients"), message="no client is left")


async def test_a_stopped_server_is_named_at_once_and_nothing_is_lost(desk):
    await desk.standin("one")
    pid = server_pid(desk)
    os.kill(pid, signal.SIGSTOP)
    await desk.until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)  # a busy machine takes its time
    try:
        for _ in range(3):
            other = await Desk(desk.world).start()
            (session,) = await other("list")
            assert (session["state"], session["flags"]) == ("unknown", ["stale"])
            assert "stopped" in session["evidence"]["excerpt"]
            await other.close()
    finally:
        os.kill(pid, signal.SIGCONT)
    await desk.state("one", "idle")
    assert (await desk("send", name="one", text="still here"))["outcome"] == "submitted"


async def test_restores_at_once_make_each_session_once(desk):
    for number in range(4):
        await desk.standin(f"s{number}")
    os.kill(server_pid(desk), signal.SIGKILL)
    await desk.state("s0", "lost")
    others = [await Desk(desk.world).start() for _ in range(3)]
    try:
        await asyncio.gather(*(each("restore", yes=True) for each in others))
        sessions = [await desk.state(f"s{number}", "idle") for number in range(4)]
        assert [each["epoch"] for each in sessions] == [2, 2, 2, 2]
    finally:
        for each in others:
            await each.close()


async def test_something_odd_in_the_place_of_its_configuration_is_one_sentence(desk):
    config = paths.runtime_dir() / "tmux.conf"
    config.mkdir()
    with pytest.raises(Unavailable, match=r"tmux\.conf cannot be written: Is a directory"):
        await desk("open", name="one", agent="standin")
    config.rmdir()
    os.mkfifo(config)
    await desk.standin("one")
    assert config.is_file()
