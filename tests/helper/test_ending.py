"""Ending: real trees of processes, all of them ours and gone at the end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from brood import PRELUDE, gone, pids
from covey import ending, process
from covey.deaths import wait_gone
from covey.ending import end
from covey.errors import Unknown
from covey.models import Identity
from covey.process import Table, alive, here, identify, snapshot
from waiting import eventually


async def finish(brood, root, grace=0.3, **options):
    return await end(root, mark=brood.mark, grace=grace, **options)


TREES = {
    "one": "tell(pids=[])\nrest()",
    "plain": "tell(pids=[child(), child()])\nrest()",
    "deaf to TERM and HUP": "deaf()\ntell(pids=[child(), child()])\nrest()",
    "own session": "tell(pids=[child(before=os.setsid)])\nrest()",
    "own session, deaf": "tell(pids=[child(before=lambda: (os.setsid(), deaf()))])\nrest()",
    "own group": "tell(pids=[child(before=os.setpgrp)])\nrest()",
    "daemon": "tell(pids=[daemon()])\nrest()",
    "deaf daemon": "tell(pids=[daemon(deaf)])\nrest()",
    "stopped": "pid = child()\nos.kill(pid, signal.SIGSTOP)\ntell(pids=[pid])\nrest()",
    "stopped and deaf": "deaf()\npid = child()\nos.kill(pid, signal.SIGSTOP)\ntell(pids=[pid])\nrest()",
    "zombies": "tell(pids=[child(lambda: None) for _ in range(20)])\nrest()",
    "200 wide": "tell(pids=[child() for _ in range(200)])\nrest()",
    "200 wide and deaf": "deaf()\ntell(pids=[child() for _ in range(200)])\nrest()",
    "200 deep": """
def sink(level):
    if level:
        child(lambda: sink(level - 1))
    else:
        os.write(w, b'.')
    rest()
r, w = os.pipe()
child(lambda: sink(198))
os.read(r, 1)
tell(pids=[])
rest()
""",
    "restarts what dies": """
deaf()
def keeper():
    while True:
        os.waitpid(child(), 0)
tell(pids=[child(keeper)])
rest()
""",
    "leaves a child behind at TERM": """
def bye(*_):
    child(before=lambda: (os.setsid(), deaf()))
    os._exit(0)
signal.signal(signal.SIGTERM, bye)
tell(pids=[])
rest()
""",
    "deaf, in a session of its own and without a mark": """
script = 'import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); signal.pause()'
other = subprocess.Popen(['env', '-i', sys.executable, '-S', '-c', script], start_new_session=True, stdout=-1)
other.stdout.readline()
tell(pids=[other.pid])
rest()
""",
}  # fmt: skip


@pytest.mark.parametrize("script", TREES.values(), ids=TREES.keys())
async def test_r09_a_whole_tree_ends_and_bystanders_do_not(brood, script):
    twins = [brood.bystander("same name"), brood.bystander("other mark", mark="otherone")]
    root, told = brood.run(script)
    done = await finish(brood, root)
    assert (done.survivors, done.left) == ([], [])
    assert root.pid in pids(done.ended)
    assert gone(root.pid, *told["pids"])
    assert [alive(twin) for twin in twins] == [True, True]
    assert pids(brood.living()) == pids(twins)


async def test_r01_orphans_of_a_killed_agent_end(brood):
    root, told = brood.run("tell(pids=[daemon(), child(), child(before=os.setsid)])\nrest()")
    os.kill(root.pid, signal.SIGKILL)
    eventually(lambda: alive(root) is False)
    done = await finish(brood, root)
    assert pids(done.ended) == set(told["pids"])
    assert brood.living() == []


async def test_r03_other_servers_and_editors_survive_and_are_named(brood, tmp_path):
    editor = Path(sys.executable).with_name("nvim")
    tmux, nvim = shutil.which("tmux"), str(editor) if editor.exists() else shutil.which("nvim")
    if not tmux or not nvim:
        pytest.skip("needs tmux and nvim")
    script = f"""
