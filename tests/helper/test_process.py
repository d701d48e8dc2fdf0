"""Processes: identities, trees, endings, deaths, costs; with real processes, all of them ours and gone at the end."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import time
import tty
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from covey import process
from covey.errors import Unknown
from covey.models import Identity
from covey.process import Deaths, Process, Stats, Table, alive, end, here, identify, snapshot, wait_gone

STAMP = "COVEY_TEST_RUN"
PRELUDE = """
import ctypes, json, os, signal, subprocess, sys, threading, time

def tell(**facts):
    print(json.dumps(facts), flush=True)

def rest():
    while True:
        signal.pause()

def child(work=rest, before=None):
    pid = os.fork()
    if pid:
        return pid
    try:
        before and before()
        work()
    finally:
        os._exit(0)

def daemon(before=None):
    # fork, new session, fork again; the pid comes back through a pipe, the middle one is waited for
    r, w = os.pipe()
    def middle():
        os.setsid()
        os.write(w, str(child(before=before)).encode())
    os.waitpid(child(middle), 0)
    return int(os.read(r, 32))

def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
"""


class Brood:
    """Starts processes that carry a stamp of this test, and can tell which of them are still there."""

    def __init__(self):
        self.stamp, self.mark = uuid.uuid4().hex, uuid.uuid4().hex[:8]
        self.started = []

    def environ(self, mark):
        bare = {key: value for key, value in os.environ.items() if key != process.MARK}
        return {**bare, STAMP: self.stamp, **({process.MARK: mark} if mark else {})}

    def popen(self, argv, mark, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "start_new_session": True, **options}
        one = subprocess.Popen(argv, env=self.environ(mark), **options)
        self.started.append(one)
        return one

    def run(self, script, mark=None, **options):
        """Run a script as a session's root; give back its identity and what it told."""
        argv = [sys.executable, "-S", "-E", "-c", PRELUDE + script]
        one = self.popen(argv, self.mark if mark is None else mark, **options)
        told = json.loads(one.stdout.readline())
        return identify(one.pid), told

    def bystander(self, name, mark=""):
        """Something that sleeps, has nothing to do with the session, and says so when it is there."""
        one = self.popen([sys.executable, "-S", "-E", "-c", PRELUDE + f"# {name}\ntell()\nrest()"], mark)
        one.stdout.readline()
        return identify(one.pid)

    def living(self):
        return [one for one in snapshot() if self.stamped(one.pid) and not one.dead]

    def stamped(self, pid):
        return (process.environment(pid) or {}).get(STAMP) == self.stamp

    def clear(self):
        while found := self.living() or self.living():  # one that is just executing shows no environment
            for one in found:
                process._send(one.identity, signal.SIGKILL)
        for one in self.started:
            one.kill()
            one.wait()
            if one.stdout:
                one.stdout.close()


@pytest.fixture
def brood():
    """Whatever a test starts is gone after it, and that is looked at, not assumed."""
    family = Brood()
    yield family
    family.clear()
    assert family.living() == []


@pytest.fixture(params=["pidfd", "looking"])
def notice(request, monkeypatch):
    if request.param == "looking":
        monkeypatch.delattr(os, "pidfd_open")


def until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)
    return value


def gone(*pids):
    return all(identify(pid) is None for pid in pids)


async def finish(brood, root, grace=0.3, **options):
    return await end(root, mark=brood.mark, grace=grace, **options)


def pids(processes):
    return {one.pid for one in processes}


# --- identities


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
    until(lambda: alive(root) is False)


def test_r04_a_zombie_is_dead(brood):
    root, told = brood.run("pid = child(lambda: None); tell(pid=pid); rest()")
    until(lambda: Path(f"/proc/{told['pid']}/stat").read_text().split()[2] == "Z")
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
    assert Path(f"/proc/{root.pid}/stat").read_text().split()[2] == "Z"
    assert alive(root) is True


@pytest.mark.parametrize("name", ["a b", "a) S 1 (b", ")", "("])
def test_a_name_with_blanks_and_brackets_is_read(brood, tmp_path, name):
    shutil.copy(shutil.which("sleep"), tmp_path / name)
    one = brood.popen([str(tmp_path / name), "60"], "")
    found = until(lambda: (row := snapshot().get(one.pid)) and row.command == name and row)
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


