"""lane.py: one holder at a time on this machine; free the moment it dies; named when it does not let go."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest

from covey.errors import LaneBusy, Unavailable
from covey.lane import FLEET, Lane
from covey.models import Identity
from covey.outbox import Outbox
from covey.store import Store
from offspring import offspring
from waiting import eventually

LONG = 30.0  # seconds; only ever used up by a failure
SHORT = 0.05
CHILD = """
import asyncio, os, sys
from pathlib import Path
from covey.lane import Lane
from covey.models import Identity
directory = Path(sys.argv[1])
me = Identity(os.getpid(), 5, "here")
def say(*words):
    print(*words, flush=True)
"""
HOLD = """
async def hold():
    async with Lane(directory, "aaaabbbb", me=me):
        say("held")
        sys.stdin.readline()
    say("free")
    sys.stdin.readline()
asyncio.run(hold())
"""


@pytest.fixture
def child(tmp_path):
    """Start Python with a lane's things at hand; what is still running at the end is ended."""
    with offspring(CHILD, tmp_path) as start:
        yield start


@pytest.fixture
def holder(child):
    """A process that holds the lane of ``aaaabbbb`` until it reads a line."""
    process = child(HOLD)
    assert process.stdout.readline() == "held\n"
    return process


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def lane(directory: Path, timeout: float = LONG, **more) -> Lane:
    return Lane(directory, "aaaabbbb", timeout=timeout, **more)


async def test_held_in_the_block_and_free_after_it(tmp_path):
    async with lane(tmp_path):
        with pytest.raises(LaneBusy):
            async with lane(tmp_path, SHORT):
                pass
    async with lane(tmp_path, 0):
        pass


async def test_free_after_a_block_that_fails(tmp_path):
    with pytest.raises(ZeroDivisionError):
        async with lane(tmp_path):
            raise ZeroDivisionError
    async with lane(tmp_path, 0):
        pass


async def test_each_session_and_the_fleet_have_their_own(tmp_path):
    async with lane(tmp_path), Lane(tmp_path, "ccccdddd", timeout=0), Lane(tmp_path, FLEET, timeout=0):
        with pytest.raises(LaneBusy, match="The fleet"):
            async with Lane(tmp_path, FLEET, timeout=SHORT):
                pass


async def test_one_lane_serves_many_tasks_first_come_first_served(tmp_path):
    shared, order, inside = lane(tmp_path), [], 0

    async def act(number):
        nonlocal inside
        async with shared if number % 2 else lane(tmp_path):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            order.append(number)
            inside -= 1

    await asyncio.gather(*(act(number) for number in range(50)))
    assert order == list(range(50))


async def test_the_file_is_private_and_not_left_to_children(tmp_path):
    before = os.umask(0)
    try:
        async with lane(tmp_path) as held:
            assert held.path.stat().st_mode & 0o777 == 0o600
            assert not os.get_inheritable(held._handle)
    finally:
        os.umask(before)
    assert held.path.read_bytes() == b""


async def test_a_link_in_its_place_is_refused_and_left_alone(tmp_path):
    target = tmp_path / "precious"
    target.write_text("mine")
    lane(tmp_path).path.symlink_to(target)
    with pytest.raises(Unavailable, match="cannot be opened"):
        async with lane(tmp_path):
            pass
    assert target.read_text() == "mine"
    lane(tmp_path).path.unlink()
    async with lane(tmp_path, 0):
        pass


async def test_a_missing_directory_is_one_sentence(tmp_path):
    with pytest.raises(Unavailable, match="No such file") as caught:
        async with lane(tmp_path / "gone"):
            pass
    assert str(tmp_path / "gone") in caught.value.hint


async def test_waiting_does_not_stop_the_loop(tmp_path, holder):
    waiting, turns = asyncio.create_task(lane(tmp_path).__aenter__()), 0
    while turns < 100:
        await asyncio.sleep(0)
        turns += 1
    assert not waiting.done()
    holder.stdin.write("let go\n")
    holder.stdin.flush()
    held = await waiting
    await held.__aexit__()


async def test_who_is_cancelled_while_waiting_leaves_nothing_behind(tmp_path, holder):
    in_kernel = asyncio.create_task(lane(tmp_path).__aenter__())
    at_gate = asyncio.create_task(lane(tmp_path).__aenter__())
    for _ in range(3):
        await asyncio.sleep(0)
    descriptors = open_files()
    for task in (at_gate, in_kernel):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert open_files() <= descriptors
    holder.kill()
    holder.wait()
    async with lane(tmp_path, 0):
        pass


