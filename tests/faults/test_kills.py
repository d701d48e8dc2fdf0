"""R*: ending a session through covey's own ``kill``: nothing of it survives, nobody beside it is hurt."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sqlite3
import sys

import pytest

from brood import PRELUDE, Brood, pids
from covey import paths
from covey.errors import Refused
from desk import Desk

READY = "\ntell = lambda **facts: open(sys.argv[1], 'w').write(json.dumps(facts))\n"
TREES = {
    "ignores TERM and HUP": "deaf()\nkids = [child(), child()]",
    "sessions of their own": "kids = [child(before=os.setsid), child(before=lambda: (os.setsid(), deaf()))]",
    "daemons": "kids = [daemon(), daemon(deaf)]",
    "stopped": "kids = [child(), child()]\n[os.kill(kid, signal.SIGSTOP) for kid in kids]",
    "zombies": "kids = [child(lambda: None) for _ in range(20)]",
    "200 wide": "deaf()\nkids = [child() for _ in range(200)]",
    "200 deep": """
def sink(level):
    if level:
        child(lambda: sink(level - 1))
    else:
        os.write(w, b'.')
    rest()
r, w = os.pipe()
kids = [child(lambda: sink(198))]
os.read(r, 1)
""",
    "all of it": """
deaf()
kids = [child(), child(before=os.setsid), daemon(), daemon(deaf), child(lambda: None), child()]
os.kill(kids[-1], signal.SIGSTOP)
""",
}


@pytest.fixture
def brood():
    family = Brood()
    yield family
    family.clear()
    assert family.living() == []


async def tree(desk, brood, name, script, **more):
    """A session whose agent is that script; what it told once its tree stood."""
    told = desk.world.tmp / f"{name}.json"
    argv = [sys.executable, "-S", "-E", "-c", PRELUDE + READY + script + "\ntell(kids=kids)\nrest()", str(told)]
    session = await desk("open", name=name, cmd=argv, environ=brood.environ(""), **more)
    await desk.until(lambda: told.exists() and told.read_text(), message=f"the tree of {name} stands")
    return session, json.loads(told.read_text())["kids"]


@pytest.mark.parametrize("script", TREES.values(), ids=TREES.keys())
async def test_R09_a_kill_leaves_nothing_and_hurts_nobody(desk, brood, script):
    beside, theirs = await tree(desk, brood, "beside", "kids = [child(), daemon()]")
    twin = brood.bystander("same name")
    session, kids = await tree(desk, brood, "one", script)
    killed = await desk("kill", name="one")
    assert (killed["survivors"], killed["left"]) == ([], [])
    assert session["pid"] in killed["ended"]
    assert pids(brood.living()) == {twin.pid, beside["pid"], *theirs}
    assert [each["name"] for each in await desk("list")] == ["beside"]
    assert not set(kids) & {each.pid for each in brood.living()}


async def test_R04_a_zombie_that_nobody_waits_for_is_dead(desk, brood):
    session, kids = await tree(desk, brood, "one", TREES["zombies"])
    look = desk.front.helper.place.processes.snapshot
    await desk.until(lambda: all(look().get(kid).state == "Z" for kid in kids), message="all of them ended")
    os.kill(session["pid"], signal.SIGSTOP)
    killed = await desk("kill", name="one")
    assert (killed["survivors"], killed["left"], killed["ended"]) == ([], [], [session["pid"]])


async def test_R09_an_idle_agent_that_hears_neither_HUP_nor_TERM_is_ended_within_its_grace(desk, brood):
    """As gemini does while it waits for a prompt."""
    session, _ = await tree(desk, brood, "one", "deaf()\nkids = []")
    assert (await desk("kill", name="one"))["ended"] == [session["pid"]]
    assert brood.living() == []


NODE = """
launcher = os.getpid()
worker = child(before=lambda: (os.setpgid(0, 0), deaf()))
shell = child(before=lambda: (os.setsid(), child(before=deaf), child()))
kids = [worker, shell]
"""


async def test_R09_a_launcher_with_groups_and_shells_of_its_own_is_ended_whole(desk, brood):
    """As agents on node are: the launcher, a worker in a group of its own, shells in sessions of theirs."""
    session, kids = await tree(desk, brood, "one", NODE)
    assert {session["pid"], *kids} <= set((await desk("kill", name="one"))["ended"])
    assert brood.living() == []


async def test_R09_codex_is_started_without_its_daemon_and_a_server_below_it_ends_with_it(desk, brood):
    """A server that it starts all the same, two forks away in a session of its own, has our mark."""
    assert "--no-daemon" in desk.front.helper.catalog.get("codex").argv
    session, kids = await tree(desk, brood, "one", "kids = [daemon(lambda: (os.setsid(), deaf()))]")
    os.kill(session["pid"], signal.SIGKILL)
    await desk.state("one", "exited")
    assert set(kids) <= pids(brood.living())
    assert set(kids) <= set((await desk("kill", name="one"))["ended"])
    assert brood.living() == []


UNMARKED = """
quiet = dict(stdin=-3, stdout=-3, stderr=-3)
argv = ['env', '-u', 'COVEY_ID', sys.executable, '-S', '-c', 'import time; time.sleep(600)']
kids = [subprocess.Popen(argv, start_new_session=True, **quiet).pid]
"""


async def test_R01_orphans_without_a_mark_are_known_once_they_were_seen(desk, brood):
    session, (kid,) = await tree(desk, brood, "one", UNMARKED)
    kin = desk.front.helper.kit.kin
    kin.look(desk.front.helper.place.processes.snapshot())
    assert kid in {each.pid for each in kin.seen(session["id"])}
    os.kill(session["pid"], signal.SIGKILL)
    await desk.state("one", "exited")
    assert kid in pids(brood.living())
    assert kid in (await desk("kill", name="one"))["ended"]
    assert brood.living() == []


async def test_R01_the_watch_sees_the_family_of_an_agent_at_work(desk, brood, monkeypatch):
    monkeypatch.setattr("covey.kin.PAUSE", 0.0)
    chatter = "\nwhile True:\n    print(time.time(), flush=True)\n    time.sleep(.05)\n"
    session, (kid,) = await tree(desk, brood, "one", UNMARKED + "tell(kids=kids)" + chatter)
    kin = desk.front.helper.kit.kin
    await desk.until(lambda: kid in {each.pid for each in kin.seen(session["id"])}, message="the child was seen")
    await desk("kill", name="one")


async def test_R01_another_helper_knows_the_first_process_of_a_pane_by_the_store(desk, brood):
    session, _ = await tree(desk, brood, "one", "kids = [child(before=os.setsid)]")
    root = desk.front.helper.place.processes.identify(session["pid"])
    os.kill(session["pid"], signal.SIGKILL)
    await desk.state("one", "exited")
    other = await Desk(desk.world).start()
    try:
        assert other.front.helper.kit.kin.root(session["id"], session["pid"]) == root
        assert (await other("kill", name="one"))["survivors"] == []
    finally:
        await other.close()
    assert brood.living() == []


async def test_R03_what_a_profile_spares_is_left_and_named(desk, brood):
    folder = desk.world.config / "covey" / "agents"
    folder.mkdir(parents=True)
    (folder / "spares.toml").write_text(
        'name = "spares"\ntitle = "x"\nargv = ["x"]\ngrace = 0.2\nspare = ["shared-daemon"]\n'
    )
    (desk.world.home / "shared-daemon").symlink_to("/bin/sleep")
    other = await Desk(desk.world).start()
    try:
        daemon = f"kids = [subprocess.Popen(['{desk.world.home}/shared-daemon', '600'], start_new_session=True).pid]"
        _, (kid,) = await tree(other, brood, "one", daemon, agent="spares")
        killed = await other("kill", name="one")
        assert killed["left"] == [f"{kid} shared-daemon"]
        assert pids(brood.living()) == {kid}
    finally:
        await other.close()


async def test_killing_the_session_one_runs_in_is_refused(desk, monkeypatch):
    session = await desk("open", name="one", agent="shell")
    monkeypatch.setenv("COVEY_ID", session["id"])
    with pytest.raises(Refused, match="runs in"):
        await desk("kill", name="one")
    assert [each["name"] for each in await desk("list")] == ["one"]
    assert (await desk("kill", name="one", force=True))["survivors"] == []


async def test_many_kills_at_once_end_all(desk, brood):
    for number in range(12):
        await tree(desk, brood, f"s{number}", "deaf()\nkids = [child(), daemon(deaf)]")
    killed = await asyncio.gather(*(desk("kill", name=f"s{number}") for number in range(12)))
    assert [each["survivors"] for each in killed] == [[]] * 12
    assert brood.living() == []
    assert await desk("list") == []


DEAF = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nkids = [child(), daemon()]"


@pytest.mark.parametrize("then", ["kill", "restore"])
async def test_S02_what_outlived_its_tmux_server_ends_with_its_session_or_before_it_starts_again(desk, brood, then):
    session, kids = await tree(desk, brood, "one", DEAF)
    os.kill(int(desk.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    await desk.state("one", "lost")
    assert {session["pid"], *kids} <= pids(brood.living())
    if then == "kill":
        assert {session["pid"], *kids} <= set((await desk("kill", name="one"))["ended"])
        assert brood.living() == []
        return
    (again,) = await desk("restore", yes=True)
    assert (again["id"], again["epoch"]) == (session["id"], 2)
    assert not {session["pid"], *kids} & pids(brood.living())
    await desk("kill", name="one")


@pytest.mark.parametrize("then", ["reap", "kill"])
async def test_R09_what_runs_on_without_its_tmux_session_is_shown_and_offered(desk, brood, then):
    stranger, _ = await tree(desk, brood, "lives", "kids = [daemon()]")
    session, kids = await tree(desk, brood, "one", DEAF)
    family = {session["pid"], *kids}
    desk.tmux("kill-session", "-t", f"=covey-{session['id']}")
    left = await desk.state("one", "lost")
    shown = f"closed outside covey; still running: {session['pid']}"
    assert (left["pid"], shown in left["evidence"]["excerpt"]) == (session["pid"], True)
    assert set(numbers(left["evidence"]["excerpt"])) == family
    (offered,) = (await desk("reap"))["decisions"]
    assert (offered["id"], offered["act"], offered["reason"]) == (session["id"], "end", left["evidence"]["excerpt"])
    assert family <= pids(brood.living())
    await (desk("reap", yes=True) if then == "reap" else desk("kill", name="one"))
    assert not family & pids(brood.living())
    assert stranger["pid"] in pids(brood.living())
    assert [each["name"] for each in await desk("list")] == ["lives"]
    logged = {each["kind"]: each["words"] for each in await desk("log", name="one")}
    assert logged["closed"].startswith("outside covey; still running: ")
    assert set(numbers(logged["closed"])) == family
    assert "by shell" in logged["ended"]


def numbers(text):
    return map(int, re.findall(r"\d+", text))


async def test_R09_an_editor_that_leaves_takes_what_runs_on_of_its_own(world, brood):
    editor = await Desk(world, os.getpid()).start()
    theirs, kids = await tree(editor, brood, "one", DEAF)
    editor.tmux("kill-session", "-t", f"=covey-{theirs['id']}")
    await editor.state("one", "lost")
    await editor.front.bye({})
    assert not {theirs["pid"], *kids} & pids(brood.living())
    await editor.close()


async def test_R09_what_runs_on_is_seen_by_the_next_helper_and_over_once_it_has_ended(desk, brood):
    session, kids = await tree(desk, brood, "one", DEAF)
    await desk.close()
    desk.tmux("kill-session", "-t", f"=covey-{session['id']}")
    other = await Desk(desk.world).start()
    assert [each["state"] for each in await other("list")] == ["lost"]
    for pid in (session["pid"], *kids):
        os.kill(pid, signal.SIGKILL)
    await other.until(lambda: [each for each in other.events if each["event"] == "Gone"])
    assert (await other("log", name="one"))[-1]["words"] == "closed outside covey; 0 processes"
    await other.close()


async def test_R09_what_runs_on_of_one_that_no_helper_ever_saw_is_shown_too(desk, brood):
    session, kids = await tree(desk, brood, "one", DEAF)
    await desk.close()
    os.kill(int(desk.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    with contextlib.closing(sqlite3.connect(paths.store_path())) as store:
        (spec,) = store.execute("SELECT spec FROM sessions").fetchone()
        old = json.dumps({**json.loads(spec), "created": "2020-01-01T00:00:00.000Z"})
        store.execute("UPDATE sessions SET spec = ?, server = 'null', state = '{}'", (old,))
        store.commit()
    other = await Desk(desk.world).start()
    assert [each["state"] for each in await other("list")] == ["lost"]
    await other("kill", name="one")
    assert not {session["pid"], *kids} & pids(brood.living())
    assert await other("list") == []
    await other.close()


async def test_R09_one_that_ends_with_its_tmux_session_is_over_at_once_and_the_log_says_why(desk, monkeypatch):
    monkeypatch.setattr("covey.fleet.HANG_UP", 60.0)  # however long it takes it to heed the hang-up
    await desk.standin("one")
    desk.tmux("kill-session", "-t", f"=covey-{(await desk('get', name='one'))['id']}")
    await desk.until(lambda: [each for each in desk.events if each["event"] == "Gone"])
    assert [each for each in desk.events if each["event"] == "Lost"] == []
    assert (await desk("log", name="one"))[-1]["words"] == "closed outside covey; 0 processes"


async def test_staged_files_that_nobody_knows_are_removed_and_young_ones_are_not(desk):
    session = await desk("open", name="one", cmd=["sleep", "1000"], env={"A": "secret"})
    files = desk.front.helper.place.files
    for name in ("abcdefg2.start.1", "0123456789abcdef", "abcdefg3.half.A"):
        files.stage(name, b"x")
    for name in ("abcdefg2.start.1", "0123456789abcdef", f"{session['id']}.half.A"):
        os.utime(files.directory / name, (1, 1))
    locks = desk.front.helper.kit.lanes
    for name in ("abcdefg2", "fleet", "worktrees"):
        (locks / f"{name}.lock").touch()
    await desk.front.helper.keeper.leftovers.tidy(desk.front.helper.fleet.panes)
    assert {path.stem for path in locks.iterdir()} - {session["id"]} == {"fleet", "worktrees"}
    assert set(files.of("")) == {"abcdefg3.half.A", f"{session['id']}.half.A"}


async def test_files_of_a_session_that_tmux_has_stay_whatever_is_written(desk):
    session = await desk("open", name="one", cmd=["sleep", "1000"], env={"A": "secret"})
    helper = desk.front.helper
    os.utime(helper.place.files.directory / f"{session['id']}.half.A", (1, 1))
    with helper.store.transaction() as db:
        db.execute("DELETE FROM sessions")
    await helper.keeper.leftovers.tidy(helper.fleet.panes)
    assert helper.place.files.of(session["id"]) == [f"{session['id']}.half.A"]


async def test_nothing_of_a_session_is_left_in_the_directories_once_it_is_over(desk):
    session = await desk.standin("one", env={"A": "secret"})
    await desk("send", name="one", text="hello")
    await desk("kill", name="one")
    assert [str(path) for path in desk.world.root.rglob(f"*{session['id']}*")] == []