os.environ.update(HOME={str(tmp_path)!r}, XDG_STATE_HOME={str(tmp_path)!r})
os.environ.pop('TMUX', None)
quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
server = [{tmux!r}, '-S', {str(tmp_path / "s")!r}, '-f', '/dev/null', 'new-session', '-d', 'sleep 600']
subprocess.run(server, check=True)
editor = subprocess.Popen([{nvim!r}, '--clean', '--headless'], start_new_session=True, **quiet)
tell(editor=editor.pid, mine=child())
rest()
"""
    root, told = brood.run(script)
    eventually(lambda: {"tmux: server", "nvim", "sleep"} <= {one.command for one in brood.living()})
    done = await finish(brood, root)
    assert gone(root.pid, told["mine"])
    assert alive(identify(told["editor"])) is True
    left = Counter(one.command for one in done.left)
    assert left["tmux: server"] == 1
    assert left["nvim"] >= 1
    assert left["sleep"] == 1
    assert pids(done.left) == pids(brood.living())


async def test_r09_a_pane_ends_and_its_server_lives(brood, tmp_path):
    tmux = shutil.which("tmux")
    if not tmux:
        pytest.skip("needs tmux")
    ready, server = tmp_path / "ready", [tmux, "-S", str(tmp_path / "s"), "-f", "/dev/null"]
    script = PRELUDE + f"deaf()\nchild()\ndaemon(deaf)\nopen({str(ready)!r}, 'w').close()\nrest()"
    agent = ["-e", f"{process.MARK}={brood.mark}", sys.executable, "-S", "-c", script]
    brood.popen([*server, "new-session", "-d", "sleep 600"], "", stdout=None).wait()
    asked = brood.popen([*server, "new-session", "-d", "-P", "-F", "#{pane_pid} #{pid}", *agent], "")
    pane, hub = (identify(int(pid)) for pid in asked.stdout.readline().split())
    eventually(ready.exists)
    eventually(lambda: "sleep" in {one.command for one in brood.living()})
    done = await finish(brood, pane)
    assert (len(done.ended), done.survivors, done.left) == (3, [], [])
    assert alive(hub) is True
    assert Counter(one.command for one in brood.living()) == {"tmux: server": 1, "sleep": 1}


async def test_what_carries_the_mark_but_has_a_living_parent_elsewhere_is_left(brood):
    stranger = brood.bystander("marked", mark=brood.mark)
    root, _ = brood.run("tell()\nrest()")
    done = await finish(brood, root)
    assert alive(stranger) is True
    assert pids(done.left) == {stranger.pid}


async def test_an_agent_that_tidies_up_within_its_grace_is_let(brood, tmp_path):
    script = f"""
def bye(*_):
    time.sleep(.2)
    open({str(tmp_path / "saved")!r}, 'w').close()
    os._exit(0)
signal.signal(signal.SIGTERM, bye)
tell()
rest()
"""
    root, _ = brood.run(script)
    await finish(brood, root, grace=20)
    assert (tmp_path / "saved").exists()


async def test_a_stopped_agent_may_tidy_up_too(brood, tmp_path):
    script = f"""
def bye(*_):
    open({str(tmp_path / "saved")!r}, 'w').close()
    os._exit(0)
signal.signal(signal.SIGTERM, bye)
pid = child(before=lambda: os.kill(os.getpid(), signal.SIGSTOP))
os.waitpid(pid, os.WUNTRACED)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
tell()
rest()
"""
    root, _ = brood.run(script)
    await finish(brood, root, grace=20)
    assert (tmp_path / "saved").exists()


async def test_term_comes_once_and_to_children_first(brood, tmp_path, monkeypatch):
    log = tmp_path / "log"
    script = f"""
def note(who):
    def noted(*_):
        os.write(f, who)
    signal.signal(signal.SIGTERM, noted)