async def test_who_waits_behind_one_that_gives_up_gets_its_turn(tmp_path, holder):
    with pytest.raises(LaneBusy):
        async with lane(tmp_path, SHORT):
            pass
    waiting = asyncio.create_task(lane(tmp_path).__aenter__())
    await asyncio.sleep(0)
    holder.kill()
    holder.wait()
    await (await waiting).__aexit__()


async def test_P02_a_killed_holder_frees_it_at_once(tmp_path, holder):
    with pytest.raises(LaneBusy):
        async with lane(tmp_path, 0):
            pass
    holder.kill()
    holder.wait()
    async with lane(tmp_path, 0):
        pass


async def test_P02_a_stopped_holder_is_named_and_keeps_it(tmp_path, holder):
    holder.send_signal(signal.SIGSTOP)
    await asyncio.to_thread(os.waitid, os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
    asked = []

    def alive(identity):
        asked.append(identity)
        return True

    for _ in range(2):
        with pytest.raises(LaneBusy, match=f"aaaabbbb.*process {holder.pid}$") as caught:
            async with lane(tmp_path, SHORT, alive=alive):
                pass
    assert asked[0] == Identity(holder.pid, 5, "here")
    assert caught.value.code == "busy"
    assert "CONT" in caught.value.hint
    holder.send_signal(signal.SIGCONT)
    holder.stdin.write("let go\n")
    holder.stdin.flush()
    assert await asyncio.to_thread(holder.stdout.readline) == "free\n"
    async with lane(tmp_path, 0):
        pass


@pytest.mark.parametrize(("verdict", "named"), [(True, True), (None, True), (False, False)])
async def test_a_holder_is_named_unless_it_is_known_to_be_gone(tmp_path, holder, verdict, named):
    with pytest.raises(LaneBusy) as caught:
        async with lane(tmp_path, 0, alive=lambda _: verdict):
            pass
    assert (str(holder.pid) in caught.value.message) is named


@pytest.mark.parametrize("content", [b"", b"garbage", b"[1]", b"null", b'{"pid": "x"}', b"\xff" * 5000])
async def test_a_holder_that_left_no_name_is_no_error(tmp_path, holder, content):
    lane(tmp_path).path.write_bytes(content)
    with pytest.raises(LaneBusy, match="has not left its name"):
        async with lane(tmp_path, 0):
            pass


async def test_P02_a_process_that_waits_for_itself_is_told_so(tmp_path):
    me = Identity(os.getpid(), 5, "here")
    async with lane(tmp_path, me=me):
        with pytest.raises(LaneBusy, match="this very process"):
            async with lane(tmp_path, SHORT, me=me):
                pass


class Swept(Lane):
    """A lane whose file is removed between opening and locking it, by a sweep of old files."""

    sweeps = 1

    def _open(self):
        handle = super()._open()
        if self.sweeps:
            self.path.unlink()
            self.sweeps -= 1
        return handle


async def test_a_lock_on_a_file_that_was_swept_away_is_not_trusted(tmp_path):
    async with Swept(tmp_path, "aaaabbbb", timeout=LONG) as held:
        assert os.path.samestat(os.fstat(held._handle), held.path.stat())
        with pytest.raises(LaneBusy):
            async with lane(tmp_path, 0):
                pass


def test_two_loops_one_after_the_other(tmp_path):
    async def once():
        async with lane(tmp_path, 0):
            await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))

    for _ in range(2):
        asyncio.run(once())


def test_two_loops_at_the_same_time(tmp_path):
    inside, most, failed = [], [], []

    async def act():
        async with lane(tmp_path):
            inside.append(1)
            most.append(len(inside))
            await asyncio.sleep(0)
            inside.pop()

    async def many():
        await asyncio.gather(*(act() for _ in range(20)))

    def run():
        try:
            asyncio.run(many())
        except RuntimeError as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert most == [1] * 40


