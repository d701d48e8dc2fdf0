"""Python processes for tests that need a second one: started with things at hand, ended with the test."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from world import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def offspring(prelude: str, where: Path) -> Iterator[Callable[..., subprocess.Popen]]:
    """A callable that runs ``prelude`` and some code with ``where`` and more as arguments; all are ended after it."""
    started = []

    def start(code: str, *args: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", prelude + code, str(where), *args],
            env={"PYTHONPATH": str(ROOT / "helper"), "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
