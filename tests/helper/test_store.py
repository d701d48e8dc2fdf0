"""store.py: what is written is on disk, whoever else writes; what cannot be read is never written over."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from covey import paths
from covey.errors import StoreBroken, Unavailable
from covey.models import Identity, Spec
from covey.schema import VERSION
from covey.store import Store
from offspring import offspring

CHILD = """
import sys
from pathlib import Path
from covey import database
from covey.models import Spec
from covey.store import Store
database.BUSY_S = 60.0  # who is slow among many is not to fail
store = Store(Path(sys.argv[1]))
"""


def spec(session: str = "aaaabbbb", name: str = "one", **more) -> Spec:
    return Spec(id=session, name=name, agent="shell", argv=("sh",), cwd="/", created="2026-01-01T00:00:00.000Z", **more)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "state" / "covey.db"


@pytest.fixture
def store(path):
    opened = Store(path)
    yield opened
    opened.close()


@pytest.fixture
def child(path):
    """Start Python with the store open as ``store``; what is still running at the end is ended."""
    with offspring(CHILD, path) as start:
        yield start


def fill(path: Path) -> None:
    """Make a store of many pages, closed, with its log merged into it."""
    store = Store(path)
    for number in range(40):
        store.save_session(spec(f"session{number}", f"name {number}"), 1)
        store.log(f"session{number}", "note", {"text": "x" * 3000})
    store.close()
    assert not path.with_name("covey.db-wal").exists()


# Sessions


def test_a_session_comes_back_as_it_was_saved(store):
    full = spec(env={"A": "env:B"}, unset=("C",), owner=Identity(1, 2, "here"), keep=True, options={"k": "v"})
    store.save_session(full, 3)
    record = store.session(full.id)
    assert (record.spec, record.epoch, record.state, record.server, record.pane) == (full, 3, {}, None, "")
    assert (record.ended_at, record.ended_reason) == ("", "")
    assert store.session("nonesuch") is None


def test_what_was_last_seen_is_kept_beside_it(store):
    store.save_session(spec(), 1)
    store.note_session("aaaabbbb", state={"state": "idle"}, server=Identity(7, 8, "h"), pane="%3")
    store.save_session(spec(name="two"), 1)
    record = store.session("aaaabbbb")
    assert (record.state, record.server, record.pane) == ({"state": "idle"}, Identity(7, 8, "h"), "%3")
    assert (record.spec.name, record.epoch) == ("two", 1)


def test_what_was_seen_of_one_start_is_not_true_of_the_next(store):
    store.save_session(spec(), 1)
    store.note_session("aaaabbbb", state={"state": "exited"}, server=Identity(7, 8, "h"), pane="%3")
    store.save_session(spec(), 2)
    assert store.session("aaaabbbb").state == {}


def test_an_older_epoch_changes_nothing(store):
    store.save_session(spec(name="new"), 5)
    store.save_session(spec(name="old"), 4)
    assert (store.session("aaaabbbb").spec.name, store.session("aaaabbbb").epoch) == ("new", 5)


def test_an_ended_session_is_out_of_the_live_ones_and_keeps_its_first_reason(store):
    store.save_session(spec("aaaaaaaa", "a"), 1)
    store.save_session(spec("bbbbbbbb", "b"), 1)
    store.end_session("aaaaaaaa", "reaped")
    store.end_session("aaaaaaaa", "closed outside")
    assert [record.spec.id for record in store.sessions()] == ["bbbbbbbb"]
    assert [record.spec.id for record in store.sessions(live=False)] == ["aaaaaaaa", "bbbbbbbb"]
    assert store.session("aaaaaaaa").ended_reason == "reaped"
    assert store.session("aaaaaaaa").ended_at.endswith("Z")


def test_a_session_that_tmux_shows_alive_lives_again(store):
    store.save_session(spec(), 1)
    store.end_session("aaaabbbb", "closed outside")
    store.save_session(spec(), 1)
    assert store.session("aaaabbbb").ended_at == ""


@pytest.mark.parametrize(
    "name", ["one", "caf\u00e9", "cafe\u0301", "\U0001f426 \u0645\u0631\u062d\u0628\u0627", "\udcff", "a'b\"c%"]
)
def test_a_name_is_kept_as_it_was_given(store, name):
    store.save_session(spec(name=name), 1)
    assert store.session("aaaabbbb").spec.name == name


# The fleet and the log


def test_fleet_values_are_json_and_the_last_one_counts(store):
    assert store.get("socket") is None
    for value in ("/run/s", {"pid": 1}, None, [1, "\udc80"]):
        store.put("socket", value)
        assert store.get("socket") == value


def test_its_version_is_another_once_anybody_wrote(store, path):
    other = Store(path)
    first = store.version()
    assert store.version() == first
    other.put("key", 1)
    second = store.version()
    store.put("key", 2)
    assert len({first, second, store.version()}) == 3
    other.close()


def test_history_gives_the_last_entries_oldest_first(store):
    for number in range(5):
        store.log("s", "sent", {"n": number})
    store.log("other", "sent", {"n": 9})
    found = store.history("s", 3)
    assert [entry["data"]["n"] for entry in found] == [2, 3, 4]
    assert set(found[0]) == {"session", "at", "kind", "data"}


def test_purge_takes_what_is_old_and_leaves_no_trace_of_it_on_disk(store, path):
    store.log("s", "sent", {"text": "very private words"})
    store.save_session(spec(), 1)
    store.end_session("aaaabbbb", "gone")
    store.save_session(spec("bbbbbbbb"), 1)
    assert store.purge() == 0
    assert len(store.history("s")) == 1
    assert store.purge(older_than_days=-1) == 2
    assert store.history("s") == []
    assert [record.spec.id for record in store.sessions(live=False)] == ["bbbbbbbb"]
    on_disk = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"very private" not in on_disk


# The file


def test_E06_files_and_directory_are_private_whatever_the_umask(path):
    before = os.umask(0)
    try:
        store = Store(path)
        store.put("a", 1)
    finally:
        os.umask(before)
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {"covey.db": 0o600, "covey.db-wal": 0o600, "covey.db-shm": 0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    store.close()


def test_E06_a_file_of_ours_that_is_open_or_unreadable_is_made_private(path):
    fill(path)
    for mode in (0o644, 0o000):
        path.chmod(mode)
        store = Store(path)
        assert len(store.sessions()) == 40
        assert path.stat().st_mode & 0o777 == 0o600
        store.close()


def test_E06_a_link_in_its_place_is_refused_and_left_alone(path, tmp_path):
    path.parent.mkdir(mode=0o700)
    target = tmp_path / "precious"
    target.write_text("mine")
    target.chmod(0o644)
    path.symlink_to(target)
    with pytest.raises(Unavailable, match=str(path)):
        Store(path)
    assert target.read_text() == "mine"
    assert target.stat().st_mode & 0o777 == 0o644


def test_it_writes_ahead_and_waits_for_the_disk(store):
    assert store.rows("PRAGMA journal_mode")[0][0] == "wal"
    assert store.rows("PRAGMA synchronous")[0][0] == 2
    assert store.rows("PRAGMA busy_timeout")[0][0] == 5000


def test_a_block_that_fails_leaves_nothing_behind(store):
    def fail():
        with store.transaction() as db:
            db.execute("INSERT INTO fleet VALUES ('a', '1')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.get("a") is None
    store.put("a", 2)
    assert store.get("a") == 2


def test_a_bug_in_a_query_sets_nothing_aside(store, path):
    with pytest.raises(StoreBroken, match="no such table") as caught:
        store.rows("SELECT * FROM nonesuch")
    assert caught.value.aside == ""
    with pytest.raises(sqlite3.ProgrammingError):
        store.rows("SELECT ?", ())
    assert [file.name for file in path.parent.iterdir() if "broken" in file.name] == []


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "cifs", "9p"])
def test_a_network_file_system_is_refused_in_one_sentence(path, tmp_path, monkeypatch, kind):
    path.parent.mkdir(mode=0o700)
    device = path.parent.stat().st_dev
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(paths, "MOUNTS", mounts)
    line = "36 35 {}:{} / /home/a\\040b rw,noatime shared:1 - {} server:/home rw\n"
    mounts.write_text(line.format(os.major(device), os.minor(device) + 1, kind) + line.format(250, 1, "ext4"))
    Store(path).close()
    mounts.write_text(line.format(os.major(device), os.minor(device), kind))
    with pytest.raises(StoreBroken, match=f"network file system .{kind}") as caught:
        Store(path)
    assert "XDG_STATE_HOME" in caught.value.hint


# Damage


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def garble(path):
    path.write_bytes(b"{ this is no database" * 400)


def scratch(path):
    """Overwrite the middle: the beginning still looks right."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 8192))


