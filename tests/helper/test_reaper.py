"""Which sessions may be ended, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.models import Exit, Identity, Session
from covey.reaper import BUSY, Decision, at_exit, by_hand, over_cap, sweep

MINE, THEIRS, FAR = Identity(10, 1, "here"), Identity(11, 1, "here"), Identity(12, 1, "elsewhere")
STALE = "tmux does not answer, so it may be at work"
STATES = ["starting", "working", "blocked", "idle", "exited", "lost", "unknown"]
SHOWN = [*({"state": state, "flags": ()} for state in STATES), {"state": "unknown", "flags": ("stale",)}]
PLAIN = Session(
    id="aaaaaaaa", name="one", agent="claude", state="idle", since="2026-01-01T00:00:00.000Z", evidence={}, exit=None,
    pid=1000, pane="%1", cwd="/", epoch=1, created="2026-01-01T00:00:00.000Z", owner=MINE, on_exit="settled",
    keep=False, settled=False, queued=0, guessed=False,
)  # fmt: skip


@st.composite
def fleets(draw):
    """Sessions of any kind, with unique ids."""
    count = draw(st.integers(0, 24))
    return [
        replace(
            PLAIN,
            id=f"id{number:06d}",
            name=f"name {number}",
            **draw(st.sampled_from(SHOWN)),
            since=f"2026-01-01T00:{draw(st.integers(0, 59)):02d}:00.000Z",
            owner=draw(st.sampled_from([MINE, THEIRS, FAR, None])),
            on_exit=draw(st.sampled_from(["keep", "reap", "settled"])),
            keep=draw(st.booleans()),
            settled=draw(st.booleans()),
            exit=draw(st.sampled_from([None, Exit(), Exit(code=0), Exit(code=3), Exit(signal=9)])),
        )
        for number in range(count)
    ]


UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
verdicts = st.fixed_dictionaries({owner: st.sampled_from([True, False, None]) for owner in (MINE, THEIRS, FAR)})
ids = st.sets(st.integers(0, 24).map(lambda number: f"id{number:06d}"))


def ended(decisions):
    return {one.id for one in decisions if one.act == "end"}


AT_EXIT = {
    "kept": ({"keep": True, "on_exit": "reap", "state": "exited"}, "keep", "kept by a person"),
    "lost": ({"state": "lost", "on_exit": "reap"}, "release", "lost: there is nothing to end"),
    "stale": ({"state": "unknown", "flags": ("stale",), "on_exit": "reap"}, "release", STALE),
    "stale and settled": ({"state": "unknown", "flags": ("stale",), "settled": True}, "release", STALE),
    "no rule reads it": ({"state": "unknown", "on_exit": "reap"}, "end", "to be reaped when its editor leaves"),
    "no rule reads it, and settled": ({"state": "unknown", "settled": True}, "end", "settled: its work is done"),
    "on_exit keep": ({"on_exit": "keep", "state": "exited"}, "release", "to be kept when its editor leaves"),
    "on_exit reap, at work": ({"on_exit": "reap", "state": "working"}, "end", "to be reaped when its editor leaves"),
    "exited": ({"state": "exited", "exit": Exit(code=3)}, "end", "exited (3)"),
    "exited by a signal": ({"state": "exited", "exit": Exit(signal=9)}, "end", "killed by signal 9"),
    "exited somehow": ({"state": "exited", "exit": Exit()}, "end", "exited, nobody knows how"),
    "settled": ({"settled": True}, "end", "settled: its work is done"),
    "alive": ({"state": "working"}, "release", "working: it lives on without an owner"),
    "idle": ({}, "release", "idle: it lives on without an owner"),
}  # fmt: skip


@pytest.mark.parametrize(("facts", "act", "reason"), AT_EXIT.values(), ids=AT_EXIT.keys())
def test_at_exit(facts, act, reason):
    assert at_exit([replace(PLAIN, **facts)], MINE, set()) == [Decision("aaaaaaaa", "one", act, reason)]


def test_at_exit_spares_what_another_editor_uses():
    one = replace(PLAIN, state="exited", on_exit="reap")
    assert [each.act for each in at_exit([one], MINE, {one.id})] == ["release"]


def test_a_decision_is_plain_json():
    assert Decision("i", "n", "end", "r").to_json() == {"id": "i", "name": "n", "act": "end", "reason": "r"}


@UNHURRIED
@given(fleets(), ids)
def test_at_exit_decides_once_for_each_session_of_that_owner(fleet, spared):
    assert [one.id for one in at_exit(fleet, MINE, spared)] == [one.id for one in fleet if one.owner == MINE]


@UNHURRIED
@given(fleets(), ids)
def test_at_exit_ends_nothing_alive_kept_spared_or_unknown(fleet, spared):
    chosen = ended(at_exit(fleet, MINE, spared))
    for one in (one for one in fleet if one.id in chosen):
        assert not one.keep
        assert one.id not in spared
        assert one.state != "lost"
        assert "stale" not in one.flags
        assert one.on_exit == "reap" or (one.on_exit == "settled" and (one.state == "exited" or one.settled))


@UNHURRIED
@given(fleets(), ids, verdicts)
def test_r02_sweep_touches_only_what_provably_gone_editors_left(fleet, spared, verdict):
    decisions = {one.id: one for one in sweep(fleet, verdict.__getitem__, spared)}
    for one in fleet:
        seen = verdict[one.owner] if one.owner else True
        if seen is True:
            assert one.id not in decisions
        elif seen is None:
            assert decisions[one.id].act == "keep"
        else:
            assert decisions[one.id] == at_exit([one], one.owner, spared)[0]


@UNHURRIED
@given(fleets(), ids, verdicts)
def test_sweep_is_idempotent(fleet, spared, verdict):
    def carry_out(sessions, decisions):
        acts = {one.id: one.act for one in decisions}
        rest = [one for one in sessions if acts.get(one.id) != "end"]
        return [replace(one, owner=None) if acts.get(one.id) == "release" else one for one in rest]

    after = carry_out(fleet, sweep(fleet, verdict.__getitem__, spared))
    again = sweep(after, verdict.__getitem__, spared)
    assert {one.act for one in again} <= {"keep"}
    assert carry_out(after, again) == after


def test_sweep_asks_once_for_each_owner():
    asked = []
    sweep([replace(PLAIN, id=str(n)) for n in range(5)], asked.append, set())
    assert asked == [MINE]


@UNHURRIED
@given(fleets(), st.integers(0, 12))
def test_over_cap_takes_exactly_the_excess(fleet, cap):
    able = [one for one in fleet if one.settled and not one.keep and one.state in {"idle", "exited", "unknown"}]
    able = [one for one in able if not one.flags]
    chosen = over_cap(fleet, cap)
    assert len(chosen) == max(0, len(able) - cap)
    assert ended(chosen) <= {one.id for one in able}
    rest = [one for one in fleet if one.id not in ended(chosen)]
    assert over_cap(rest, cap) == []


@UNHURRIED
@given(fleets(), st.integers(0, 12))
def test_over_cap_takes_the_longest_settled_first(fleet, cap):
    since = {one.id: one.since for one in fleet}
    order = [since[one.id] for one in over_cap(fleet, cap)]
    assert order == sorted(order)
    left = set(since) - ended(over_cap(fleet, cap))
    able = [one.since for one in fleet if one.id in left and one.id in ended(over_cap(fleet, 0))]
    assert not order or not able or order[-1] <= min(able)


@UNHURRIED
@given(fleets(), st.integers(0, 12), ids)
def test_over_cap_walks_past_what_will_not_close(fleet, cap, refused):
    able = ended(over_cap(fleet, 0))
    chosen = ended(over_cap(fleet, cap, refused))
    assert not chosen & refused
    assert len(chosen) == min(max(0, len(able) - cap), len(able - refused))


def test_over_cap_eleven_open_and_room_for_eight():
    fleet = [replace(PLAIN, id=f"{n:02d}", settled=True, since=f"2026-01-01T00:00:{59 - n}.000Z") for n in range(11)]
    assert [one.id for one in over_cap(fleet, 8)] == ["10", "09", "08"]


@UNHURRIED
@given(fleets(), verdicts)
def test_by_hand_never_ends_the_living_of_the_living(fleet, verdict):
    chosen = ended(by_hand(fleet, verdict.__getitem__))
    for one in (one for one in fleet if one.id in chosen):
        gone = one.owner is not None and verdict[one.owner] is False
        assert not one.keep
        assert one.state != "lost"
        assert "stale" not in one.flags
        assert one.state == "exited" or (one.settled and one.state not in BUSY) or gone


@UNHURRIED
@given(fleets(), verdicts)
def test_by_hand_is_complete_in_order_and_gives_reasons(fleet, verdict):
    decisions = by_hand(fleet, verdict.__getitem__)
    order = [one.id for one in fleet]
    assert [order.index(one.id) for one in decisions] == sorted({order.index(one.id) for one in decisions})
    assert all(one.reason for one in decisions)
    over = {
        one.id
        for one in fleet
        if not one.keep
        and (one.state == "exited" or (one.settled and one.state in {"idle", "unknown"} and not one.flags))
    }
    left = ended(sweep(fleet, verdict.__getitem__, set()))
    assert ended(decisions) == over | left


def test_r05_thirty_clean_exits_are_gone_by_hand():
    fleet = [replace(PLAIN, id=f"{n:02d}", state="exited", exit=Exit(code=0)) for n in range(30)]
    decisions = by_hand(fleet, lambda _: True)
    assert [(one.act, one.reason) for one in decisions] == [("end", "exited (0)")] * 30