def test_t04_alive_means_the_agent_not_its_wrapper(brood):
    _, told = brood.run("pid = child(); tell(pid=pid); os.waitpid(pid, 0); rest()")
    agent = identify(told["pid"])
    os.kill(agent.pid, signal.SIGKILL)
    until(lambda: alive(agent) is False)


def test_the_environment_is_read_byte_exact(brood):
    one = subprocess.Popen(["sleep", "60"], env={b"A": b"x=\xff\ny", b"EMPTY": b""})
    brood.started.append(one)
    read = until(lambda: "A" in (seen := process.environment(one.pid) or {}) and seen)
    assert {os.fsencode(key): os.fsencode(value) for key, value in read.items()} == {b"A": b"x=\xff\ny", b"EMPTY": b""}


def test_the_environment_of_nobody_is_none():
    assert process.environment(2**22 + 1) is None


# --- tables: the rules, on made-up processes


ME = os.getpid()


def row(pid, ppid, sid=None, command="sh", state="S"):
    return Process(pid, ppid, sid or pid, sid or pid, pid, state, command)


def table(*rows, marks=()):
    made = Table([row(1, 0, command="init"), row(ME, 1), *rows])
    vars(made)["marks"] = dict(marks)
    return made


def who(pid, start=None):
    return Identity(pid, start or pid, here())


SERVER, ROOT = row(5_000_000, 1, command="tmux: server"), row(5_000_010, 5_000_000)
A, B, C, D = (5_000_011, 5_000_012, 5_000_013, 5_000_014)


def members(made, root=None, **options):
    mine, left = made.members(root or ROOT.identity, "m", **options)
    return [one.pid for one in mine], [one.pid for one in left]


def test_a_tree_has_parents_first_and_survives_a_cycle():
    made = table(row(A, C), row(B, A), row(C, B), row(D, C))
    assert [one.pid for one in made.tree(A)] == [A, B, C, D]
    assert [one.pid for one in made.ancestors(D)] == [C, B, A]
    assert made.tree(99) == []


RULES = {
    "descendants, parents first": ([row(A, B, ROOT.pid), row(B, ROOT.pid)], {}, [ROOT.pid, B, A], []),
    "a descendant with a session of its own": ([row(A, ROOT.pid)], {}, [ROOT.pid, A], []),
    "the same session, re-parented": ([row(A, 1, ROOT.pid)], {}, [ROOT.pid, A], []),
    "a marked orphan": ([row(A, 1)], {A: "m"}, [ROOT.pid, A], []),
    "below a marked orphan": ([row(A, 1), row(B, A)], {A: "m"}, [ROOT.pid, A, B], []),
    "an orphan with another mark": ([row(A, 1)], {A: "n"}, [ROOT.pid], []),
    "an orphan without a mark": ([row(A, 1)], {}, [ROOT.pid], []),
    "marked, its parent is somebody": ([row(A, ME)], {A: "m"}, [ROOT.pid], [A]),
    "marked, adopted by systemd --user": ([row(A, 1, command="systemd"), row(B, A)], {B: "m"}, [ROOT.pid, B], []),
    "a marked zombie": ([row(A, 1, state="Z")], {A: "m"}, [ROOT.pid], []),
    "an editor within the session": ([row(A, ROOT.pid, ROOT.pid, "nvim")], {A: "m"}, [ROOT.pid, A], []),
    "an editor of its own": ([row(A, ROOT.pid, A, "nvim"), row(B, A)], {A: "m", B: "m"}, [ROOT.pid], [A, B]),
    "another tmux server": ([row(A, 1, A, "tmux: server"), row(B, A)], {A: "m", B: "m"}, [ROOT.pid], [A, B]),
    "a shared daemon": ([row(A, 1, A, "fifteen-letters")], {A: "m"}, [ROOT.pid], [A]),
}


@pytest.mark.parametrize(("rows", "marks", "mine", "left"), RULES.values(), ids=RULES.keys())
def test_r03_what_belongs_to_a_session(rows, marks, mine, left):
    made = table(SERVER, ROOT, *rows, marks=marks)
    assert members(made, spare=["fifteen-letters-and-more"]) == (mine, left)


