"""Many writers, few sessions; the large run is ``writers.py`` by hand."""

from __future__ import annotations

from faults import writers


async def test_P01_writers_in_many_processes_never_mix(desk):
    wrong = await writers.crowd(desk, writers=4, prompts=8, sessions=2, commands=False)
    assert wrong == []


async def test_P01_a_command_a_prompt_keeps_its_order_too(desk):
    await desk.standin("w0")
    receipts = await writers.write_by_command("c", 4, 1)
    assert writers.judge(receipts, {"w0": desk.prompts("w0")}) == []


def test_the_judge_sees_what_is_mixed_lost_or_doubled():
    first, second, third = (writers.text_of("a", number) for number in range(3))
    receipts = [{"text": text, "name": "w0", "outcome": "submitted", "reason": ""} for text in (first, second, third)]
    assert writers.judge(receipts, {"w0": [first, second, third]}) == []
    assert len(writers.judge(receipts, {"w0": [first, third, second]})) == 1
    assert len(writers.judge(receipts, {"w0": [first, second]})) == 1
    assert len(writers.judge(receipts, {"w0": [first, second, second, third]})) == 1
    assert len(writers.judge(receipts, {"w0": [first, second], "w1": [third]})) == 1
    assert len(writers.judge(receipts, {"w0": [first + second, third]})) == 3
