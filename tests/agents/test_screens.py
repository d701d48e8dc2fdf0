"""Recorded screens of real agents, read in place: COVEY_SCREENS, or ``shared/screens`` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covey.explain import score
from drawn import CATALOG
from world import ROOT

FOLDER = Path(os.environ.get("COVEY_SCREENS") or ROOT.parent / "shared" / "screens")
TOTAL, RIGHT = 562, 550
# Recordings whose label their own screen contradicts, each looked at by itself.
MISLABELLED = {
    # The screen says it retries, and aider did for minutes: "settled" and "exited" are what was asked of it.
    "aider/error-conn-refused-7s-200x50.txt",
    "aider/error-conn-refused-7s-80x24.txt",
    "aider/error-drop-2s-200x50.txt",
    "aider/error-drop-6s-200x50.txt",
    "aider/error-drop-after-esc-200x50.txt",
    "aider/error-drop-after-esc-80x24.txt",
    "aider/exited-200x50.txt",
    "aider/exited-80x24.txt",
    "aider/typing-slash-quit-80x24.txt",
    # Text streams on: Escape interrupts aider never, once or twice.
    "aider/interrupted-esc-esc-200x50.txt",
    "aider/interrupted-esc-esc-80x24.txt",
    # Nothing is drawn yet, and the title is the terminal's own.
    "opencode/hooks-start-160x45.txt",
}

pytestmark = pytest.mark.skipif(
    not (FOLDER / "labels.jsonl").exists(), reason=f"no recorded screens in {FOLDER} (COVEY_SCREENS names them)"
)


def test_recorded_screens_are_read_as_they_are_labelled() -> None:
    found = score(FOLDER, CATALOG)
    assert found.total >= TOTAL
    assert {miss.file for miss in found.misses} - MISLABELLED == set()
    assert found.right >= RIGHT


def test_nothing_that_asks_or_works_is_called_idle() -> None:
    matrix = score(FOLDER, CATALOG).matrix
    assert matrix["blocked"].get("idle", 0) == 0
    assert matrix["working"].get("idle", 0) == 0
