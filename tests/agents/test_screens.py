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
# Recordings that call an agent settled whose screen says it retries or streams on, and one blank screen.
MISLABELLED = (
    "aider/error-",
    "aider/exited-",
    "aider/interrupted-esc-esc-",
    "aider/typing-slash-quit-",
    "opencode/hooks-start-",
)

pytestmark = pytest.mark.skipif(
    not (FOLDER / "labels.jsonl").exists(), reason=f"no recorded screens in {FOLDER} (COVEY_SCREENS names them)"
)


def test_recorded_screens_are_read_as_they_are_labelled() -> None:
    found = score(FOLDER, CATALOG)
    assert found.total >= TOTAL
    assert [miss for miss in found.misses if not miss.file.startswith(MISLABELLED)] == []
    assert found.right >= RIGHT


def test_nothing_that_asks_or_works_is_called_idle() -> None:
    matrix = score(FOLDER, CATALOG).matrix
    assert matrix["blocked"].get("idle", 0) == 0
    assert matrix["working"].get("idle", 0) == 0