async def test_a_child_that_is_forked_meanwhile_does_not_keep_it(tmp_path, child):
    forking = child("""
import signal
async def hold():
    async with Lane(directory, "aaaabbbb"):
        forked = os.fork()
        if not forked:
            signal.pause()
    say(forked)
    sys.stdin.readline()
asyncio.run(hold())
""")
    forked = int(await asyncio.to_thread(forking.stdout.readline))
    try:
        async with lane(tmp_path, 0):
            pass
    finally:
        os.kill(forked, signal.SIGKILL)


def test_P01_acts_of_twenty_processes_never_interleave(tmp_path, child):
    code = """
async def acts():
    for number in range(10):
        async with Lane(directory, "aaaabbbb", timeout=50):
            for part in range(5):
                with open(directory / "typed", "a") as file:
                    file.write(f"{sys.argv[2]} {number} {part}\\n")
                await asyncio.sleep(0)
say("ready")
sys.stdin.readline()
asyncio.run(acts())
"""
    writers = [child(code, f"w{number}") for number in range(20)]
    for process in writers:
        assert process.stdout.readline() == "ready\n"
    for process in writers:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait() for process in writers] == [0] * 20
    typed = [line.split() for line in (tmp_path / "typed").read_text().splitlines()]
    assert len(typed) == 20 * 10 * 5
    for place in range(0, len(typed), 5):
        act = typed[place : place + 5]
        assert {tuple(line[:2]) for line in act} == {tuple(act[0][:2])}
        assert [line[2] for line in act] == list("01234")


DRAIN = """
from covey import database
from covey.outbox import Outbox
from covey.store import Store
database.BUSY_S = 60.0  # who is slow among many is not to fail
outbox = Outbox(Store(directory / "covey.db"), me)
async def drain(last):
    async with Lane(directory, "aaaabbbb", me=me, timeout=50):
        while (ticket := outbox.head("aaaabbbb")) is not None:
            if ticket.typer:  # we hold the lane: he who began it is gone
                outbox.settle(ticket.row, "unconfirmed")
                continue
            ticket = outbox.typing(ticket.row)
            with open(directory / "typed", "a") as file:
                file.write(f"{ticket.row} {ticket.text}\\n")
            outbox.settle(ticket.row, "submitted")
async def acts():
    for number in range(5):
        outbox.put(f"{sys.argv[2]}-{number}", "aaaabbbb", 1, "send", f"{sys.argv[2]} {number}", {}, me)
        await drain(number)
say("ready")
sys.stdin.readline()
asyncio.run(acts())
"""


def test_P01_twenty_writers_on_one_lane_type_in_the_order_of_their_tickets(tmp_path, child):
    writers = [child(DRAIN, f"w{number}") for number in range(20)]
    for process in writers:
        assert process.stdout.readline() == "ready\n"
    for process in writers:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait() for process in writers] == [0] * 20
    typed = [line.split() for line in (tmp_path / "typed").read_text().splitlines()]
    assert [int(row) for row, *_ in typed] == list(range(1, 101))
    for writer in range(20):
        assert [number for _, name, number in typed if name == f"w{writer}"] == list("01234")


def test_P02_writers_that_are_killed_in_between_lose_and_double_nothing(tmp_path, child):
    """Each victim is killed when its first line shows in the file, so while it holds the lane or just after."""
    writers = [child(DRAIN, f"w{number}") for number in range(6)]
    for process in writers:
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("go\n")
        process.stdin.flush()
    typed = tmp_path / "typed"
    eventually(typed.exists)
    for number, process in enumerate(writers[:3]):
        eventually(lambda name=f" w{number} ": name in typed.read_text())
        process.kill()
    assert [process.wait() for process in writers[3:]] == [0, 0, 0]
    last = child(DRAIN, "last")
    assert last.stdout.readline() == "ready\n"
    last.stdin.write("go\n")
    last.stdin.flush()
    assert last.wait() == 0
    check_truth(tmp_path)


def check_truth(directory: Path) -> None:
    store = Store(directory / "covey.db")
    found = store.rows("SELECT row, outcome FROM tickets")
    typed = [int(line.split()[0]) for line in (directory / "typed").read_text().splitlines()]
    assert typed == sorted(set(typed))
    assert {row["outcome"] for row in found} <= {"submitted", "unconfirmed"}
    assert {row["row"] for row in found if row["outcome"] == "submitted"} <= set(typed)
    assert Outbox(store, Identity(1, 1, "")).pending("aaaabbbb") == []
    store.close()
