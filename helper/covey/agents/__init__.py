"""Profiles of agents: one TOML file each, shipped here, added to or replaced by a person's own files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeAlias

from covey import errors
from covey.agents.check import Known, line_of, read
from covey.agents.profile import Profile
from covey.agents.values import BadProfile

MAX_FILES = 128  # of one directory
MAX_FILE = 65_536  # bytes
File: TypeAlias = Traversable | Path

__all__ = ["Catalog", "Profile", "load"]


class Catalog:
    """The profiles there are. A shipped one is read when it is asked for; a person's own all at the first question."""

    def __init__(self, shipped: Mapping[str, File], added: Sequence[File]) -> None:
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

    def _take(self, file: File) -> None:
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
    shipped = {file.name.removesuffix(".toml"): file for file in _files(resources.files(__name__))}
    return Catalog(shipped, [file for folder in user_dirs for file in _files(folder)])


class _Problem(Exception):
    pass


def _files(folder: File) -> list[File]:
    try:
        found: list[File] = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    except OSError:
        return []
    return found[:MAX_FILES]


def _text(file: File) -> str:
    """What stands in a file of a sensible size; nothing else is opened, for a pipe or a device may never end."""
    if not file.is_file():
        raise _Problem(f"{file}: is not a file that can be read")
    with file.open("rb") as opened:
        data = opened.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise _Problem(f"{file}: is larger than {MAX_FILE} bytes")
    return data.decode("utf-8-sig")


def _read(file: File, known: Known) -> Profile:
    text = ""
    try:
        text = _text(file)
        return read(text, known)
    except OSError as error:
        raise _Problem(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _Problem(f"{file}: is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise _Problem(f"{file}: is not TOML: {error}") from error
    except RecursionError as error:
        raise _Problem(f"{file}: is nested too deeply") from error
    except BadProfile as error:
        line = line_of(text, error.key)
        raise _Problem(f"{file}{f', line {line}' if line else ''}: {error}") from error
