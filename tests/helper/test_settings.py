"""``config.toml``: what is right counts, what is wrong is named, and nothing else is lost."""

from __future__ import annotations

import os

import pytest

from covey import settings


def test_no_file_is_the_defaults(tmp_path):
    assert settings.read(tmp_path / "config.toml") == settings.Settings()


def test_what_is_right_counts(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('tmux = "/opt/tmux"\nmax_settled = 0\nhistory_limit = 70\n')
    assert settings.read(path) == settings.Settings("/opt/tmux", 0, 70)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_settled = -1", "a number from 0"),
        ("max_settled = true", "a number from 0"),
        ('max_settled = "8"', "a number from 0"),
        ("history_limit = 1000001", "history_limit wants a number from 0 to 1000000"),
        ("tmux = 3", "path of a program"),
        ("colour = 1", "no setting 'colour'"),
        ("tmux = ", "cannot be read: it is not TOML: Invalid value (at line 1, column 8)"),
        ("\ncolour = 1", "config.toml, line 2: there is no setting"),
        ("a = " + "[" * 50_000, "nested too deeply"),
        ("#" * 70_000, "more than 64 KiB"),
    ],
)
def test_what_is_wrong_is_named_and_costs_nothing_else(tmp_path, text, words):
    path = tmp_path / "config.toml"
    path.write_text(f"{text}\n")
    found = settings.read(path)
    assert (found.tmux, found.max_settled) == ("tmux", 8)
    assert words in found.problems[0]


def test_one_slip_does_not_cost_the_rest(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('tmux = "x"\nmax_settled = -1\n')
    found = settings.read(path)
    assert (found.tmux, len(found.problems)) == ("x", 1)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_named_and_not_waited_for(tmp_path, make):
    make(path := tmp_path / "config.toml")
    assert settings.read(path) == settings.Settings(problems=(f"{path} cannot be read: it is no regular file",))


def test_a_link_to_nothing_is_named(tmp_path):
    (path := tmp_path / "config.toml").symlink_to("nothing")
    assert settings.read(path).problems == (f"{path} cannot be read: No such file or directory",)
