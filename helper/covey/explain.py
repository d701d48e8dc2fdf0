"""Recorded screens, judged and scored: how well the rules read what agents really show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey import document, errors
from covey.agents import Catalog, Profile
from covey.models import Json, Verdict
from covey.state import Evidence, judge
from covey.tmux.screen import Screen, parse

MAX_FILE = 1 << 24  # bytes of a recording, or of the labels of many
GENERIC = "custom"  # the profile for screens of programs without one
# What a label of a recording means in covey's words; a transition is a frame between two states.
WANTED: Mapping[str, str] = {
    "permission": "blocked",
    "dialog": "blocked",
    "error:retrying": "working",
    "error:settled": "idle",
}
TRANSITION = "transition"
EITHER = frozenset({"working", "idle", "blocked", "unknown"})


@dataclass(frozen=True, slots=True)
class Miss:
    """One recording that was judged otherwise than its label says."""

    file: str
    want: str
    got: str
    rule: str
    excerpt: str

    def to_json(self) -> Json:
        return {"file": self.file, "want": self.want, "got": self.got, "rule": self.rule, "excerpt": self.excerpt}


@dataclass(frozen=True, slots=True)
class Score:
    """How a directory of recordings was judged. ``matrix[want][got]`` counts them."""

    total: int
    right: int
    matrix: Mapping[str, Mapping[str, int]]
    misses: tuple[Miss, ...]

    def to_json(self) -> Json:
        return {
            "total": self.total,
            "right": self.right,
            "matrix": {want: dict(row) for want, row in self.matrix.items()},
            "misses": [miss.to_json() for miss in self.misses],
        }


def explain_file(path: Path, catalog: Catalog, agent: str | None = None, title: str = "") -> Verdict:
    """What the screen in ``path`` shows; colours are taken from an ``.ansi`` file beside it, if there is one.

    ``agent`` None: by the rules that know no program. Raises errors.Usage for an unknown agent and
    errors.NotFound for a file that cannot be read.
    """
    profile = catalog.get(agent or GENERIC)
    return judge(Evidence(read_screen(path), title), profile)


def read_screen(path: Path, cols: int = 0) -> Screen:
    """The screen recorded in ``path``. Raises errors.NotFound when it cannot be read."""
    twin = path.with_suffix(".ansi")
    try:
        if twin.exists():
            return parse(_recorded(twin), cols)
        return Screen.plain(_recorded(path), cols)
    except document.Unreadable as error:
        raise errors.NotFound(f"{path} cannot be read: {error}") from error


def _recorded(path: Path) -> str:
    return document.data(path, MAX_FILE).decode("utf-8", "replace")


def score(directory: Path, catalog: Catalog) -> Score:
    """Judges every recording that ``labels.jsonl`` in ``directory`` names.

    A label has ``file``, ``cli`` and ``state``, and may have ``title``, ``cols`` and ``dead``.
    Raises errors.NotFound or errors.Usage when the labels cannot be read.
    """
    labels = _labels(directory / "labels.jsonl")
    machines = _machine_titles(labels)
    judged = [(label, _judge(directory, label, catalog, machines)) for label in labels]
    matrix: dict[str, Counter[str]] = {}
    misses = []
    for label, verdict in judged:
        want = WANTED.get(label["state"], label["state"])
        matrix.setdefault(want, Counter())[verdict.state] += 1
        if not _right(want, verdict):
            misses.append(Miss(label["file"], want, verdict.state, verdict.rule, verdict.excerpt))
    return Score(len(judged), len(judged) - len(misses), matrix, tuple(misses))


def _right(want: str, verdict: Verdict) -> bool:
    return verdict.state in EITHER if want == TRANSITION else verdict.state == want


def _judge(directory: Path, label: Json, catalog: Catalog, machines: frozenset[str]) -> Verdict:
    title = str(label.get("title", ""))
    evidence = Evidence(
        screen=read_screen(directory / label["file"], int(label.get("cols", 0))),
        title=title,
        dead=bool(label.get("dead", False)),
        title_is_set=title not in machines,
    )
    return judge(evidence, _profile(catalog, label["cli"]))


def _profile(catalog: Catalog, cli: str) -> Profile:
    return catalog.get(cli if cli in catalog.names() else GENERIC)


def _machine_titles(labels: Iterable[Json]) -> frozenset[str]:
    """Titles that panes of more than one program bear: the one tmux gives them at birth, not the program's own."""
    users: dict[str, set[str]] = {}
    for label in labels:
        users.setdefault(str(label.get("title", "")), set()).add(str(label["cli"]))
    return frozenset(title for title, clis in users.items() if len(clis) > 1)


def _labels(path: Path) -> list[Json]:
    try:
        rows = document.text(path, MAX_FILE).splitlines()
        labels: list[dict[str, Any]] = [json.loads(row) for row in rows if row.strip()]
    except document.Unreadable as error:
        raise errors.NotFound(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise errors.Usage(f"{path} is not one JSON object a line: {error}.") from error
    if not all(isinstance(label, dict) and {"file", "cli", "state"} <= label.keys() for label in labels):
        raise errors.Usage(f"{path}: each line needs file, cli and state.")
    return labels
