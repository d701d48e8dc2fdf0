"""Which processes belong to a session: the rules, on made-up processes."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from covey.belonging import members as belonging
from covey.models import Identity
from covey.process import Process, Table, here

ME = os.getpid()


def row(pid, ppid, sid=None, command="sh", state="S"):
    return Process(pid, ppid, sid or pid, sid or pid, pid, state, command)


def table(*rows, marks=()):
    made = Table([row(1, 0, command="init"), row(ME, 1), *rows])
    vars(made)["marks"] = dict(marks)
    return made


def who(pid, start=None):
    return Identity(pid, start or pid, here())


SERVER, ROOT = row(5_000_000, 1, command="tmux: server"), row(5_000_010, 5_000_000)
A, B, C, D = (5_000_011, 5_000_012, 5_000_013, 5_000_014)


def members(made, root=None, **options):
    mine, left = belonging(made, root or ROOT.identity, mark="m", **options)
    return [one.pid for one in mine], [one.pid for one in left]


def test_a_tree_has_parents_first_and_survives_a_cycle():
    made = table(row(A, C), row(B, A), row(C, B), row(D, C))
    assert [one.pid for one in made.tree(A)] == [A, B, C, D]
    assert [one.pid for one in made.ancestors(D)] == [C, B, A]
    assert made.tree(99) == []


RULES = {
    "descendants, parents first": ([row(A, B, ROOT.pid), row(B, ROOT.pid)], {}, [ROOT.pid, B, A], []),
    "a descendant with a session of its own": ([row(A, ROOT.pid)], {}, [ROOT.pid, A], []),
    "the same session, re-parented": ([row(A, 1, ROOT.pid)], {}, [ROOT.pid, A], []),
    "a marked orphan": ([row(A, 1)], {A: "m"}, [ROOT.pid, A], []),
    "below a marked orphan": ([row(A, 1), row(B, A)], {A: "m"}, [ROOT.pid, A, B], []),
    "an orphan with another mark": ([row(A, 1)], {A: "n"}, [ROOT.pid], []),
    "an orphan without a mark": ([row(A, 1)], {}, [ROOT.pid], []),
    "marked, its parent is somebody": ([row(A, ME)], {A: "m"}, [ROOT.pid], [A]),
    "marked, adopted by systemd --user": ([row(A, 1, command="systemd"), row(B, A)], {B: "m"}, [ROOT.pid, B], []),
    "a marked zombie": ([row(A, 1, state="Z")], {A: "m"}, [ROOT.pid], []),
    "an editor within the session": ([row(A, ROOT.pid, ROOT.pid, "nvim")], {A: "m"}, [ROOT.pid, A], []),
    "an editor of its own": ([row(A, ROOT.pid, A, "nvim"), row(B, A)], {A: "m", B: "m"}, [ROOT.pid], [A, B]),
    "another tmux server": ([row(A, 1, A, "tmux: server"), row(B, A)], {A: "m", B: "m"}, [ROOT.pid], [A, B]),
    "a shared daemon": ([row(A, 1, A, "fifteen-letters")], {A: "m"}, [ROOT.pid], [A]),
}


@pytest.mark.parametrize(("rows", "marks", "mine", "left"), RULES.values(), ids=RULES.keys())
def test_r03_what_belongs_to_a_session(rows, marks, mine, left):
    made = table(SERVER, ROOT, *rows, marks=marks)
    assert members(made, spare=["fifteen-letters-and-more"]) == (mine, left)


def test_r01_a_dead_roots_orphans_are_known_by_their_mark():
    made = table(row(A, 1, ROOT.pid), row(B, 1), row(C, 1, ROOT.pid), marks={A: "m", B: "m"})
    assert members(made) == ([A, B], [])


def test_what_was_seen_below_us_is_ours_wherever_it_went():
    made = table(SERVER, ROOT, row(A, ME), row(B, ME), marks={A: "m"})
    assert members(made, seen={who(A), who(B)}) == ([ROOT.pid, A], [B])
    assert members(made, seen={who(A, start=1)}) == ([ROOT.pid], [A])


def test_r01_a_dead_roots_orphans_are_known_without_a_mark_once_they_were_seen():
    made = table(row(A, 1), row(B, 1), row(C, 1, C, "gradled"), row(D, A))
    assert members(made, seen={who(A), who(C)}, spare=["gradled"]) == ([A, D], [C])


def test_a_zombie_root_still_names_its_session():
    made = table(SERVER, replace(ROOT, state="Z"), row(A, 1, ROOT.pid, command="env"))
    assert members(made) == ([A], [])


def test_what_was_seen_but_lives_below_a_spared_editor_is_left():
    made = table(SERVER, ROOT, row(A, 1, A, "nvim"), row(B, A), marks={A: "m", B: "m"})
    assert members(made, seen={who(B)}) == ([ROOT.pid], [A, B])


def test_a_reused_root_number_is_nobody_of_ours():
    newcomer = replace(ROOT, start=ROOT.start + 7, ppid=1)
    theirs = row(A, newcomer.pid, newcomer.pid)
    made = table(SERVER, newcomer, theirs, row(B, 1), marks={A: "m", B: "m"})
    assert members(made) == ([B], [A])


def test_a_root_that_leads_no_session_is_not_spared_by_its_own_name():
    root = row(A, ME, ME, "nvim")
    made = table(root, row(B, A, ME, "nvim"), row(C, A, C, "nvim"))
    assert members(made, root=root.identity) == ([A, B], [C])


def test_a_dead_leader_still_names_its_session():
    made = table(SERVER, replace(ROOT, state="Z"), row(A, 1, ROOT.pid))
    assert members(made) == ([A], [])


def test_neither_we_nor_our_ancestors_nor_init_are_ever_ours_to_end():
    made = Table([row(1, 0, command="init"), row(A, 1), row(B, A, A), row(ME, B, A), row(C, B, A), row(D, ME, A)])
    vars(made)["marks"] = {A: "m", B: "m", ME: "m"}
    mine, left = members(made, root=who(A))
    assert (sorted(mine), sorted(left)) == ([C, D], sorted([A, B, ME]))
    assert 1 not in members(made, root=who(1))[0]
