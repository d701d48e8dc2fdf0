"""E*, L05: what an agent finds in its environment, and what nobody else ever reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from covey import agents, env
from covey.errors import CoveyError, Refused, Usage
from covey.models import Spec, stamp
from covey.session import environment as finds
from desk import Desk
from waiting import eventually

SECRET = f"sk-fake-{uuid.uuid4().hex}"
DUMP = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w')); sys.stdin.read()"


async def environment(desk, name, **more):
    """What a program opened under that name found in its environment."""
    path = desk.world.tmp / f"{name}.env"
    await desk("open", name=name, cmd=[sys.executable, "-c", DUMP, str(path)], **more)
    return await dumped(desk, path)


async def dumped(desk, path):
    def read():
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError):
            return None

    return await desk.until(read, message=f"{path.name} was written")


def leaks(desk, needle):
    """Every place but the agents' own environments where the words can be read."""
    places = {
        "message log": desk.tmux("show-messages"),
        "global environment": desk.tmux("show-environment", "-g") + desk.tmux("show-environment", "-gh"),
        "buffers": "".join(
            desk.tmux("show-buffer", "-b", b) for b in desk.tmux("list-buffers", "-F", "#{buffer_name}").split()
        ),
    }
    for session in desk.tmux("list-sessions", "-F", "#{session_id}").split():
        places[f"environment of {session}"] = desk.tmux("show-environment", "-t", session)
        places[f"screen of {session}"] = desk.tmux("capture-pane", "-p", "-S", "-", "-t", f"{session}:")
        places[f"options of {session}"] = desk.tmux("show-options", "-p", "-t", f"{session}:")
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            places[str(process)] = process.read_bytes().decode(errors="replace")
        except OSError:
            continue
    for path in desk.world.root.rglob("*"):
        with contextlib.suppress(OSError):  # it may be gone by now
            if path.is_file() and not path.name.endswith(".env"):
                places[str(path)] = path.read_bytes().decode(errors="replace")
    return [where for where, text in places.items() if needle in text]


async def test_E01_E04_a_secret_reaches_the_agent_and_nobody_else(desk):
    odd = "line1\nline2 'single' \"double\" $(id) `id` \\ $HOME é " + "x" * 30_000
    found = await environment(desk, "one", env={"CHK_SECRET": SECRET, "CHK_ODD": odd})
    assert (found["CHK_SECRET"], found["CHK_ODD"]) == (SECRET, odd)
    assert leaks(desk, SECRET) == []
    assert not [path for path in paths_of(desk) if ".start." in path.name]


def paths_of(desk):
    return [path for path in desk.world.run.rglob("*") if path.is_file()]


async def test_the_scanner_sees_a_planted_leak(desk):
    await desk("open", name="one", agent="shell")
    (desk.world.tmp / "planted").write_text(SECRET)
    desk.tmux("set-environment", "-g", "LEAK", SECRET)
    assert len(leaks(desk, SECRET)) == 2


async def test_E05_values_are_there_again_after_a_respawn_by_another_helper(desk):
    await environment(
        desk, "one", env={"CHK_SECRET": SECRET, "CHK_REF": "env:OTHER"}, environ={**os.environ, "OTHER": "1"}
    )
    path = desk.world.tmp / "one.env"
    path.unlink()
    other = await Desk(desk.world).start()
    try:
        await other("respawn", name="one", force=True, environ={**os.environ, "OTHER": "rotated"})
    finally:
        await other.close()
    found = await dumped(desk, path)
    assert (found["CHK_SECRET"], found["CHK_REF"]) == (SECRET, "rotated")
    assert leaks(desk, SECRET) == []


async def test_E02_E03_what_belongs_to_an_editor_a_tmux_or_another_agent_does_not_cross(desk):
    caller = dict.fromkeys(env.SCRUB, "leak") | {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "MINE": "kept",
    }
    found = await environment(desk, "one", environ=caller | {"BASH_FUNC_x%%": "() { :; }", "COVEY_ID": "spoof"})
    crossed = {name for name, value in found.items() if value == "leak"}
    assert crossed == set()
    assert found["MINE"] == "kept"
    assert found["COVEY_ID"] == (await desk("get", name="one"))["id"]
    assert {"TMUX", "TMUX_PANE", "NVIM"} & found.keys() == set()
    assert found["TERM"].startswith("tmux")


async def test_the_agent_gets_what_its_opener_has_not_what_the_server_had(desk):
    await desk("open", name="first", agent="shell")
    found = await environment(desk, "one", environ={**os.environ, "PATH": f"/opt/x:{os.environ['PATH']}", "CHK": "2"})
    assert found["PATH"].startswith("/opt/x:")
    assert found["CHK"] == "2"


