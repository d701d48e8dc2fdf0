"""What a session is called, where it runs and what runs in it, before anything starts."""

from __future__ import annotations

import base64
import re
import secrets
import unicodedata
import uuid
from collections.abc import Collection, Mapping
from pathlib import Path

from covey.agents import Profile
from covey.errors import Refused, Usage

NAME_MAX = 200  # characters
_ID = re.compile(r"(?=.*[2-7])[a-z2-7]{8}\Z")


def mint() -> str:
    """A new id: 8 lower-case base32 characters with at least one digit, so that no plain word is one."""
    while True:
        made = base64.b32encode(secrets.token_bytes(5)).decode().lower()
        if _ID.match(made):
            return made


def check(name: str) -> str:
    """The name in NFC. Any one line that a person can see and type is one."""
    normal = unicodedata.normalize("NFC", name)
    bad = next((char for char in normal if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")), None)
    if bad is not None:
        raise Usage(f"a name cannot hold {bad!r}", "leave that character out")
    if not normal.strip():
        raise Usage("a name cannot be empty", "give it a letter")
    if len(normal) > NAME_MAX:
        raise Usage(f"a name cannot be longer than {NAME_MAX} characters", "shorten it")
    if _ID.match(normal):
        raise Usage(f"{normal!r} looks like a session's id", "choose a name that does not")
    return normal


def free(agent: str, taken: Collection[str]) -> str:
    """The first of ``agent``, ``agent-2``, … that is not taken."""
    number = 1
    while (name := agent if number == 1 else f"{agent}-{number}") in taken:
        number += 1
    return name


def argv(profile: Profile, caller: Mapping[str, str]) -> tuple[str, ...]:
    """How the agent is started when no command was given."""
    if not profile.argv:
        raise Usage(f"the agent {profile.name} needs a command", "give cmd=… (or: -- CMD…)")
    shell = caller.get("SHELL") or "/bin/sh"
    return tuple(word.replace("{shell}", shell) for word in profile.argv)


def directory(cwd: str) -> str:
    """The real, absolute directory to start in, refused before anything runs elsewhere."""
    path = Path(cwd or ".").expanduser().absolute()
    if not path.is_dir():
        raise Refused(f"{path} is not a directory", "give cwd=DIR")
    return str(path)


def conversation(profile: Profile) -> str:
    """A new conversation's id, where the agent lets us choose it."""
    return str(uuid.uuid4()) if profile.new_id else ""
