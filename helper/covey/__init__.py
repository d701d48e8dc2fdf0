"""covey's core: it knows tmux, processes and agents, and no editor."""

__version__ = "0.1.0"
