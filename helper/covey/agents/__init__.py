"""Profiles of agents: one TOML file each, shipped here, added to or replaced by a person's own files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from covey import document, errors
from covey.agents.check import Known, read
from covey.agents.profile import Profile
from covey.agents.values import BadProfile

MAX_FILES = 128  # of one directory
SHIPPED = Path(__file__).parent

__all__ = ["Catalog", "Profile", "load"]


class Catalog:
    """The profiles there are. A shipped one is read when it is asked for; a person's own all at the first question."""

    def __init__(self, shipped: Mapping[str, Path], added: Sequence[Path]) -> None:
        self._shipped = shipped
        self._added = list(added)
        self._read: dict[str, Profile] = {}
        self._problems: list[str] = []

    def get(self, name: str) -> Profile:
        """The profile of that name. Raises errors.Usage, which lists the names there are."""
        self._read_added()
        found = self._known(name)
        if found is None:
            raise errors.Usage(f"There is no agent {name!r}.", f"Known: {', '.join(self.names())}.")
        return found

    def names(self) -> list[str]:
        """All names, sorted. A shipped file bears the name of its agent."""
        self._read_added()
        return sorted(self._shipped.keys() | self._read.keys())

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """All that can be read, by name."""
        found = {name: self._known(name) for name in self.names()}
        return {name: profile for name, profile in found.items() if profile is not None}

    @property
    def own_problems(self) -> tuple[str, ...]:
        """As ``problems``, of a person's own files alone, and the shipped ones that they start from."""
        self._read_added()
        return tuple(self._problems)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence (file, line, key) for each file that cannot be read; to know that, all are read."""
        return tuple(self._problems) if self.profiles else ()

    def _known(self, name: str) -> Profile | None:
        if name not in self._read and name in self._shipped:
            self._take(self._shipped[name])
        return self._read.get(name)

    def _read_added(self) -> None:
        while self._added:
            self._take(self._added.pop(0))

    def _take(self, file: Path) -> None:
        """Read one file over what is known. A bad one costs itself alone: what it would have replaced stays."""
        try:
            profile = _read(file, self._known)
        except _Problem as problem:
            self._problems.append(str(problem))
        else:
            self._read[profile.name] = profile


def load(user_dirs: Iterable[Path] = ()) -> Catalog:
    """The shipped profiles, with those of ``user_dirs`` (``*.toml``) put over them in that order, by name.

    A file may start from a profile read before it (``like = "claude"``) and change only what it names.
    """
    shipped = {file.name.removesuffix(".toml"): file for file in _files(SHIPPED)}
    return Catalog(shipped, [file for folder in user_dirs for file in _files(folder)])


class _Problem(Exception):
    pass


def _files(folder: Path) -> list[Path]:
    try:
        found = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    except OSError:
        return []
    return found[:MAX_FILES]


def _read(file: Path, known: Known) -> Profile:
    text = ""
    try:
        text = document.text(file)
        return read(text, known)
    except document.Unreadable as error:
        raise _Problem(f"{file} cannot be read: {error}") from error
    except BadProfile as error:
        raise _Problem(f"{document.place(file, text, error.key)}: {error}") from error
