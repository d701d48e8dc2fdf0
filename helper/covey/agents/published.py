"""What agents write of themselves while they run, read from the files that their profiles name.

A file is believed only while it belongs to the very process that is asked about: a killed agent leaves its file, and
a pid comes again. Nothing is made of a file's age, for a long turn writes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey import document, process
from covey.agents.profile import SessionFile
from covey.models import Identity, StateName

MAX_FILE = 1 << 16  # bytes

_ID = re.compile(r"\w[\w-]{0,127}", re.ASCII)  # it becomes an argument, so it never looks like an option


@dataclass(frozen=True, slots=True)
class Published:
    """What an agent says that it is doing; ``about``: what it waits for, in its own words.

    ``conversation``: its own id of what is being said ('': it does not tell).
    """

    state: StateName
    about: str = ""
    background: int = 0
    conversation: str = ""


@dataclass(slots=True)
class _Known:
    path: Path
    owner: Identity
    stamp: tuple[int, int, int] = (0, 0, 0)
    said: Published | None = None


class Files:
    """The files of all sessions, each read again only when it changed. Blocks for as long as a disk does."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], _Known] = {}

    def read(self, asked: Iterable[tuple[str, int, SessionFile]]) -> dict[str, Published]:
        """What each of these (session, pid, rule) says of itself; what is not asked about is forgotten."""
        known, said = {}, {}
        for session, pid, rule in asked:
            file = self._known.get((session, pid)) or _find(pid, rule)
            if file is None:
                continue
            known[session, pid] = file
            if (words := _read(file, rule)) is not None:
                said[session] = words
        self._known = known
        return said


def _find(pid: int, rule: SessionFile) -> _Known | None:
    """The file of that process, once it is there; where it is, the process's own environment says."""
    owner, env = process.identify(pid), process.environment(pid)
    if owner is None or env is None:
        return None
    path = _folder(env, rule) / rule.file.replace("{pid}", str(pid))
    return _Known(path, owner) if path.is_file() else None


def _folder(env: Mapping[str, str], rule: SessionFile) -> Path:
    home = env.get("HOME") or str(Path.home())
    return Path(env.get(rule.folder_env) or rule.folder.replace("~", home, 1))


def _read(file: _Known, rule: SessionFile) -> Published | None:
    """What stands in the file; what stood in it before, where it is being written right now."""
    try:
        facts = file.path.stat()
        stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        if stamp != file.stamp and facts.st_size <= MAX_FILE:
            file.said = _words(json.loads(document.data(file.path, MAX_FILE)), file.owner, rule)
            file.stamp = stamp
    except FileNotFoundError:
        return None
    except (OSError, document.Unreadable, ValueError, RecursionError):
        pass
    return file.said


def _words(said: Any, owner: Identity, rule: SessionFile) -> Published | None:
    if not isinstance(said, dict) or str(said.get(rule.start)) != str(owner.start):
        return None
    word = str(said.get(rule.state))
    if any(said.get(key) != value for key, value in rule.only.items()) or word not in rule.states:
        return None
    state = rule.states[word]
    about = str(said.get(rule.about) or "")[:120] if state == "blocked" else ""
    conversation = str(said.get(rule.conversation) or "")
    return Published(state, about, int(word in rule.background), conversation if _ID.fullmatch(conversation) else "")
