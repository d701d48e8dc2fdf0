"""Which conversation an agent began that chooses its ids by itself: looked up in its own history.

Found are conversations of the session's directory that began since the agent was started. Where two fit, none is
taken: to go on with somebody else's talk is worse than to begin anew.
"""

from __future__ import annotations

import glob
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path

from covey import document
from covey.agents.profile import Profile
from covey.models import Spec

HEAD = 1 << 16  # bytes at the start of a history file in which its directory is named
SLACK = 2.0  # seconds by which clocks of files may lag
BUSY = 1.0  # seconds to wait for an agent that writes its database

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r'"timestamp": ?"(\d{4}-\d\d-\d\dT[\d:.]+Z)"')
_NAMES = '"cwd":{}'


def find_conversation(profile: Profile, spec: Spec, env: Mapping[str, str], since: float) -> str:
    """The id of the conversation that this session's agent began after ``since`` (seconds since 1970); '' if unsure.

    ``env`` is what the agent was started with: its HOME says where the history is. Reads files, so not on the loop.
    """
    path = profile.history.replace("~", env.get("HOME") or str(Path.home()), 1)
    look = _in_database if profile.history_query else _in_files
    try:
        found = set(look(path, profile, spec, since - SLACK)) if path and profile.resume else set()
    except (OSError, document.Unreadable, sqlite3.Error):
        return ""
    return found.pop() if len(found) == 1 else ""


def _in_files(path: str, profile: Profile, spec: Spec, since: float) -> Iterator[str]:
    """One file a conversation: its id, a UUID, in its name, and near its beginning its directory and its time."""
    del profile
    pattern = path.replace("{id}", "*") if "{id}" in path else ""
    for each in glob.iglob(pattern):  # noqa: PTH207 - an absolute pattern, which Path.glob refuses
        found = _UUID.search(Path(each).name)
        head = document.head(Path(each), HEAD).decode("utf-8", "replace")
        if found and _began(head) >= since and _NAMES.format(json.dumps(spec.cwd, ensure_ascii=False)) in head:
            yield found.group()


def _began(head: str) -> float:
    """The first time that is written in a history, in seconds since 1970."""
    found = _TIME.search(head)
    return datetime.fromisoformat(found.group(1)).timestamp() if found else 0.0


def _in_database(path: str, profile: Profile, spec: Spec, since: float) -> Iterator[str]:
    """The query answers ids for ``:cwd`` and ``:since`` (milliseconds since 1970)."""
    given = {"cwd": spec.cwd, "since": int(since * 1000)}
    with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, timeout=BUSY)) as base:
        yield from (str(row[0]) for row in base.execute(profile.history_query, given))
