"""Profiles of agents: one TOML file each, shipped here, added to or replaced by a person's own files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from covey import errors
from covey.agents.check import BadProfile, line_of, read
from covey.agents.profile import Profile

MAX_FILES = 128  # of one directory

__all__ = ["Catalog", "Profile", "load"]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The profiles that could be read, and one sentence (file, line, key) for each that could not."""

    profiles: Mapping[str, Profile]
    problems: tuple[str, ...] = ()

    def get(self, name: str) -> Profile:
        """The profile of that name. Raises errors.Usage, which lists the names there are."""
        try:
            return self.profiles[name]
        except KeyError:
            raise errors.Usage(f"There is no agent {name!r}.", f"Known: {', '.join(self.names())}.") from None

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self.profiles)


def load(user_dirs: Iterable[Path] = ()) -> Catalog:
    """The shipped profiles, with those of ``user_dirs`` (``*.toml``) put over them in that order, by name.

    A file may start from a profile read before it (``like = "claude"``) and change only what it names. A bad file
    costs itself alone: it is named in ``problems``, and whatever it would have replaced stays.
    """
    profiles: dict[str, Profile] = {}
    problems: list[str] = []
    for file in [*_files(resources.files(__name__)), *(f for folder in user_dirs for f in _files(folder))]:
        try:
            profile = _read(file, profiles)
        except _Problem as problem:
            problems.append(str(problem))
        else:
            profiles[profile.name] = profile
    return Catalog(profiles, tuple(problems))


class _Problem(Exception):
    pass


def _files(folder: Traversable | Path) -> Iterator[Traversable | Path]:
    try:
        found = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    except OSError:
        return iter(())
    return iter(found[:MAX_FILES])


def _read(file: Traversable | Path, known: Mapping[str, Profile]) -> Profile:
    text = ""
    try:
        text = file.read_text(encoding="utf-8")
        return read(text, known)
    except OSError as error:
        raise _Problem(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _Problem(f"{file}: is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise _Problem(f"{file}: is not TOML: {error}") from error
    except BadProfile as error:
        line = line_of(text, error.key)
        raise _Problem(f"{file}{f', line {line}' if line else ''}: {error}") from error
