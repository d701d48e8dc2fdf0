"""covey's core: it knows tmux, processes and agents, and no editor."""

from __future__ import annotations

__version__ = "0.1.0"
