"""What belongs to the person who runs the tests, and whether it is still as it was."""

from __future__ import annotations

import os
from pathlib import Path

NAMES = ("covey", "nvim", "tmux")


def watched(home: Path, uid: int, runtime: Path | None) -> list[Path]:
    """The places covey, nvim and tmux would use if a test forgot to say otherwise."""
    bases = [home / ".config", home / ".local/share", home / ".local/state", home / ".cache"]
    places = [base / name for base in bases for name in NAMES]
    places += [home / ".tmux.conf", Path(f"/tmp/tmux-{uid}")]
    return places + ([runtime / "covey"] if runtime else [])


def snapshot(places: list[Path]) -> dict[str, tuple[int, int]]:
    """Every path at or below the places, with what changes when it is made anew or written to.

    nvim's own state and cache are seen as a whole: a person may be working in an editor meanwhile.
    """
    seen: dict[str, tuple[int, int]] = {}
    for place in places:
        if place.name == "nvim" and place.parent.name in ("state", ".cache"):
            seen |= {str(place): (0, 0)} if place.exists() else {}
        else:
            seen |= _below(place)
    return seen


def changes(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> list[str]:
    """One line for each path that came, went or changed."""
    names = sorted({*before, *after})
    return [f"{_verb(name, before, after)} {name}" for name in names if before.get(name) != after.get(name)]


def _verb(name: str, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> str:
    if name not in before:
        return "made"
    return "changed" if name in after else "removed"


def _below(place: Path) -> dict[str, tuple[int, int]]:
    paths = [place, *place.rglob("*")] if place.is_dir() else [place]
    return {str(path): _mark(path.lstat()) for path in paths if os.path.lexists(path)}


def _mark(found: os.stat_result) -> tuple[int, int]:
    """A directory's time changes with each file in it, and those are listed; so only a file's time counts."""
    is_file = (found.st_mode & 0o170000) == 0o100000
    return found.st_ino, found.st_mtime_ns if is_file else 0


# Read once, before the first test: each test changes these in its own environment.
PLACES = watched(
    Path.home(), os.getuid(), Path(os.environ["XDG_RUNTIME_DIR"]) if "XDG_RUNTIME_DIR" in os.environ else None
)