def test_r01_a_dead_roots_orphans_are_known_by_their_mark():
    made = table(row(A, 1, ROOT.pid), row(B, 1), row(C, 1, ROOT.pid), marks={A: "m", B: "m"})
    assert members(made) == ([A, B], [])


def test_what_was_seen_below_us_is_ours_wherever_it_went():
    made = table(SERVER, ROOT, row(A, ME), row(B, ME), marks={A: "m"})
    assert members(made, seen={who(A), who(B)}) == ([ROOT.pid, A], [])
    assert members(made, seen={who(A, start=1)}) == ([ROOT.pid], [A])


def test_what_was_seen_but_lives_below_a_spared_editor_is_left():
    made = table(SERVER, ROOT, row(A, 1, A, "nvim"), row(B, A), marks={A: "m", B: "m"})
    assert members(made, seen={who(B)}) == ([ROOT.pid], [A, B])


def test_a_reused_root_number_is_nobody_of_ours():
    newcomer = replace(ROOT, start=ROOT.start + 7, ppid=1)
    theirs = row(A, newcomer.pid, newcomer.pid)
    made = table(SERVER, newcomer, theirs, row(B, 1), marks={A: "m", B: "m"})
    assert members(made) == ([B], [A])


def test_a_root_that_leads_no_session_is_not_spared_by_its_own_name():
    root = row(A, ME, ME, "nvim")
    made = table(root, row(B, A, ME, "nvim"), row(C, A, C, "nvim"))
    assert members(made, root=root.identity) == ([A, B], [C])


def test_a_dead_leader_still_names_its_session():
    made = table(SERVER, replace(ROOT, state="Z"), row(A, 1, ROOT.pid))
    assert members(made) == ([A], [])


def test_neither_we_nor_our_ancestors_nor_init_are_ever_ours_to_end():
    made = Table([row(1, 0, command="init"), row(A, 1), row(B, A, A), row(ME, B, A), row(C, B, A), row(D, ME, A)])
    vars(made)["marks"] = {A: "m", B: "m", ME: "m"}
    mine, left = members(made, root=who(A))
    assert (sorted(mine), sorted(left)) == ([C, D], sorted([A, B, ME]))
    assert 1 not in members(made, root=who(1))[0]


# --- ending


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
    until(lambda: alive(root) is False)
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
    until(ready.exists)
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
    send, sent = process._send, []

    def noted(identity, number):
        sent.append((identity.pid, number))
        send(identity, number)

    monkeypatch.setattr(process, "_send", noted)
    await finish(brood, root, grace=0.5)
    assert sorted(log.read_text().split()) == ["child", "root"]
    term, stop, kill = signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL
    parent, pid = root.pid, told["pid"]
    assert sent == [(pid, term), (parent, term), (parent, stop), (pid, stop), (pid, kill), (parent, kill)]


async def test_a_root_that_is_dead_and_alone_is_nothing_to_do(brood):
    root, _ = brood.run("tell()")
    until(lambda: alive(root) is not True)
    assert await finish(brood, root or Identity(brood.started[0].pid, 1, here())) == ([], [], [])


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
    monkeypatch.setattr(process._looks, "after", lambda _: next(tables, None) or snapshot())
    done = await finish(brood, root)
    assert pids(done.ended) == {root.pid}


async def test_survivors_are_named(brood, monkeypatch):
    root, told = brood.run("tell(pid=child())\nrest()")
    monkeypatch.setattr(process, "_send", lambda *_: None)
    monkeypatch.setattr(process, "BUDGET", 0.1)
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
    process._send(replace(root, start=root.start - 1), signal.SIGKILL)
    assert await wait_gone(root, 0.1) is False
    process._send(root, signal.SIGKILL)
    until(lambda: alive(root) is False)
    process._send(root, signal.SIGKILL)


