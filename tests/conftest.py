"""Fixtures for every test: a world of its own, a real nvim and a person's terminal in it, nothing else touched."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from editor import Editor
from terminal import Terminal
from untouched import PLACES, changes, snapshot
from world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping


# A busy machine is no fault of the code, and what fails once, fails again: each run has the same examples.
# `pytest --hypothesis-profile=explore` looks for others.
settings.register_profile("covey", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("covey"), derandomize=False)
settings.load_profile("covey")

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session", autouse=True)
def untouched() -> Iterator[None]:
    """The person's files and default tmux server are after the run what they were before it."""
    before = snapshot(PLACES)
    yield
    found = changes(before, snapshot(PLACES))
    assert not found, "the tests touched what is not theirs:\n" + "\n".join(found)


@pytest.fixture
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A fresh ``World``, in ``os.environ`` too. The test fails if a process started in it is left running.

    Where the test failed, the ends of the world's logs are printed.
    """
    here = World()
    for name in os.environ:
        if name not in here.env and not name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    for name, value in here.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", None)  # it remembers where it made its first file
    yield here
    if request.node.stash.get(FAILED, False):
        print(here.logs())
    left = here.close()
    assert not left, "left running:\n" + "\n".join(left)


@pytest.fixture
def start_nvim(world: World) -> Iterator[Callable[..., Editor]]:
    """A callable that starts one more nvim: ``start_nvim(*arguments, env={})``. All are gone after the test."""
    editors: list[Editor] = []

    def start(*arguments: str, env: Mapping[str, str] | None = None) -> Editor:
        editors.append(Editor(world, arguments, env))
        return editors[-1]

    yield start
    for editor in editors:
        editor.close()


@pytest.fixture
def nvim(start_nvim: Callable[..., Any]) -> Editor:
    """A running ``Editor`` with covey on its runtimepath."""
    return start_nvim()


@pytest.fixture
def start_terminal(world: World) -> Iterator[Callable[[], Terminal]]:
    """A callable that gives one more terminal, for a test with several persons."""
    terminals: list[Terminal] = []

    def start() -> Terminal:
        terminals.append(Terminal(world))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.kill()


@pytest.fixture
def terminal(start_terminal: Callable[[], Terminal]) -> Terminal:
    """A person's ``Terminal``; ``terminal.start(argv)`` runs a program in it."""
    return start_terminal()
