"""Values read from where a person said: what is refused, and that nothing a command started is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from covey import env, reference
from covey.errors import CoveyError, Refused
from waiting import eventually, eventually_async
from world import ROOT

FAMILY = "cmd:sleep 4300 & (trap '' TERM HUP; sleep 4301; :) & echo begun >&2; sleep 4302"
READER = "import asyncio, os; from covey import reference; asyncio.run(reference.read({'A': %r}, os.environ))"


async def one(value, caller=None):
    async with asyncio.timeout(10):
        return (await reference.read({"MY_TOKEN": value}, os.environ if caller is None else caller))["MY_TOKEN"]


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text("one line\n")
    return path


async def test_each_kind_gives_its_value(token, monkeypatch):
    monkeypatch.setenv("HOME", str(token.parent))
    assert await one("env:OTHER", {"OTHER": "cmd:not run"}) == "cmd:not run"
    assert await one(f"file:{token}") == await one("file:~/token") == "one line"
    assert await one("cmd:printf 'a\\nb\\n'") == "a\nb"
    assert await one("plain") == "plain"


async def test_a_value_of_just_the_greatest_size_crosses(token):
    room = env.MAX_VALUE - len("MY_TOKEN") - 2
    token.write_text("x" * room)
    assert await one(f"file:{token}") == await one(f"cmd:cat {token}") == "x" * room


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
async def test_what_is_no_regular_file_is_refused_by_name_and_not_waited_for(tmp_path, make):
    make(tmp_path / "odd")
    with pytest.raises(Refused, match=r"MY_TOKEN .* regular file"):
        await one(f"file:{tmp_path}/odd")


@pytest.mark.parametrize(
    "value",
    ["file:/nonexistent", "file:~nobody-of-that-name/x", "env:NOT_SET", "cmd:exit 3", "cmd:yes", "cmd:cat /dev/zero"],
)
async def test_what_cannot_be_read_names_the_variable(value):
    with pytest.raises(Refused, match="MY_TOKEN"):
        await one(value)


async def test_a_file_that_is_too_long_is_refused(token):
    token.write_text("x" * (env.MAX_VALUE + 1))
    with pytest.raises(Refused, match=r"MY_TOKEN .* 128 KiB"):
        await one(f"file:{token}")


async def test_a_command_has_a_session_of_its_own_and_nothing_to_read():
    assert int(await one("cmd:ps -o sid= -p $$")) not in (0, os.getsid(0))
    assert await one("cmd:cat") == ""


async def test_what_a_command_leaves_to_run_is_its_own_business(brood):
    assert await one("cmd:sleep 4303 >/dev/null & echo done", brood.environ("")) == "done"
    assert eventually(lambda: [each.command for each in brood.living()] == ["sleep"])


async def test_at_the_deadline_all_that_a_command_started_is_ended(brood, monkeypatch):
    monkeypatch.setattr(reference, "DEADLINE", 0.3)
    with pytest.raises(Refused, match="MY_TOKEN did not end within"):
        await one(FAMILY, brood.environ(""))
    assert eventually(lambda: not brood.living())


async def test_who_gives_up_leaves_nothing_running(brood):
    reading = asyncio.create_task(one(FAMILY, brood.environ("")))
    await eventually_async(lambda: len(brood.living()) >= 6)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert eventually(lambda: not brood.living())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_covey_that_is_ended_takes_the_command_along(brood, number):
    path = {"PYTHONPATH": str(ROOT / "helper")}
    reader = subprocess.Popen([sys.executable, "-c", READER % FAMILY], env=brood.environ("") | path)
    eventually(lambda: len(brood.living()) >= 7)
    reader.send_signal(number)
    reader.wait()
    assert eventually(lambda: not brood.living())


async def test_a_bad_name_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(CoveyError, match="A-B"):
        await reference.read({"A-B": f"cmd:touch {tmp_path}/ran"}, os.environ)
    assert not (tmp_path / "ran").exists()