def test_the_files_an_agent_makes_are_as_open_as_its_openers(world):
    for name, mask in (("first", 0o000), ("second", 0o027)):
        told = world.tmp / f"{name}.mask"
        argv = ["covey", "open", name, "--", "sh", "-c", f"umask > {told}; exec sleep 60"]
        subprocess.run(argv, env=world.env, umask=mask, check=True, capture_output=True)
        eventually(lambda told=told: told.exists() and told.read_text(), message=f"{name} runs")
        assert int(told.read_text(), 8) == mask


async def test_E06_start_scripts_are_private_and_gone(desk):
    await environment(desk, "one")
    left = [path.name for path in paths_of(desk) if "spool" in path.parts]
    assert left == []


ODD = "OPTIND OPTARG OPTERR PATH IFS PS1 PS2 PS4 ENV BASH_ENV LD_LIBRARY_PATH PWD OLDPWD SHLVL PPID UID EUID LINENO _"
ODD += " RANDOM SECONDS HISTCMD FUNCNAME GROUPS DIRSTACK SHELLOPTS BASHOPTS BASH_VERSINFO POSIXLY_CORRECT CDPATH TERM"
ODD += " COVEY_ID COVEY_NAME COVEY_MORE COLORTERM TMUX NVIM HOME TMOUT BASH_COMPAT GLOBIGNORE EXECIGNORE COLUMNS"


@pytest.fixture(scope="module", params=["dash", "bash"])
def shell(request, tmp_path_factory):
    """A /bin/sh of that kind."""
    found = shutil.which(request.param)
    if found is None:
        pytest.skip(f"there is no {request.param} here")
    (link := tmp_path_factory.mktemp("sh") / "sh").symlink_to(found)
    return link


def arrived(world, shell, name, value):
    """What a program that this shell starts finds under a name that was given so; None where it did not start."""
    spec = Spec("abcdefg2", "one", "custom", (), str(world.tmp), stamp(0))
    caller = {"PATH": os.environ["PATH"], "UID": "7", "OPTIND": "many", "SHELLOPTS": "xtrace"}
    given = finds(spec, agents.load().get("custom"), caller, {name: value})
    argv = [sys.executable, "-S", "-E", "-c", DUMP, str(world.tmp / "found")]
    (world.tmp / "script").write_bytes(env.launcher(argv, str(world.tmp), given, nice="1"))
    (world.tmp / "found").unlink(missing_ok=True)
    done = subprocess.run(
        [shell, world.tmp / "script"], env=env.base(os.environ), stdin=subprocess.DEVNULL, check=False
    )
    return None if done.returncode else json.loads((world.tmp / "found").read_text())[name]


def test_E04_a_variable_arrives_exactly_as_given_or_is_refused_by_name(world, shell):
    for name in ODD.split():
        if name in env.SHELLS_OWN | env.COVEYS_OWN:
            with pytest.raises(Refused, match=f"{name} is kept by "):
                env.check(name, "")
            continue
        for value in ("", "x y", "5"):
            assert (name, arrived(world, shell, name, value)) == (name, value)


@pytest.mark.parametrize("name", ["UID", "A;touch x", "COVEY_ID", ""])
async def test_E04_what_cannot_be_taken_away_is_refused_by_name(desk, name):
    with pytest.raises((Usage, Refused)):
        await desk("open", name="one", agent="shell", unset=[name])
    assert await desk("list") == []


@pytest.mark.parametrize(("name", "value"), [("A-B", "x"), ("1A", "x"), ("", "x"), ("A", "x\0y")])
async def test_E04_what_cannot_cross_is_refused_by_name(desk, name, value):
    with pytest.raises((Usage, Refused)):
        await desk("open", name="one", agent="shell", env={name: value})
    assert await desk("list") == []


async def test_references_are_read_at_each_start(desk, tmp_path):
    secret = tmp_path / "token"
    secret.write_text("from a file\n")
    given = {"A": f"file:{secret}", "B": "cmd:printf 'from a command'"}
    found = await environment(desk, "one", env=given)
    assert (found["A"], found["B"]) == ("from a file", "from a command")


@pytest.fixture
async def safe(world):
    """A password manager that waits for its person: the words of its reference, and a callable that unlocks it."""
    gate, asked = world.tmp / "gate", world.tmp / "asked"
    os.mkfifo(gate)

    async def unlock(value):
        await asyncio.to_thread(gate.write_text, value)

    async def waits(desk, times=1):
        await desk.until(lambda: asked.exists() and len(asked.read_text().split()) >= times, message="it was asked")

    return f"cmd:echo x >> {asked}; cat {gate}", unlock, waits


