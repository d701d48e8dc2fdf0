"""Rows of tmux as panes."""

from __future__ import annotations

from covey import registry
from covey.models import Exit, Spec


def row(**fields):
    spec = Spec("abcdefg2", "one", "shell", ("sh",), "/tmp", "2026-01-01T00:00:00.000Z")
    values = dict.fromkeys(registry.FIELDS, "0") | {"pane_id": "%1", "session_id": "$1", "pane_title": "a title"}
    values |= {"@covey_id": spec.id, "@covey_epoch": "1", "@covey_act": "", "@covey_spec": registry.encode(spec)}
    return " ".join((values | fields).values())


def test_tmux_3_8_forgets_the_number_of_a_process_that_has_ended():
    dead = {"pane_dead": "1", "pane_dead_status": "3", "pane_dead_signal": "", "pane_pid": ""}
    ((pane,), bad) = registry.panes([row(**dead)])
    assert (pane.dead, pane.exit, pane.pid, bad) == (True, Exit(3, None), 0, [])


def test_a_marked_row_that_cannot_be_read_is_told():
    assert registry.panes([row(pane_width="?")]) == ([], [row(pane_width="?")])
    assert registry.panes([row(**{"@covey_id": ""})]) == ([], [])
