"""The report that every bench writes into, and the table at the end of the run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.table import Report
from covey import paths

if TYPE_CHECKING:
    from world import World

REPORT = pytest.StashKey[Report]()
READER = """
name = "reader"
title = "A program that notes when bytes come"
argv = []
interrupt = [["C-c"]]
grace = 1.0
enter_delay = 0.0
enter_schedule = []
reference = "{path}"
"""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORT] = Report()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    report = config.stash.get(REPORT, Report())
    if not report.rows:
        return
    terminalreporter.section("figures (floor: the same, done bare in the same run; ratio: of medians)")
    for line in report.lines():
        terminalreporter.write_line(line)
    if wanted := os.environ.get("COVEY_BENCH_JSON"):
        report.write(Path(wanted))


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """Where figures go: ``report.add(name, unit, samples, floor=, budget=)``."""
    return request.config.stash[REPORT]


@pytest.fixture
def reader(world: World) -> str:
    """The profile of a program without a composer that wants no pause before Enter; its name."""
    folder = paths.config_dir() / "agents"
    folder.mkdir(parents=True)
    (folder / "reader.toml").write_text(READER)
    return "reader"