REUSE = """
import asyncio, os, signal, subprocess, sys
from covey.process import alive, end, identify
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
from covey.process import end, identify
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

    monkeypatch.setattr(process, "snapshot", counted)
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


# --- deaths


async def test_wait_gone(brood, notice):
    root, _ = brood.run("tell()\nrest()")
    assert await wait_gone(root, 0.05) is False
    waiting = asyncio.create_task(wait_gone(root, 20))
    await asyncio.sleep(0)
    os.kill(root.pid, signal.SIGKILL)
    assert await waiting is True
    assert await wait_gone(root, 0) is True


async def test_wait_gone_of_another_host_is_unknown():
    with pytest.raises(Unknown):
        await wait_gone(Identity(ME, 1, "elsewhere:0:0"), 0.1)


async def test_each_death_is_told_once(brood, notice):
    roots = [brood.run("tell()\nrest()")[0] for _ in range(5)]
    deaths, told, done = Deaths(), Counter(), asyncio.Event()

    def note(pid):
        told[pid] += 1
        if len(told) == 4:
            done.set()

    for root in roots:
        deaths.watch(root, lambda pid=root.pid: note(pid))
    deaths.forget(roots[0])
    for root in roots:
        os.kill(root.pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        await done.wait()
    await asyncio.sleep(0.01)
    assert told == {root.pid: 1 for root in roots[1:]}
    deaths.close()


async def test_one_dead_before_is_told_soon_but_not_from_within(brood, notice):
    root, _ = brood.run("tell()\nrest()")
    os.kill(root.pid, signal.SIGKILL)
    until(lambda: alive(root) is False)
    deaths, done = Deaths(), asyncio.Event()
    deaths.watch(root, done.set)
    assert not done.is_set()
    async with asyncio.timeout(20):
        await done.wait()


async def test_a_second_watch_replaces_the_first(brood):
    root, _ = brood.run("tell()\nrest()")
    deaths, first, second = Deaths(), asyncio.Event(), asyncio.Event()
    deaths.watch(root, first.set)
    deaths.watch(root, second.set)
    os.kill(root.pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        await second.wait()
    assert not first.is_set()


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_closing_tells_nobody_and_keeps_no_descriptor(brood, notice):
    before = descriptors()
    root, _ = brood.run("tell()\nrest()")
    deaths, told = Deaths(), []
    deaths.watch(root, lambda: told.append(root))
    deaths.close()
    deaths.close()
    os.kill(root.pid, signal.SIGKILL)
    until(lambda: alive(root) is False)
    await asyncio.sleep(process.POLL * 1.5)
    assert told == []
    assert descriptors() == before + 1  # the pipe of the script's output


async def test_when_descriptors_run_out_deaths_are_still_seen(brood, monkeypatch):
    root, _ = brood.run("tell()\nrest()")

    def exhausted(*_):
        raise OSError(24, "too many open files")

    monkeypatch.setattr(os, "pidfd_open", exhausted)
    assert await wait_gone(root, 0.05) is False
    waiting = asyncio.create_task(wait_gone(root, 20))
    await asyncio.sleep(0)
    process._send(root, signal.SIGKILL)
    assert await waiting is True


# --- costs, terminals, the nudge


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


@pytest.fixture
def terminal():
    ours, theirs = pty.openpty()
    yield theirs
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("by", ["pid", "path"])
def test_canonical_tells_how_a_terminal_hands_over_lines(brood, terminal, by):
    one = brood.popen(["sleep", "60"], "", stdin=terminal)
    where = one.pid if by == "pid" else os.ttyname(terminal)
    assert process.canonical(where) is True
    tty.setraw(terminal)
    assert process.canonical(where) is False


@pytest.mark.parametrize("stdin", [subprocess.PIPE, subprocess.DEVNULL])
def test_canonical_of_no_terminal_cannot_be_told_and_nothing_is_opened(brood, monkeypatch, stdin):
    one = brood.popen(["sleep", "60"], "", stdin=stdin)
    opened = []
    monkeypatch.setattr(process.os, "open", lambda *_: opened.append(1) or 1 / 0)
    assert process.canonical(one.pid) is None
    assert opened == []
    if one.stdin:
        one.stdin.close()


def test_canonical_of_nobody_cannot_be_told(tmp_path):
    assert process.canonical(2**22 + 1) is None
    assert process.canonical(str(tmp_path)) is None
    assert process.canonical("/dev/pts/no-such") is None


def test_canonical_of_a_terminal_that_hung_up(brood):
    ours, theirs = pty.openpty()
    one = brood.popen(["sleep", "60"], "", stdin=theirs)
    os.close(theirs)
    assert isinstance(termios.tcgetattr(ours), list)
    os.close(ours)
    assert process.canonical(one.pid) is None


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