@pytest.mark.parametrize("damage", [truncate, garble, scratch])
def test_P04_a_damaged_file_is_set_aside_whole_and_both_paths_are_named(path, damage):
    fill(path)
    damage(path)
    content = path.read_bytes()
    with pytest.raises(StoreBroken) as caught:
        Store(path).sessions()
    aside = Path(caught.value.aside)
    assert aside.read_bytes() == content
    assert str(path) in caught.value.message
    assert str(aside) in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.path == str(path)
    assert not path.exists()
    fresh = Store(path)
    assert fresh.sessions() == []
    fresh.put("a", 1)
    fresh.close()
    assert aside.read_bytes() == content


def test_P04_an_earlier_one_that_was_set_aside_stays(path):
    asides = []
    for number in range(3):
        fill(path)
        path.write_bytes(b"%d" % number * 5000)
        with pytest.raises(StoreBroken) as caught:
            Store(path)
        asides.append(caught.value.aside)
    assert [Path(aside).read_bytes()[:1] for aside in asides] == [b"0", b"1", b"2"]


def test_P04_what_was_in_the_log_goes_aside_with_it(path):
    fill(path)
    store = Store(path)
    store.put("late", "in the write-ahead log")
    scratch(path)
    with pytest.raises(StoreBroken) as caught:
        Store(path).sessions()
    assert Path(caught.value.aside + "-wal").stat().st_size > 0
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "covey.db.broken-1",
        "covey.db.broken-1-shm",
        "covey.db.broken-1-wal",
    ]
    assert store.get("late") is None
    store.put("late", "again")
    assert store.get("late") == "again"
    store.close()


