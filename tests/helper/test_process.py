"""Processes: identities, costs; with real processes, all of them ours and gone at the end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from brood import pids
from covey import process
from covey.process import Stats, alive, here, identify, snapshot
from waiting import eventually


def test_here_names_node_boot_and_namespace():
    node, boot, namespace = here().rsplit(":", 2)
    assert node == os.uname().nodename
    assert len(boot) == 8
    assert namespace.isdigit()


def test_a_process_is_itself_until_it_dies(brood):
    root, _ = brood.run("tell(); rest()")
    assert identify(root.pid) == root
    assert alive(root) is True
    assert alive(replace(root, start=root.start + 1)) is False
    assert alive(replace(root, host="elsewhere:0:0")) is None
    os.kill(root.pid, signal.SIGKILL)
    eventually(lambda: alive(root) is False)


def test_r04_a_zombie_is_dead(brood):
    root, told = brood.run("pid = child(lambda: None); tell(pid=pid); rest()")
    eventually(lambda: Path(f"/proc/{told['pid']}/stat").read_text().split()[2] == "Z")
    assert identify(told["pid"]) is None
    assert snapshot().get(told["pid"]).dead
    assert pids(snapshot().tree(root.pid)) == {root.pid, told["pid"]}


def test_a_process_whose_first_thread_ended_is_not_dead(brood):
    script = """
threading.Thread(target=lambda: (time.sleep(0.05), tell(), rest())).start()
ctypes.CDLL(None).pthread_exit(None)
"""
    script = script.replace("rest()", "time.sleep(60)")
    root, _ = brood.run(script)
    eventually(lambda: Path(f"/proc/{root.pid}/stat").read_text().split()[2] == "Z")
    assert alive(root) is True


@pytest.mark.parametrize("name", ["a b", "a) S 1 (b", ")", "("])
def test_a_name_with_blanks_and_brackets_is_read(brood, tmp_path, name):
    shutil.copy(shutil.which("sleep"), tmp_path / name)
    one = brood.popen([str(tmp_path / name), "60"], "")
    found = eventually(lambda: (row := snapshot().get(one.pid)) and row.command == name and row)
    assert (found.ppid, found.pgid, found.sid) == (os.getpid(), one.pid, one.pid)
    assert found.state in "RSD"


def test_a_look_that_fails_tells_nothing(monkeypatch):
    def exhausted(_):
        raise OSError(24, "too many open files")

    myself = identify(os.getpid())
    monkeypatch.setattr(process, "_read", exhausted)
    assert alive(myself) is None


def test_nobody_has_a_pid_beyond_the_limit():
    assert identify(int(Path("/proc/sys/kernel/pid_max").read_text()) + 1) is None


def test_T04_alive_means_the_agent_not_its_wrapper(brood):
    _, told = brood.run("pid = child(); tell(pid=pid); os.waitpid(pid, 0); rest()")
    agent = identify(told["pid"])
    os.kill(agent.pid, signal.SIGKILL)
    eventually(lambda: alive(agent) is False)


def test_the_environment_is_read_byte_exact(brood):
    one = subprocess.Popen(["sleep", "60"], env={b"A": b"x=\xff\ny", b"EMPTY": b""})
    brood.started.append(one)
    read = eventually(lambda: "A" in (seen := process.environment(one.pid) or {}) and seen)
    assert {os.fsencode(key): os.fsencode(value) for key, value in read.items()} == {b"A": b"x=\xff\ny", b"EMPTY": b""}


def test_the_environment_of_nobody_is_none():
    assert process.environment(2**22 + 1) is None


def test_stats_count_the_whole_tree(brood):
    script = """
def busy():
    until = time.process_time() + .1
    while time.process_time() < until:
        pass
def work():
    busy()
    os.write(w, b'.')
    rest()
r, w = os.pipe()
pid = child(lambda: (child(work), rest()))
os.read(r, 1)
dead = child(busy)
os.waitpid(dead, 0)
os.waitid(os.P_PID, child(lambda: None), os.WEXITED | os.WNOWAIT)
tell()
rest()
"""
    root, _ = brood.run(script)
    seen = process.stats({"a": root.pid, "gone": 2**22 + 1}, snapshot())
    assert seen["gone"] == Stats(0, 0, 0)
    assert seen["a"].count == 3
    assert seen["a"].rss > 3 * 1024 * 1024
    assert seen["a"].cpu >= 0.18


def test_s2_a_nudge_is_a_sigchld(brood):
    script = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
tell()
tell(heard=signal.sigwait([signal.SIGCHLD]))
"""
    root, _ = brood.run(script)
    process.nudge(root.pid)
    assert json.loads(brood.started[0].stdout.readline()) == {"heard": signal.SIGCHLD}
    process.nudge(2**22 + 1)