async def test_a_slow_reference_holds_up_nobody_else(desk, safe):
    words, unlock, waits = safe
    slow = asyncio.create_task(desk("open", name="slow", agent="shell", env={"A": words}))
    await waits(desk)
    await desk("open", name="other", agent="shell")
    await desk("rename", name="other", new="quick")
    await unlock("late")
    assert (await slow)["name"] == "slow"
    again = asyncio.create_task(desk("respawn", name="slow", force=True))
    await waits(desk, 2)
    said = desk.world.tmp / "said"
    assert (await desk("send", name="slow", text=f"echo $A > {said}"))["outcome"] == "pasted"
    await desk.until(lambda: said.exists() and said.read_text() == "late\n", message="the shell of before heard it")
    await unlock("later")
    assert (await again)["epoch"] == 2


async def test_of_two_who_open_one_name_both_get_the_first_to_know_its_values(desk, safe):
    words, unlock, waits = safe
    slow = asyncio.create_task(desk("open", name="one", agent="shell", env={"A": words}))
    await waits(desk)
    quick = await desk("open", name="one", agent="shell", env={"B": "x"})
    await unlock("late")
    loser = await slow
    assert (loser["id"], loser["opened"], quick["opened"]) == (quick["id"], False, True)
    files = desk.front.helper.place.files
    assert await desk.until(lambda: files.of("") == [f"{quick['id']}.half.B"])
    assert len(await desk("list")) == 1


@pytest.mark.parametrize("reference", ["env:NOT_SET_ANYWHERE", "file:/nonexistent", "cmd:exit 3"])
async def test_a_reference_that_fails_names_the_variable_and_starts_nothing(desk, reference):
    with pytest.raises(Refused, match="MY_TOKEN"):
        await desk("open", name="one", agent="shell", env={"MY_TOKEN": reference})
    assert await desk("list") == []


async def test_L05_a_program_that_is_not_there_is_named(desk):
    with pytest.raises(Refused, match="no-such-agent was not found"):
        await desk("open", name="one", cmd=["no-such-agent"])
    assert await desk("list") == []


async def test_L05_a_program_that_ends_at_once_shows_its_last_words(desk):
    await desk("open", name="one", cmd=["sh", "-c", "echo please log in; exit 1"])
    session = await desk.state("one", "exited")
    assert (session["exit"]["code"], session["last_line"]) == (1, "please log in")


def test_a_value_in_two_halves_is_noise_in_each():
    half, pad = env.split(SECRET)
    assert env.join(half, pad) == SECRET
    assert SECRET.encode().hex() not in half
    assert SECRET.encode() not in pad


@pytest.mark.parametrize("failing", [["/nowhere/agent"], [sys.executable, "-c", "raise SystemExit(3)"]])
async def test_E07_no_log_and_no_error_repeats_a_secret(desk, failing):
    """Not even the most talkative log of a start that failed."""
    talkative = Desk(desk.world)
    await talkative.front.hello({"config": {"log_level": "debug"}})
    logging.getLogger("covey").setLevel(logging.DEBUG)
    said = ""
    try:
        await talkative("open", name="one", cmd=failing, env={"API_KEY": SECRET})
        await talkative.state("one", "exited")
        await talkative("respawn", name="one")
        said = json.dumps(await talkative("log", name="one"))
    except CoveyError as error:
        said = json.dumps(error.to_json())
    finally:
        await talkative.close()
    assert said
    assert SECRET not in said + json.dumps(talkative.events)
    assert [where for where in leaks(desk, SECRET) if where.endswith((".log", ".db", ".db-wal"))] == []


async def test_E08_nothing_of_ours_is_in_a_shells_history(desk):
    """Only what was sent to the shell itself, which is a line that somebody typed."""
    history = desk.world.home / "history"
    bash = ["bash", "--norc", "--noprofile", "-i"]
    await desk("open", name="sh", agent="shell", cmd=bash, env={"HISTFILE": str(history), "HISTSIZE": "100"})
    await desk.until(lambda: "bash" in desk.tmux("list-panes", "-a", "-F", "#{pane_current_command}"))
    await desk("send", name="sh", text="echo mine")
    await desk.shows("sh", "mine")
    await desk("send", name="sh", text="exit")
    await desk.state("sh", "exited")
    assert history.read_text().splitlines() == ["echo mine", "exit"]
