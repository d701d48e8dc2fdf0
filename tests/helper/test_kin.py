"""Who was seen below a session's first process."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from covey import kin
from covey.kin import Kin
from covey.models import Identity
from covey.process import Process, Table, here

ROOT, CHILD, LATER = 5_000_001, 5_000_002, 5_000_003


def pane(pid=ROOT, *, dead=False, active=1.0):
    return SimpleNamespace(spec=SimpleNamespace(id="one"), pid=pid, dead=dead, active_at=active, progress="")


def row(pid, ppid, state="S"):
    return Process(pid, ppid, pid, pid, pid, state, "sh")


def who(pid):
    return Identity(pid, pid, here())


@pytest.fixture
def family():
    return Kin(identify=who)


def test_a_first_process_is_known_while_it_lives_and_after(family):
    family.follow([pane()])
    family.follow([pane(dead=True)])
    assert family.root("one", ROOT) == who(ROOT)
    assert family.root("one", LATER) is None
    assert family.root("one", 0) == who(ROOT)  # tmux 3.8 tells the number of a dead one no more


def test_those_below_are_kept_as_long_as_they_live_wherever_they_went(family):
    family.follow([pane()])
    family.look(Table([row(1, 0), row(ROOT, 1), row(CHILD, ROOT)]))
    assert who(CHILD) in family.seen("one")
    family.look(Table([row(1, 0), row(CHILD, 1)]))
    assert family.seen("one") == {who(CHILD)}
    family.look(Table([row(1, 0), row(CHILD, 1, "Z")]))
    assert family.seen("one") == frozenset()


def test_a_reused_number_has_no_family_of_ours(family):
    family.follow([pane()])
    stranger = Process(ROOT, 1, ROOT, ROOT, ROOT + 7, "S", "sh")
    family.look(Table([row(1, 0), stranger, row(CHILD, ROOT)]))
    assert family.seen("one") == frozenset()


def test_a_respawn_and_an_end_forget(family):
    family.follow([pane()])
    family.follow([pane(LATER)])
    assert family.root("one", LATER) == who(LATER)
    family.look(Table([row(LATER, 1)]))
    family.forget("one")
    assert (family.root("one", LATER), family.seen("one")) == (None, frozenset())


def test_a_look_is_due_only_when_something_moved_and_not_too_often(family, monkeypatch):
    clock = iter([100.0, 100.0, 101.0, 110.0, 110.0, 120.0])
    monkeypatch.setattr(kin.time, "monotonic", lambda: next(clock))
    assert family.follow([pane()])
    assert not family.follow([pane(active=2)])
    assert family.follow([pane(active=3)])
    assert not family.follow([pane(active=3)])


def test_what_was_written_down_is_recalled_and_never_overrides_what_was_seen(family):
    family.recall("one", who(CHILD))
    assert family.root("one", CHILD) == who(CHILD)
    family.recall("one", who(LATER))
    family.recall("one", None)
    assert family.root("one", CHILD) == who(CHILD)


def test_a_process_is_identified_by_the_kernel():
    known = Kin()
    known.follow([pane(os.getpid())])
    assert known.root("one", os.getpid()).start > 0
