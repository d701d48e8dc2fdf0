"""Programs that are heard: what they say, and what is left of them and of those they started."""

from __future__ import annotations

import asyncio
import time

import pytest

from covey import hearing
from waiting import eventually, eventually_async

ASIDE = "exec >/dev/null 2>&1; exec sleep 4311"


def hear(brood, script, **more):
    limits = {"deadline": 10.0, "most": 1000, **more}
    return hearing.hear("/bin/sh", "-c", script, env=brood.environ(""), **limits)


async def test_what_did_not_end_in_time_is_ended_with_all_it_started(brood):
    heard = await hear(brood, f"echo begun; sleep 4310 & ({ASIDE}) & sleep 4312", deadline=0.5)
    assert (heard.status, heard.said, heard.late) == (None, b"begun\n", True)
    assert eventually(lambda: not brood.living())


async def test_what_says_too_much_is_ended_with_all_it_started(brood):
    heard = await hear(brood, f"({ASIDE}) & yes | cat")
    assert (heard.status, len(heard.said) > 1000, heard.late) == (None, True, False)
    assert eventually(lambda: not brood.living())


async def test_who_is_heard_no_more_is_ended_with_all_it_started(brood):
    hearing_it = asyncio.create_task(hear(brood, f"({ASIDE}) & sleep 4312"))
    await eventually_async(lambda: len(brood.living()) == 3)
    hearing_it.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing_it
    assert eventually(lambda: not brood.living())


async def test_what_ended_is_not_waited_for_because_somebody_has_its_output(brood):
    began = time.monotonic()
    heard = await hear(brood, "sleep 4313 & echo done; exit 3", deadline=100.0)
    assert (heard.status, heard.said, heard.late, time.monotonic() - began < 50) == (3, b"done\n", False, True)
    assert [each.command for each in brood.living()] == ["sleep"]


@pytest.mark.parametrize("turns", range(8))
async def test_who_is_cancelled_while_the_program_starts_is_held_up_by_nothing(brood, turns):
    hearing_it = asyncio.create_task(hear(brood, f"({ASIDE}) & sleep 4312", deadline=100.0))
    for _ in range(turns):
        await asyncio.sleep(0)
    hearing_it.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing_it
    assert eventually(lambda: not brood.living())


async def test_what_was_said_while_we_were_stopped_is_heard(brood):
    hearing_it = asyncio.create_task(hear(brood, "echo done", deadline=0.3))
    await asyncio.sleep(0)
    time.sleep(0.5)  # noqa: ASYNC251  # as a SIGSTOP does
    assert await hearing_it == (0, b"done\n", b"", False)


@pytest.mark.parametrize(("gently", "left"), [(True, False), (False, True)])
async def test_what_is_asked_to_go_cleans_up_and_what_is_not_asked_cannot(brood, tmp_path, gently, left):
    half = tmp_path / "half"
    script = f"trap 'rm {half}; exit' TERM; touch {half}; while :; do sleep 0.01; done"
    hearing_it = asyncio.create_task(hear(brood, script, gently=gently))
    await eventually_async(half.exists)
    hearing_it.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing_it
    assert (half.exists(), eventually(lambda: not brood.living())) == (left, True)
