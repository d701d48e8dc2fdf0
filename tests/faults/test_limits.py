"""Small limits: of files, processes, memory, size of a file. One sentence, no traceback, no half-made session."""

from __future__ import annotations

import contextlib
import errno
import json
import resource
import subprocess
import sys

import pytest

from covey import shortage
from covey.errors import StoreShut
from world import kill

COVEY = [sys.executable, "-m", "covey.cli"]


@pytest.fixture
def covey(world):
    """``covey(*words, limit="-n 20")`` runs the command, behind that word of ``ulimit``."""

    def run(*words, limit=""):
        shell = f'ulimit {limit}; exec "$@"' if limit else 'exec "$@"'
        argv = ["bash", "-c", shell, "bash", *COVEY, *words]
        return subprocess.run(argv, env=world.env, cwd=world.home, capture_output=True, text=True, check=False)

    return run


def names(covey):
    return [each["name"] for each in json.loads(covey("list", "--json").stdout)]


def is_a_sentence(done):
    said = done.stderr
    return said.startswith("covey: ") and said.count("\n") == 1 and "a bug" not in said


@pytest.mark.parametrize("files", [8, 10, 12, 14, 16, 18, 20, 24])
def test_few_files_give_a_session_or_a_sentence(covey, files):
    assert covey("open", "first", "--agent", "standin").returncode == 0
    done = covey("open", "second", "--agent", "standin", limit=f"-n {files}")
    assert done.returncode == 0 or is_a_sentence(done), done.stderr
    assert names(covey) == (["first", "second"] if done.returncode == 0 else ["first"])
    assert covey("kill", "first").returncode == 0


def test_no_server_is_started_that_could_not_last(covey):
    done = covey("open", "one", "--agent", "standin", limit="-n 64")
    assert is_a_sentence(done)
    assert "only 64 files open" in done.stderr
    assert names(covey) == []


@pytest.mark.parametrize("kib", [50_000, 55_000, 60_000, 65_000, 70_000])
def test_little_memory_gives_a_session_or_a_sentence(covey, kib):
    if covey("--help", limit=f"-v {kib}").returncode:
        pytest.skip("here Python itself needs more")
    assert covey("open", "first", "--agent", "standin").returncode == 0
    done = covey("open", "second", "--agent", "standin", limit=f"-v {kib}")
    assert done.returncode == 0 or is_a_sentence(done), done.stderr
    assert names(covey) == (["first", "second"] if done.returncode == 0 else ["first"])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "ulimit -v"),
        (MemoryError(), "ulimit -v"),
        (RuntimeError("can't start new thread"), "ulimit -v"),
        (OSError(errno.EFBIG, "File too large", "/x/spool"), "make room"),
    ],
)
def test_what_is_short_is_a_sentence_with_its_fix(error, words):
    assert words in shortage.of(error).hint


def test_a_bug_stays_one():
    with pytest.raises(RuntimeError, match="else"), shortage.told():
        raise RuntimeError("something else")


HANGS = "#!/bin/sh\nsleep 20\n:\n"  # its child has its output, also when it was killed


def test_a_tmux_that_hangs_leaves_no_traceback(world, covey):
    (hangs := world.tmp / "tmux").write_text(HANGS)
    hangs.chmod(0o700)
    (folder := world.config / "covey").mkdir()
    (folder / "config.toml").write_text(f'tmux = "{hangs}"\n')
    assert is_a_sentence(covey("open", "one", "--agent", "standin"))
    for child in world.processes():
        kill(child)
    assert names(covey) == []


@pytest.fixture
def no_writing():
    """``with no_writing():`` no file of this process can grow, as on a disk that has become full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextlib.contextmanager
    def block():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    yield block
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_disk_that_fills_up_under_a_helper_is_said_once_and_forgotten_when_there_is_room(desk, no_writing):
    for name in ("one", "two", "three"):
        await desk.standin(name)
    with no_writing():
        await desk("rename", name="one", new="first")
        await desk("kill", name="two")
        with pytest.raises(StoreShut):
            await desk("send", name="three", text="hello")
        assert {each["name"] for each in await desk("list")} == {"first", "three"}
    (told,) = [each["data"]["message"] for each in desk.events if each["event"] == "Notice"]
    assert told.startswith("Nothing can be written into the store ")
    assert (await desk("send", name="three", text="hello"))["outcome"] == "submitted"
    written = desk.front.helper.store
    await desk.until(lambda: {each.spec.name for each in written.sessions()} == {"first", "three"})
