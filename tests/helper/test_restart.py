"""When a dead agent is started again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.models import Exit
from covey.restart import BREAKER_EXITS, BREAKER_SPAN, FIRST_DELAY, LAST_DELAY, Stop, Wait, lives, plan

CLEAN, FAILED, KILLED, UNKNOWN = Exit(code=0), Exit(code=1), Exit(signal=9), Exit()

hows = st.sampled_from([CLEAN, FAILED, KILLED, UNKNOWN, Exit(code=255)])
spans = st.lists(st.tuples(st.floats(0.001, 200), hows), min_size=1, max_size=40)
policies = st.sampled_from(["never", "on_failure", "always"])


def at(*moments, how=FAILED):
    return [(moment, how) for moment in moments]


def timeline(spans):
    now, exits = 0.0, []
    for span, how in spans:
        now += span
        exits.append((now, how))
    return exits


CASES = {
    "first failure": ("on_failure", at(5), Wait(0.5)),
    "killed by a signal": ("on_failure", at(5, how=KILLED), Wait(0.5)),
    "clean exit": ("on_failure", at(5, how=CLEAN), Stop("clean exit")),
    "clean exit, always": ("always", at(5, how=CLEAN), Wait(0.5)),
    "nobody knows how": ("on_failure", at(5, how=UNKNOWN), Stop("unknown exit")),
    "nobody knows how, always": ("always", at(5, how=UNKNOWN), Wait(0.5)),
    "never": ("never", at(5), Stop("restart is off")),
    "nothing exited": ("always", [], Stop("nothing has exited")),
    "second short life": ("on_failure", at(0, 1), Wait(1)),
    "fourth short life": ("on_failure", at(0, 20, 40, 60), Wait(4)),
    "bounded": ("on_failure", at(*range(0, 600, 40)), Wait(30)),
    "60 s of life": ("on_failure", at(0, 20, 40, 102), Wait(0.5)),
    "just short of 60 s, the wait of 2 s left out": ("on_failure", at(0, 20, 40, 101.9), Wait(4)),
    "five in ten seconds": ("on_failure", at(0, 0.5, 1.5, 3.5, 7.5), Stop("crash loop")),
    "five in exactly ten seconds": ("always", at(0, 1, 2, 3, 10), Stop("crash loop")),
    "five in more than ten seconds": ("always", at(0, 1, 2, 3, 10.1), Wait(8)),
    "four in a second": ("always", at(0, 0.1, 0.2, 0.3), Wait(4)),
    "unknown ones count": ("always", at(0, 1, 2, 3, 4, how=UNKNOWN), Stop("crash loop")),
    "clean ones do not": ("always", at(0, 1, 2, 3, 4, how=CLEAN), Wait(8)),
    "a clean one resets the count": ("always", [*at(0, 1, 2, 3), (3.5, CLEAN), (4, FAILED)], Wait(16)),
    "but not a tripped breaker": ("always", [*at(0, 1, 2, 3, 4), (5, CLEAN)], Stop("crash loop")),
    "the clock was put back": ("always", at(0, 300, 600, 900, -86_000), Wait(1)),
    "tripped long ago": ("always", at(0, 1, 2, 3, 4, 500), Stop("crash loop")),
}


@pytest.mark.parametrize(("policy", "exits", "expected"), CASES.values(), ids=CASES.keys())
def test_r08_plan(policy, exits, expected):
    assert plan(policy, exits, stopped_by_person=False) == expected


@given(policies, spans)
def test_a_persons_stop_is_final(policy, spans):
    assert isinstance(plan(policy, timeline(spans), stopped_by_person=True), Stop)


@given(policies, spans)
def test_the_delay_is_bounded(policy, spans):
    step = plan(policy, timeline(spans), stopped_by_person=False)
    assert isinstance(step, Stop) or FIRST_DELAY <= step.delay <= LAST_DELAY


@given(st.lists(st.floats(0.001, 200), min_size=1, max_size=40))
def test_no_policy_restarts_a_crash_loop(spans):
    exits = timeline([(span, FAILED) for span in spans])
    moments = [moment for moment, _ in exits]
    last = BREAKER_EXITS - 1
    loops = any(moments[n + last] - moments[n] <= BREAKER_SPAN for n in range(len(moments) - last))
    for policy in ("on_failure", "always"):
        assert (plan(policy, exits, stopped_by_person=False) == Stop("crash loop")) is loops


@given(policies, spans)
def test_a_clean_exit_restarts_only_under_always(policy, spans):
    exits = [*timeline(spans), (1e6, CLEAN)]
    step = plan(policy, exits, stopped_by_person=False)
    assert isinstance(step, Stop) or policy == "always"


def test_a_loop_at_full_speed_is_left_after_five_starts():
    exits, now = [], 0.0
    while isinstance(step := plan("on_failure", exits or at(0), stopped_by_person=False), Wait):
        now += step.delay
        exits.append((now, FAILED))
    assert (len(exits), step) == (5, Stop("crash loop"))


def entry(kind, **facts):
    return {"at": "2026-01-01T00:00:01.000Z", "kind": kind, "data": facts}


STORY = [
    entry("opened", name="one"),
    entry("exited", epoch=1, code=3, signal=None),
    entry("restarted", epoch=[1, 2]),
    entry("exited", epoch=2, code=None, signal=9),
    entry("held", reason="x"),
]


def test_lives_are_what_was_logged_and_what_was_seen():
    ended = 1767225601.0
    seen = {2: (7.0, CLEAN), 3: (9.0, KILLED)}
    assert lives(STORY, seen, 3) == [(ended, Exit(3)), (7.0, CLEAN), (9.0, KILLED)]
    assert lives(STORY, {}, 2) == [(ended, Exit(3)), (ended, KILLED)]
    assert lives([], {1: (5.0, FAILED)}, 1) == [(5.0, FAILED)]


@pytest.mark.parametrize("kind", ["respawned", "reset", "restored"])
def test_lives_before_a_person_started_it_do_not_count(kind):
    story = [*STORY, entry(kind, epoch=[2, 3]), entry("exited", epoch=3, code=1, signal=None)]
    assert [how for _, how in lives(story, {4: (9.0, KILLED)}, 4)] == [FAILED, KILLED]


@pytest.mark.parametrize("facts", [{}, {"epoch": "x", "code": 1, "signal": None}, {"epoch": [], "code": 1}])
def test_a_damaged_entry_costs_itself_alone(facts):
    assert [how for _, how in lives([entry("exited", **facts), *STORY, entry("reset", **facts)], {}, 2)] == [
        Exit(3),
        KILLED,
    ]