f = os.open({str(log)!r}, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
note(b'root ')
pid = child(before=lambda: (note(b'child '), os.write(w, b'.'))) if (pipe := os.pipe()) and (w := pipe[1]) else 0
os.read(pipe[0], 1)
tell(pid=pid)
rest()
"""
    root, told = brood.run(script)
    send, sent = process.send, []

    def noted(identity, number):
        sent.append((identity.pid, number))
        send(identity, number)
        if number == term:
            eventually(lambda: len(log.read_text().split()) == len(sent))

    term, stop, kill = signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL
    monkeypatch.setattr(ending, "send", noted)
    await finish(brood, root)
    assert log.read_text().split() == ["child", "root"]
    parent, pid = root.pid, told["pid"]
    assert sent == [(pid, term), (parent, term), (parent, stop), (pid, stop), (pid, kill), (parent, kill)]


async def test_term_comes_also_where_the_first_look_outlasts_the_grace(brood, monkeypatch):
    root, _ = brood.run("tell()\nrest()")
    send, sent = process.send, []
    monkeypatch.setattr(ending, "send", lambda one, number: sent.append(number) or send(one, number))
    await finish(brood, root, grace=0)
    assert sent[0] == signal.SIGTERM


async def test_a_root_that_is_dead_and_alone_is_nothing_to_do(brood):
    root, _ = brood.run("tell()")
    root = root or Identity(brood.started[0].pid, 1, here())  # it may have ended before it was known
    eventually(lambda: alive(root) is not True)
    assert await finish(brood, root) == ([], [], [])


async def test_a_runaway_that_forks_sessions_is_caught(brood):
    script = """
def storm():
    while True:
        child(before=os.setsid)
        time.sleep(.02)
deaf()
tell(pid=child(storm))
rest()
"""
    root, _ = brood.run(script)
    done = await finish(brood, root)
    assert done.survivors == []
    assert brood.living() == []


async def test_one_empty_look_proves_nothing(brood, monkeypatch):
    root, _ = brood.run("tell()\nrest()")
    tables = iter([Table(())])
    monkeypatch.setattr(ending._looks, "after", lambda _: next(tables, None) or snapshot())
    done = await finish(brood, root)
    assert pids(done.ended) == {root.pid}


async def test_survivors_are_named(brood, monkeypatch):
    root, told = brood.run("tell(pid=child())\nrest()")
    monkeypatch.setattr(ending, "send", lambda *_: None)
    monkeypatch.setattr(ending, "BUDGET", 0.1)
    done = await finish(brood, root, grace=0.1)
    monkeypatch.undo()
    assert pids(done.survivors) == {root.pid, told["pid"]}
    assert done.ended == []


async def test_r02_an_unreadable_process_table_ends_nobody(brood, monkeypatch):
    root, _ = brood.run("tell()\nrest()")

    def broken():
        raise OSError(24, "too many open files")

    monkeypatch.setattr(process, "_pids", broken)
    with pytest.raises(Unknown):
        await finish(brood, root)
    monkeypatch.undo()
    assert alive(root) is True


async def test_a_root_of_another_host_is_not_touched(brood):
    root, _ = brood.run("tell()\nrest()")
    with pytest.raises(Unknown):
        await finish(brood, replace(root, host="elsewhere:0:0"))
    assert alive(root) is True


async def test_a_reused_root_number_hurts_nobody(brood):
    newcomer, told = brood.run("tell(pid=child())\nrest()", mark="newcomer")
    old = replace(newcomer, start=newcomer.start - 5)
    assert await finish(brood, old) == ([], [], [])
    assert alive(newcomer) is True
    assert identify(told["pid"])


async def test_a_signal_is_for_one_process_only(brood, notice):
    root, _ = brood.run("tell()\nrest()")
    process.send(replace(root, start=root.start - 1), signal.SIGKILL)
    assert await wait_gone(root, 0.1) is False
    process.send(root, signal.SIGKILL)
    eventually(lambda: alive(root) is False)
    process.send(root, signal.SIGKILL)


REUSE = """
import asyncio, os, signal, subprocess, sys
from covey.ending import end
from covey.process import alive, identify
first = subprocess.Popen(['sleep', '600'], start_new_session=True)
old = identify(first.pid)
first.kill(); first.wait()
for _ in range(200):
    open('/proc/sys/kernel/ns_last_pid', 'w').write(str(old.pid - 1))
    second = subprocess.Popen(['sleep', '600'], start_new_session=True)
    if second.pid == old.pid:
        break
    second.kill(); second.wait()
assert second.pid == old.pid
new = identify(second.pid)
while new == old:  # the clock of start times ticks 100 times a second
    second.kill(); second.wait()
    open('/proc/sys/kernel/ns_last_pid', 'w').write(str(old.pid - 1))
    second = subprocess.Popen(['sleep', '600'], start_new_session=True)
    new = identify(second.pid)
assert alive(old) is False
done = asyncio.run(end(old, mark='nobodys', grace=.1))
assert tuple(done) == ([], [], []), done
assert alive(new) is True
second.kill(); second.wait()
print('bystander lives')
"""


def test_a_really_reused_number_hurts_nobody(tmp_path):
    box = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*box, "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs user and pid namespaces")
    root = Path(process.__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([*box, sys.executable, "-c", REUSE], env=env, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "bystander lives\n"), done.stderr


def test_we_may_be_inside_what_we_end(brood):
    root = Path(process.__file__).parents[1]
    script = f"""
sys.path[:0] = {[str(root), *(path for path in sys.path if path)]!r}
import asyncio
from covey.ending import end
from covey.process import identify
other, outer = child(), identify(os.getpid())
def inside():
    done = asyncio.run(end(outer, mark=os.environ['COVEY_ID'], grace=.2))
    tell(ended=[one.pid for one in done.ended], left=sorted(one.pid for one in done.left), other=other,
         us=sorted([outer.pid, os.getpid()]), survivors=len(done.survivors))
os.waitpid(child(inside), 0)
rest()
"""
    outer, told = brood.run(script)
    assert told["ended"] == [told["other"]]
    assert told["left"] == told["us"]
    assert told["survivors"] == 0
    assert alive(outer) is True


async def test_many_endings_share_their_looks(brood, monkeypatch):
    looks = Counter()

    def counted():
        looks["taken"] += 1
        return snapshot()

    monkeypatch.setattr(ending, "snapshot", counted)
    families = [(uuid.uuid4().hex[:8], brood) for _ in range(30)]
    roots = [(mark, brood.run("tell(pid=child())\nrest()", mark=mark)[0]) for mark, _ in families]
    done = await asyncio.gather(*(end(root, mark=mark, grace=5) for mark, root in roots))
    assert [len(one.ended) for one in done] == [2] * 30
    assert looks["taken"] < 30
    assert brood.living() == []


async def test_without_pidfd_and_proc_psutil_does(brood, monkeypatch):
    monkeypatch.setattr(process, "_read", process._from_psutil)
    monkeypatch.setattr(process, "_pids", psutil.pids)
    monkeypatch.setattr(process, "psutil", psutil, raising=False)
    monkeypatch.delattr(os, "pidfd_open")
    stranger = brood.bystander("same name")
    root, told = brood.run("tell(pids=[child(), daemon(deaf), child(lambda: None)])\nrest()")
    done = await finish(brood, root)
    assert (done.survivors, done.left) == ([], [])
    assert gone(root.pid, *told["pids"])
    assert alive(stranger) is True
