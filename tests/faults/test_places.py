"""W*, K*: machines that are bare, full, read-only or nested; a session's directory that went; stale forwarding."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from covey.errors import Refused
from waiting import eventually

COVEY = [sys.executable, "-m", "covey.cli"]
NOBODY = ["unshare", "-U", "--map-user=12345", "--map-group=12345"]  # a user without a name, a home or an entry
MOUNTS = ["unshare", "-rm", "sh", "-euc"]  # a shell that may mount, for itself alone
SMALL = "mount -t tmpfs -o size=600k,mode=700 tmpfs"


def needs(*argv):
    done = subprocess.run([*argv, "true"], capture_output=True, check=False)
    return pytest.mark.skipif(done.returncode != 0, reason=f"this machine does not let us: {' '.join(argv)}")


needs_nobody, needs_mounts = needs(*NOBODY), needs("unshare", "-rm")


@pytest.fixture
def run(world):
    def run(argv, env=None):
        given = {"env": world.env if env is None else env, "cwd": world.home}
        return subprocess.run(argv, capture_output=True, text=True, check=False, **given)

    return run


def bare(world, *names):
    """An environment with nothing but these of the world's variables and the PATH."""
    return {name: world.env[name] for name in ("PATH", *names)}


@needs_nobody
def test_W05_without_a_home_or_a_name_one_sentence_says_what_to_set(world, run):
    known = []
    for _ in range(4):
        done = run([*NOBODY, *COVEY, "list"], bare(world, *known))
        if done.returncode == 0:
            break
        assert done.stderr.startswith("covey: HOME is not set and user 12345 has no home directory")
        assert done.stderr.count("\n") == 1
        known += [name for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME") if f"or {name}." in done.stderr]
    assert (done.stdout, known) == ("no sessions\n", ["XDG_STATE_HOME", "XDG_CONFIG_HOME"])


@needs_nobody
@pytest.mark.parametrize("locale", ["C", "POSIX", "xx_YY.broken"])
def test_W05_a_bare_environment_is_enough(world, run, locale):
    env = bare(world, "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR") | {"LC_ALL": locale}

    def covey(*words):
        return run([*NOBODY, *COVEY, *words], env)

    done = covey("open", "é 🙂", "--agent", "shell", "--cwd", str(world.home))
    assert (done.returncode, done.stderr) == (0, "")
    assert covey("send", "é 🙂", 'printf "ü%s\\n" "$(id -u)"').returncode == 0
    eventually(lambda: "ü12345" in covey("capture", "é 🙂").stdout)
    assert covey("kill", "é 🙂").returncode == 0
    assert covey("list").stdout == "no sessions\n"


@pytest.mark.parametrize("kind", ["missing", "a file", "read-only", "another's"])
def test_W05_a_runtime_directory_that_is_of_no_use_is_done_without(world, run, kind):
    if kind == "read-only" and os.geteuid() == 0:
        pytest.skip("nothing is read-only to root")
    if kind == "another's" and os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    place = world.root / "elsewhere"
    if kind == "a file":
        place.touch()
    elif kind != "missing":
        place.mkdir(mode=0o500 if kind == "read-only" else 0o700)
    if kind == "another's":
        os.chown(place, 4242, 4242)
    env = {**world.env, "XDG_RUNTIME_DIR": str(place)}
    done = run([*COVEY, "open", "one", "--agent", "shell", "--json"], env)
    assert done.returncode == 0, done.stderr
    attach = run([*COVEY, "attach", "one", "--json"], env)
    socket = Path(json.loads(attach.stdout)["argv"][3])
    assert socket.is_relative_to(f"/tmp/covey-{os.geteuid()}")
    assert run([*COVEY, "kill", "one"], env).returncode == 0
    subprocess.run(["rm", "-rf", str(socket.parent)], check=True)


@pytest.fixture
def shut(world, run):
    """``shut(words, …)`` runs covey with each of these words where the state is full, then where it is read-only.

    Before that a session ``one`` is opened. Gives the answers: of each command its status, then what it said.
    """

    def shut(*words):
        covey = shlex.join(COVEY)
        fill = (
            f"dd if=/dev/zero of={world.state}/fill bs=1k 2>/dev/null"  # each time: what left may have let go of some
        )
        each = "\n".join(f"{fill}; {covey} {each} 2>&1; echo =$?=" for each in words)
        script = f"""
{SMALL} {world.state}
{covey} open one --agent standin >&2
set +e
{each}
rm {world.state}/fill
{covey} open one --agent standin >&2
mount --bind {world.state} {world.state}
mount -o remount,bind,ro {world.state}
{each}
umount {world.state}
{covey} list
{covey} send one afterwards
{covey} kill one
"""
        done = run([*MOUNTS, script])
        parts = re.split(r"=(\d+)=\n", done.stdout)
        return list(zip(map(int, parts[1::2]), parts[0::2], strict=False)), parts[-1].splitlines()

    return shut


@needs_mounts
@pytest.mark.parametrize("words", ["open two --agent shell", "send one hi"])
def test_a_full_or_read_only_state_is_one_sentence_and_costs_nothing(shut, words):
    answers, (_, _, sent, killed) = shut(words)
    for (status, said), reason in zip(answers, ("is full", "is read-only"), strict=True):
        assert status == 1
        assert said.startswith("covey: Nothing can be written into the store ")
        assert reason in said
        assert said.count("\n") == 1
    assert sent.startswith("submitted")
    assert killed == "one: ended 1 process"


UNWRITTEN = "covey: Nothing can be written into the store "


def answered(said):
    """The answer, below the sentence that it is not written down; on a full disk a little may fit all the same."""
    first, _, rest = said.partition("\n")
    if not first.startswith(UNWRITTEN):
        return said
    assert "; what is done meanwhile is not written down" in first
    assert "covey:" not in rest
    return rest


@needs_mounts
def test_reading_and_ending_work_where_nothing_can_be_written(shut):
    answers, _ = shut("list", "get one", "capture one", "log one", "rename one two", "reap", "kill two")
    assert [status for status, _ in answers] == [0] * 14
    full, read_only = answers[:7], answers[7:]
    assert all(said.startswith(UNWRITTEN) for _, said in read_only)
    listed, got, shown, logged, renamed, _, killed = [answered(said) for _, said in (*full, *read_only)][:7]
    assert "one   standin" in listed
    assert got.startswith("one (")
    assert "Type a prompt" in shown
    assert "opened  standin as 'one'" in logged
    assert renamed.startswith("two (")
    assert killed == "two: ended 1 process\n"


@needs_mounts
def test_a_full_runtime_directory_holds_a_prompt_until_there_is_room(world, run):
    covey = shlex.join(COVEY)
    script = f"""
{SMALL} {world.run}
{covey} list >&2
dd if=/dev/zero of={world.run}/fill bs=1k 2>/dev/null || true
{covey} open none --agent standin 2>&1 || true
rm {world.run}/fill
{covey} open one --agent standin >&2
dd if=/dev/zero of={world.run}/fill bs=1k 2>/dev/null || true
{covey} open two --agent standin 2>&1 || true
{covey} send one words
rm {world.run}/fill
{covey} send one more --wait submitted
{covey} log one
{covey} kill one
{covey} list
"""
    done = run([*MOUNTS, script])
    assert done.returncode == 0, done.stderr
    none, two, held, sent, *log, killed, rest = done.stdout.splitlines()
    assert [row.split(": ", 1)[0] for row in (none, two)] == ["covey", "covey"]
    assert "cannot be written: No space left on device" in none
    assert "is full" in two
    assert held.startswith("held: ")
    assert "No space left on device" in held
    assert sent.startswith("submitted")
    (number,) = (row.split()[3].rstrip(":") for row in log if "'words'" in row)
    assert any(row.split()[2:4] == ["submitted", number] for row in log)
    assert (killed, rest) == ("one: ended 1 process", "no sessions")
    assert not list(world.root.rglob("*.start.*"))


def test_W04_without_terminal_and_streams_the_detached_verbs_work(world, run):
    closed = ["setsid", "sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    assert run([*closed, *COVEY, "open", "one", "--agent", "standin", "--prompt", "hello"]).returncode == 0
    eventually(lambda: "You said 5 bytes" in run([*COVEY, "capture", "one"]).stdout)
    assert run([*closed, *COVEY, "attach", "one"]).returncode == 1
    assert run([*closed, *COVEY, "kill", "one"]).returncode == 0


def test_W03_in_a_tmux_of_ones_own_attach_shows_the_session_and_not_itself(world, run, terminal):
    run([*COVEY, "open", "one", "--agent", "standin"])
    inner = ["sh", "-c", f"{shlex.join(COVEY)} attach one; exec cat"]
    terminal.start(["env", f"TMUX={terminal.socket},1,0", "TMUX_PANE=%0", *inner])
    terminal.wait_for("A scripted agent")
    terminal.keys("C-]", "d")
    terminal.wait_for(r"\[detached")
    run([*COVEY, "open", "shell", "--agent", "shell"])
    words = f"{shlex.join(COVEY)} attach shell"
    run([*COVEY, "send", "shell", words])
    eventually(lambda: "is the session that this runs in" in run([*COVEY, "capture", "shell"]).stdout)
    run([*COVEY, "send", "shell", "exit"])
    for name in ("one", "shell"):
        run([*COVEY, "kill", name])


def test_W03_an_editor_in_a_session_attaches_to_others_but_not_to_that(world, run, start_nvim):
    own = json.loads(run([*COVEY, "open", "own", "--agent", "standin", "--json"]).stdout)
    run([*COVEY, "open", "other", "--agent", "standin"])
    nvim = start_nvim(env={"COVEY_ID": own["id"], "TMUX": "/nonexistent,1,0", "TMUX_PANE": "%0"})
    nvim.cmd("Covey attach own")
    eventually(lambda: "own is the session that this runs in" in nvim.messages())
    nvim.cmd("Covey attach other")
    eventually(lambda: "❯ Type a prompt" in nvim.screen(), message=lambda: nvim.screen() + nvim.messages())
    for name in ("own", "other"):
        run([*COVEY, "kill", name])


async def test_W01_each_start_gets_the_forwarding_of_who_starts_it(desk):
    dump = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w')); sys.stdin.read()"

    async def found(path):
        def read():
            return json.loads(path.read_text()) if path.exists() and path.read_text().endswith("}") else None

        return await desk.until(read, message=f"{path.name} was written")

    names = ("SSH_AUTH_SOCK", "DISPLAY", "XDG_RUNTIME_DIR")
    logins = [{**os.environ, **{name: f"/login{number}/{name}" for name in names}} for number in range(2)]
    one, two = desk.world.tmp / "one", desk.world.tmp / "two"
    await desk("open", name="one", cmd=[sys.executable, "-c", dump, str(one)], environ=logins[0])
    assert {name: (await found(one))[name] for name in names} == {name: logins[0][name] for name in names}
    one.unlink()
    await desk("open", name="two", cmd=[sys.executable, "-c", dump, str(two)], environ=logins[1])
    assert {name: (await found(two))[name] for name in names} == {name: logins[1][name] for name in names}
    await desk("respawn", name="one", force=True, environ=logins[1])
    assert {name: (await found(one))[name] for name in names} == {name: logins[1][name] for name in names}


async def test_K04_a_directory_that_went_is_said_and_no_other_is_taken(desk):
    place = desk.world.home / "tree"
    place.mkdir()
    argv = ["{python}", "-m", "covey.standin", "--record", str(desk.world.tmp / "one.jsonl"), "--work", "0"]
    await desk("open", name="one", agent="standin", cmd=argv, cwd=str(place))
    session = await desk.state("one", "idle")
    place.rmdir()
    assert (await desk("send", name="one", text="still here"))["outcome"] == "submitted"
    for force in (True, False):
        with pytest.raises(Refused, match="does not exist" if force else "still running"):
            await desk("respawn", name="one", force=force)
    again = await desk.state("one", "idle")
    assert (again["pid"], again["epoch"], again["cwd"]) == (session["pid"], 1, str(place))
    assert (await desk("send", name="one", text="and again"))["outcome"] == "submitted"


@pytest.mark.parametrize("kind", ["none", "bare", "empty", "another's"])
async def test_K05_any_directory_is_good_enough_for_an_agent(desk, kind):
    place = desk.world.home / kind
    place.mkdir()
    if kind != "none":
        subprocess.run(["git", "init", "-q", *(["--bare"] if kind == "bare" else []), str(place)], check=True)
    if kind == "another's":
        if os.geteuid() != 0:
            pytest.skip("only root can give a directory away")
        for path in (place, *place.rglob("*")):
            os.chown(path, 4242, 4242)
    await desk("open", name="one", agent="standin", cwd=str(place))
    await desk.state("one", "idle")
    assert (await desk("send", name="one", text="hello"))["outcome"] == "submitted"
    assert (await desk("kill", name="one"))["survivors"] == []