def test_P04_what_a_killed_process_left_in_the_log_goes_aside_as_it_is(path, child):
    fill(path)
    process = child("store.put('late', 'x' * 100)\nprint('put', flush=True)\nsys.stdin.readline()")
    assert process.stdout.readline() == "put\n"
    process.kill()
    process.wait()
    scratch(path)
    left = {tail: Path(f"{path}{tail}").read_bytes() for tail in ("", "-wal")}
    assert left["-wal"]
    with pytest.raises(StoreBroken) as caught:
        Store(path).sessions()
    assert {tail: Path(f"{caught.value.aside}{tail}").read_bytes() for tail in left} == left


def test_P04_garbage_at_the_end_hurts_nothing(path):
    fill(path)
    with path.open("ab") as file:
        file.write(b"garbage" * 1000)
    store = Store(path)
    assert len(store.sessions()) == 40
    store.put("a", 1)
    store.close()
    again = Store(path)
    assert (again.get("a"), len(again.sessions())) == (1, 40)
    again.close()


def test_P04_a_file_of_a_newer_covey_is_refused_and_left_as_it_is(path):
    fill(path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'min_reader'", (VERSION + 1,))
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    content = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreBroken, match="newer covey") as caught:
            Store(path)
    assert caught.value.hint == "Update covey."
    assert caught.value.aside == ""
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["covey.db"]


def test_P04_a_file_that_a_newer_covey_takes_over_is_not_written_any_more(path):
    store = Store(path)
    store.put("a", 1)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'min_reader'", (VERSION + 1,))
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    for _ in range(2):
        with pytest.raises(StoreBroken, match="newer covey"):
            store.put("a", 2)
    assert db.execute("SELECT value FROM fleet WHERE key = 'a'").fetchone() == ("1",)
    db.close()
    store.close()


def test_a_newer_file_that_lets_us_read_is_used_and_stays_newer(path):
    fill(path)
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE sessions ADD COLUMN colour TEXT")
        db.execute(f"PRAGMA user_version = {VERSION + 7}")
    db.execute("PRAGMA journal_mode = DELETE")
    db.close()
    store = Store(path)
    store.save_session(spec("cccccccc"), 1)
    assert len(store.sessions()) == 41
    assert store.rows("PRAGMA user_version")[0][0] == VERSION + 7
    store.close()


def test_an_empty_file_is_a_new_store(path):
    path.parent.mkdir(mode=0o700)
    path.touch()
    store = Store(path)
    store.put("a", 1)
    assert store.get("a") == 1
    store.close()


def test_a_directory_in_its_place_is_refused(path):
    path.mkdir(parents=True)
    with pytest.raises(Unavailable, match=str(path)):
        Store(path)
    assert path.is_dir()


def test_a_store_that_was_removed_under_us_begins_afresh(store, path):
    store.put("a", 1)
    for file in path.parent.iterdir():
        file.unlink()
    store.put("b", 2)
    assert (store.get("a"), store.get("b")) == (None, 2)
    second = Store(path)
    assert second.get("b") == 2
    second.close()


