"""How agents end: by themselves, by a person, behind our back; seen at once, and rightly."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from covey import restart
from covey.tmux import panes
from desk import Desk
from waiting import eventually

SIGNALS = [signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGUSR1, signal.SIGABRT]


async def test_every_exit_code_is_seen_and_right(desk):
    codes = [0, 1, 2, 3, 42, 126, 127, 128, 137, 200, 254, 255]
    for code in codes:
        await desk("open", name=f"c{code}", cmd=[sys.executable, "-S", "-c", f"raise SystemExit({code})"])
    for code in codes:
        session = await desk.state(f"c{code}", "exited")
        assert session["exit"] == {"code": code, "signal": None}


@pytest.mark.parametrize("number", SIGNALS, ids=lambda n: n.name)
async def test_every_signal_is_seen_and_right(desk, number):
    session = await desk("open", name="one", cmd=["sleep", "1000"])
    await desk.until(lambda: "sleep" in desk.tmux("list-panes", "-a", "-F", "#{pane_current_command}"))
    os.kill(session["pid"], number)
    ended = await desk.state("one", "exited")
    assert ended["exit"] == {"code": None, "signal": int(number)}


async def test_a_death_behind_our_back_is_told_without_asking(desk):
    session = await desk.standin("one")
    os.kill(session["pid"], signal.SIGKILL)
    (event,) = await desk.until(lambda: [e for e in desk.events if e["event"] == "Exited"])
    assert event["data"]["exit"] == {"code": None, "signal": 9}


async def test_a_respawn_keeps_id_name_and_pane_and_drops_what_was_meant_for_the_old_agent(desk):
    session = await desk.standin("one")
    await desk("send", name="one", text="ask first")
    await desk.state("one", "blocked")
    held = await desk("send", name="one", text="for the old one")
    again = await desk("respawn", name="one", force=True)
    assert [again[key] for key in ("id", "name", "pane", "epoch")] == [session["id"], "one", session["pane"], 2]
    assert again["pid"] != session["pid"]
    assert (await desk("wait", act=held["id"]))["outcome"] == "dropped"
    await desk.state("one", "idle")
    assert (await desk("send", name="one", text="for the new one"))["outcome"] == "submitted"
    assert desk.prompts("one") == ["ask first", "for the new one"]


async def test_an_agent_that_ends_while_its_respawn_is_still_under_way_is_told_of(desk, monkeypatch):
    session = await desk("open", name="one", cmd=["sh", "-c", "exit 7"])
    await desk.state("one", "exited")
    helper = desk.front.helper
    drop = helper.outbox.drop_older

    def late(*args):
        seen = helper.fleet.views
        eventually(lambda: (seen[session["id"]].epoch, seen[session["id"]].state) == (2, "exited"))
        return drop(*args)

    monkeypatch.setattr(helper.outbox, "drop_older", late)
    monkeypatch.setattr("covey.helper.SAFETY_PAUSE", 3600.0)  # no look comes without a cause
    await desk("respawn", name="one")
    await desk.until(lambda: [e for e in desk.events if e["event"] == "Exited" and e["data"]["epoch"] == 2])


async def test_a_living_agent_is_respawned_only_by_force(desk):
    await desk.standin("one")
    with pytest.raises(Exception, match="still running"):
        await desk("respawn", name="one")


async def test_R09_a_kill_ends_what_ignores_it_and_says_what_it_ended(desk):
    script = 'trap "" HUP TERM; (trap "" HUP TERM; exec sleep 4243) & setsid sleep 4244 & sleep 4245'
    session = await desk("open", name="one", cmd=["sh", "-c", script])
    table = desk.front.helper.place.processes
    await desk.until(lambda: len(table.snapshot().tree(session["pid"])) == 4)
    tree = [each.identity for each in table.snapshot().tree(session["pid"])]
    killed = await desk("kill", name="one")
    assert killed["survivors"] == []
    assert len(killed["ended"]) >= 4
    assert [each for each in tree if table.alive(each)] == []


def two_sleepers(tree):
    return tree if [each.command for each in tree] == ["sleep", "sleep"] else None


async def test_R01_orphans_of_a_dead_agent_are_ended_with_its_session(desk):
    session = await desk("open", name="one", cmd=["sh", "-c", "setsid sleep 4246 & exec sleep 4247"])
    table = desk.front.helper.place.processes
    tree = await desk.until(lambda: two_sleepers(table.snapshot().tree(session["pid"])))
    orphan = next(each for each in tree if each.pid != session["pid"])
    os.kill(session["pid"], signal.SIGKILL)
    await desk.state("one", "exited")
    assert table.alive(orphan.identity)
    await desk("kill", name="one")
    assert table.alive(orphan.identity) is False


async def test_a_reap_ends_what_exited_and_nothing_that_lives(desk):
    await desk.standin("lives")
    await desk("open", name="dead", cmd=["false"])
    await desk("open", name="kept", cmd=["false"])
    await desk.state("dead", "exited")
    await desk.state("kept", "exited")
    await desk("keep", name="kept")
    dry = await desk("reap")
    assert [(each["name"], each["act"]) for each in dry["decisions"]] == [("dead", "end")]
    assert len(await desk("list")) == 3
    done = await desk("reap", yes=True)
    assert [each["name"] for each in done["ended"]] == ["dead"]
    assert {each["name"] for each in await desk("list")} == {"lives", "kept"}


async def test_more_than_the_cap_of_settled_sessions_close_oldest_first(desk):
    for number in range(10):
        await desk("open", name=f"s{number}", cmd=["true"])
        await desk.state(f"s{number}", "exited")
        await desk("settle", name=f"s{number}")
    assert [each["name"] for each in await desk("list")] == [f"s{number}" for number in range(2, 10)]
    assert [e["data"]["name"] for e in desk.events if e["event"] == "Reaped"] == ["s0", "s1"]


async def test_prompts_of_a_killed_session_are_undelivered_not_lost(desk):
    await desk.standin("one")
    await desk("send", name="one", text="ask first")
    await desk.state("one", "blocked")
    held = await desk("send", name="one", text="never typed")
    await desk("kill", name="one")
    assert (await desk("wait", act=held["id"]))["outcome"] == "undelivered"


async def test_at_the_last_sessions_end_the_server_ends_too(desk):
    await desk.standin("one")
    pid = int(desk.tmux("display-message", "-p", "#{pid}"))
    await desk("kill", name="one")
    assert await desk.until(lambda: desk.front.helper.place.processes.identify(pid) is None)


async def test_an_interrupt_stops_the_work(desk):
    await desk.standin("one")
    await desk("send", name="one", text="work 1000")
    await desk.state("one", "working")
    waiting = asyncio.create_task(desk("send", name="one", text="after it"))
    await desk("interrupt", name="one")
    await desk.shows("one", "Interrupted")
    assert (await desk("wait", act=(await waiting)["id"]))["outcome"] == "submitted"


async def test_R08_an_agent_that_fails_is_started_again_in_place(desk):
    first = await desk("open", name="one", cmd=["false"], restart="on_failure")
    exits = await desk.until(lambda: [e["data"] for e in desk.events if e["event"] == "Exited"][2:])
    assert [(e["epoch"], e["exit"]["code"], e["pane"]) for e in exits[:1]] == [(3, 1, first["pane"])]


async def test_R08_a_clean_exit_is_no_crash(desk):
    await desk("open", name="one", cmd=["true"], restart="on_failure")
    notices = await desk.until(lambda: [e["data"] for e in desk.events if e["event"] == "Notice"])
    assert "clean exit" in notices[0]["message"]
    assert (await desk("get", name="one"))["epoch"] == 1


async def test_R08_what_a_person_killed_does_not_come_back(desk):
    await desk.standin("one", restart="always")
    await desk("kill", name="one")
    await desk.standin("two")
    assert [each["name"] for each in await desk("list")] == ["two"]


async def test_a_run_settles_itself_when_its_agent_has_finished(desk):
    argv = ["{python}", "-m", "covey.standin", "--work", "0.3"]
    session = await desk("run", name="task", agent="standin", cmd=argv, prompt="do it")
    assert session["receipt"]["outcome"] in ("queued", "held")

    async def settled():
        return (await desk("get", name="task"))["settled"]

    await desk.until(settled)
    assert (await desk("get", name="task"))["state"] == "idle"
    assert [each["act"] for each in (await desk("reap"))["decisions"]] == ["end"]
    await desk("send", name="task", text="one more thing")
    assert not (await desk("get", name="task"))["settled"] or (await desk("log", name="task"))


async def test_an_errand_under_way_does_not_outlive_its_helper(desk, monkeypatch):
    """It would take up the wire again that was just put down."""
    session = await desk.standin("one")
    helper = desk.front.helper
    monkeypatch.setattr(helper.fleet.lock, "_timeout", 3600.0)  # it waits for as long as we let it
    async with helper.fleet.lock:
        helper._errand(helper.keeper.change(session["id"], settled=True))
        await desk.close()
    assert not helper._errands
    assert not helper.place.wire.connected


async def test_the_log_tells_what_was_sent_and_how_it_ended(desk):
    await desk.standin("one")
    await desk("send", name="one", text="first\nsecond line")
    await desk("send", name="one", text="/exit 3", raw=True)
    await desk.state("one", "exited")
    log = await desk("log", name="one")
    assert [each["kind"] for each in log][:4] == ["opened", "send", "submitted", "send"]
    assert log[1]["data"]["text"] == "first\nsecond line"
    (exited,) = [each for each in log[4:] if each["kind"] == "exited"]  # beside what became of the second prompt
    assert (exited["data"]["code"], log[1]["data"]["outcome"]) == (3, "submitted")
    await desk("delete", name="one")
    assert "second line" not in str(await desk("list"))
    assert desk.front.helper.store.rows("SELECT * FROM tickets") == []


async def test_a_kill_tells_of_no_exit(desk):
    await desk.standin("one")
    await desk("kill", name="one")
    told = [each["event"] for each in desk.events if each["event"] in ("Exited", "Gone")]
    assert told == ["Gone"]


async def test_an_exit_that_two_helpers_see_is_one_line_of_the_log(desk):
    other = await Desk(desk.world).start()
    try:
        for number in range(5):
            await desk("open", name=f"s{number}", cmd=["sleep", "1000"])
        await other("list")
        for session in await desk("list"):
            os.kill(session["pid"], signal.SIGKILL)
        for helper in (desk, other):
            await helper.until(lambda helper=helper: len({e["session"] for e in exits(helper)}) == 5)
        for number in range(5):
            kinds = [each["kind"] for each in await desk("log", name=f"s{number}")]
            assert kinds == ["opened", "exited"]
    finally:
        await other.close()


def exits(desk):
    return [each for each in desk.events if each["event"] == "Exited"]


@pytest.fixture
async def other(desk):
    """A second helper, which looks only when it is told to."""
    second = await Desk(desk.world).start()
    second.front.helper._loop.cancel()
    yield second
    await second.close()


def gone(desk):
    return [each["data"]["reason"] for each in desk.events if each["event"] == "Gone"]


async def test_a_helper_that_misses_a_session_finds_why_it_ended(desk, other, monkeypatch):
    session = await desk.standin("one")
    await other("list")
    real = panes.kill

    async def watched(server, pane):
        await real(server, pane)
        await other("list")

    monkeypatch.setattr(panes, "kill", watched)
    await desk("kill", name="one")
    assert (gone(desk), gone(other)) == (["killed"], ["killed"])
    assert desk.front.helper.store.session(session["id"]).ended_reason == "killed"


async def test_a_look_while_a_session_is_being_ended_does_not_call_it_back(desk, other, monkeypatch):
    session = await desk.standin("one")
    real = panes.kill

    async def watched(server, pane):
        await other("list")
        await real(server, pane)

    monkeypatch.setattr(panes, "kill", watched)
    await desk("kill", name="one")
    assert [each["kind"] for each in await desk("log", name=session["id"])].count("ended") == 1


@pytest.mark.parametrize("moment", ["before", "in the middle"])
async def test_the_slower_of_two_who_kill_succeeds_too(desk, other, monkeypatch, moment):
    session = await desk.standin("one")
    await other("list")
    real, quicker = panes.kill, []

    async def overtaken(server, pane):
        if not quicker:
            quicker.append(True)
            await desk("kill", name="one")
        await real(server, pane)

    if moment == "before":
        await desk("kill", name="one")
    else:
        monkeypatch.setattr(panes, "kill", overtaken)
    assert (await other.front.helper.keeper.kill(session["id"])).survivors == []
    kinds = [each["kind"] for each in await desk("log", name=session["id"])]
    assert (kinds.count("ended"), gone(desk), gone(other)) == (1, ["killed"], ["killed"])


@pytest.fixture
async def unseen(desk):
    """A session of that name and policy whose agent ended while nobody ran; another helper may have written it down."""

    async def unseen(name, argv, restart, *, noted):
        await desk("open", name=name, cmd=argv, restart=restart)
        await desk.close()
        await desk.until(lambda: desk.tmux("list-panes", "-a", "-f", "#{pane_dead}", "-F", "#{pane_id}"))
        if noted:
            looks_in = await Desk(desk.world).start()
            assert (await looks_in("get", name=name))["state"] == "exited"
            await looks_in.close()

    return unseen


@pytest.mark.parametrize("noted", [False, True], ids=["unseen", "noted"])
@pytest.mark.parametrize("restart", ["always", "on_failure"])
async def test_R08_what_ended_before_a_helper_came_is_started_again_by_the_rule(world, unseen, restart, noted):
    flag = world.tmp / "again"
    await unseen("one", ["sh", "-c", f"test -e {flag} && exec sleep 1000; sleep 0.2; exit 3"], restart, noted=noted)
    flag.touch()
    late = await Desk(world).start()
    again = await late.until(lambda: _at(late, "one", 2), message="it was started again")
    assert again["pid"]
    await late.until(lambda: _logged(late, "one", "restarted"))
    await late.close()


async def _at(desk, name, epoch):
    found = await desk("get", name=name)
    return found if found["epoch"] == epoch and found["state"] != "exited" else None


async def _logged(desk, name, kind):
    return [each for each in await desk("log", name=name) if each["kind"] == kind]


@pytest.fixture
def hasty(monkeypatch):
    """Agents are started again at once: five ends fall into the time of a crash loop on any machine."""
    monkeypatch.setattr(restart, "FIRST_DELAY", 0.01)


@pytest.mark.usefixtures("hasty")
async def test_R08_a_crash_loop_stays_ended_whoever_looks(world, desk):
    await desk("open", name="one", cmd=["false"], restart="always")
    await desk.until(
        lambda: [e for e in desk.events if e["event"] == "Notice" and "crash loop" in e["data"]["message"]]
    )
    await desk.close()
    late = await Desk(world).start()
    await asyncio.gather(*late.front.helper.revival._tasks)
    assert [each for each in late.events if each["event"] == "Notice"] == []
    assert (await late("get", name="one"))["epoch"] == 5
    await late.close()


@pytest.mark.usefixtures("hasty")
async def test_R08_a_start_by_hand_counts_anew_for_every_helper(world, desk):
    await desk("open", name="one", cmd=["false"], restart="always")
    await desk.until(lambda: [e for e in desk.events if e["event"] == "Notice"])
    other = await Desk(world).start()
    await other("respawn", name="one")
    await desk.until(lambda: _at_least(desk, "one", 8), message="it is started again by itself")
    await other.close()


async def _at_least(desk, name, epoch):
    return (await desk("get", name=name))["epoch"] >= epoch
