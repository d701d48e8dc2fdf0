"""What is known of a terminal from outside, with real ones."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
import tty

import pytest

from covey import terminal
from waiting import eventually


@pytest.fixture
def pair():
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


@pytest.fixture
def typing(pair):
    return pair[0]


@pytest.fixture
def theirs(pair):
    return pair[1]


@pytest.mark.parametrize("by", ["pid", "path"])
def test_canonical_tells_how_a_terminal_hands_over_lines(brood, theirs, by):
    one = brood.popen(["sleep", "60"], "", stdin=theirs)
    where = one.pid if by == "pid" else os.ttyname(theirs)
    assert terminal.canonical(where) is True
    tty.setraw(theirs)
    assert terminal.canonical(where) is False


def test_unread_counts_what_was_typed_and_not_read(brood, theirs, typing):
    one = brood.popen(["sleep", "60"], "", stdin=theirs)
    tty.setraw(theirs)
    assert terminal.unread(one.pid) == 0
    os.write(typing, b"\r\r")
    eventually(lambda: terminal.unread(one.pid) == 2)
    os.read(theirs, 1)
    assert terminal.unread(os.ttyname(theirs)) == 1


@pytest.mark.parametrize("stdin", [subprocess.PIPE, subprocess.DEVNULL])
def test_canonical_of_no_terminal_cannot_be_told_and_nothing_is_opened(brood, monkeypatch, stdin):
    one = brood.popen(["sleep", "60"], "", stdin=stdin)
    opened = []
    monkeypatch.setattr(terminal.os, "open", lambda *_: opened.append(1) or 1 / 0)
    assert terminal.canonical(one.pid) is None
    assert opened == []
    if one.stdin:
        one.stdin.close()


def test_canonical_of_nobody_cannot_be_told(tmp_path):
    assert terminal.canonical(2**22 + 1) is None
    assert terminal.canonical(str(tmp_path)) is None
    assert terminal.canonical("/dev/pts/no-such") is None


def test_canonical_of_a_terminal_that_hung_up(brood):
    ours, theirs = pty.openpty()
    one = brood.popen(["sleep", "60"], "", stdin=theirs)
    os.close(theirs)
    assert isinstance(termios.tcgetattr(ours), list)
    os.close(ours)
    assert terminal.canonical(one.pid) is None