def test_a_store_that_stays_locked_is_one_sentence(store, path, monkeypatch):
    monkeypatch.setattr("covey.database.BUSY_S", 0.01)
    other = Store(path)
    with store.transaction() as db:
        db.execute("INSERT INTO fleet VALUES ('a', '1')")
        with pytest.raises(StoreBroken, match="kept locked") as caught, other.transaction():
            pytest.fail("two hold the file for writing")
        assert other.get("a") is None
    assert caught.value.path == str(path)
    other.put("b", 2)
    other.close()


# Many at once


def test_P03_two_processes_write_200_times_each_while_a_third_reads(store, child):
    store.save_session(spec(), 1)
    writer = """
import dataclasses
for number in range(200):
    spec = store.session("aaaabbbb").spec
    store.save_session(dataclasses.replace(spec, name=f"{sys.argv[2]} {number} " + "y" * 500), 1)
    store.log("aaaabbbb", sys.argv[2], {"n": number})
store.close()
"""
    writers = [child(writer, name) for name in ("left", "right")]
    reads = 0
    while any(process.poll() is None for process in writers):
        assert store.session("aaaabbbb").spec.name.split()[-1] in ("one", "y" * 500)
        assert all(set(entry["data"]) == {"n"} for entry in store.history("aaaabbbb"))
        reads += 1
    assert [process.wait() for process in writers] == [0, 0]
    assert reads > 0
    found = store.history("aaaabbbb", 1000)
    for name in ("left", "right"):
        assert [entry["data"]["n"] for entry in found if entry["kind"] == name] == list(range(200))


def test_many_processes_that_open_a_new_store_at_once_all_get_it(path, child):
    code = """
print("ready", flush=True)
sys.stdin.readline()
Store(Path(sys.argv[1] + "2")).put(sys.argv[2], 1)
"""
    children = [child(code, str(number)) for number in range(8)]
    for process in children:
        assert process.stdout.readline() == "ready\n"
    for process in children:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait() for process in children] == [0] * 8
    store = Store(Path(f"{path}2"))
    assert [store.get(str(number)) for number in range(8)] == [1] * 8
    store.close()


def test_threads_share_one_store(store):
    def write(name):
        for number in range(50):
            store.log("s", name, {"n": number})

    threads = [threading.Thread(target=write, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.history("s", 1000)
    assert len(found) == 200
    for name in map(str, range(4)):
        assert [entry["data"]["n"] for entry in found if entry["kind"] == name] == list(range(50))


@pytest.mark.parametrize("winners", [2])
def test_P04_two_that_find_the_damage_at_once_set_it_aside_once(path, winners):
    fill(path)
    stores = [Store(path) for _ in range(winners)]
    scratch(path)
    found = []

    def look(store):
        try:
            found.append(store.sessions())
        except StoreBroken as error:
            found.append(error.aside)

    threads = [threading.Thread(target=look, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(path.parent.glob("*.broken-?"))) == 1
    assert sorted(map(bool, found)) == [False, True]
    for store in stores:
        assert store.sessions() == []
        store.close()


def test_a_killed_writer_leaves_all_or_nothing(store, child):
    code = """
number = 0
while True:
    with store.transaction() as db:
        for part in range(20):
            db.execute("INSERT INTO log (session, at, kind, data) VALUES ('s', '', 'k', '{}')")
    number += 1
    print(number, flush=True)
"""
    for _ in range(3):
        process = child(code)
        for _ in range(5):
            said = int(process.stdout.readline())
        process.kill()
        rest = process.communicate()[0].split()
        said = int(rest[-1]) if rest else said
        rows = store.rows("SELECT COUNT(*) FROM log")[0][0]
        assert rows % 20 == 0
        assert rows >= said * 20
        with store.transaction() as db:
            db.execute("DELETE FROM log")


@pytest.mark.parametrize("table", ["tickets", "sessions", "log", "fleet", "meta"])
def test_a_file_that_lacks_a_table_of_ours_says_what_to_do(store, path, table):
    store.close()
    with sqlite3.connect(path) as base:
        base.execute(f"DROP TABLE {table}")
    base.close()
    with pytest.raises(StoreBroken, match=f"no such table: {table}") as broken:
        Store(path).rows(f"SELECT * FROM {table}")
    assert "move it away" in broken.value.hint


@pytest.mark.parametrize("change", ["DELETE FROM meta", "UPDATE meta SET value = 'soon'"])
def test_a_file_that_says_nothing_of_its_readers_is_ours_to_read(store, path, change):
    store.save_session(spec(), 1)
    store.close()
    with sqlite3.connect(path) as base:
        base.execute(change)
    base.close()
    again = Store(path)
    assert [record.spec for record in again.sessions()] == [spec()]
    again.close()
