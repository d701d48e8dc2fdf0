"""Fixtures of the editor's half."""

from __future__ import annotations

import pytest

from wire import Wire


@pytest.fixture
def wire(nvim):
    """An nvim whose covey has no Python behind it; ``wire.nvim`` is the editor."""
    return Wire(nvim)
