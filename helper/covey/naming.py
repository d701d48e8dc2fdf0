"""What a session is called, where it runs and what runs in it, before anything starts."""

from __future__ import annotations

import base64
import re
import secrets
import unicodedata
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from covey import settings
from covey.agents import Profile
from covey.errors import Refused, Usage

TURNS = frozenset("LRE RLE LRO RLO PDF LRI RLI FSI PDI".split())  # bidirectional controls (Unicode, UAX 9)
NAME_MAX = 200  # characters
SLIPPERY = 4  # letters that an agent's name must have for another word to be taken for a slip
NICE_MOST = 19  # the lowest priority there is
FLAGS = ("model", "effort", "permission", "tools")  # options that become arguments of the agent
NUMBERS = {
    "nice": NICE_MOST,
    "history_limit": settings.MOST["history_limit"],
}  # options that are covey's own, up to so much
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
    if not normal.strip() or all(unicodedata.category(char) in ("Cf", "Zs", "Mn") for char in normal):
        raise Usage("a name cannot be empty", "give it a letter")
    if turned := next((char for char in normal if unicodedata.bidirectional(char) in TURNS), None):
        raise Usage(f"a name cannot hold {turned!r}, which turns the text around it", "leave that character out")
    if len(normal) > NAME_MAX:
        raise Usage(f"a name cannot be longer than {NAME_MAX} characters", "shorten it")
    if _ID.match(normal):
        raise Usage(f"{normal!r} looks like a session's id", "choose a name that does not")
    return normal


def meant(words: Sequence[str], name: str, agent: str, known: Collection[str]) -> tuple[str, str]:
    """Name and agent of a session to open. One of ``words`` may be each, in any order, and comes before what is given.

    ``known``: the agents there are. Raises ``Usage`` where it is not clear which word is which.
    """
    agents, names = [word for word in words if word in known], [word for word in words if word not in known]
    if len(agents) > 1:
        raise Usage(f"{agents[0]} and {agents[1]} are both agents", "say which is the name: name=… or --agent")
    if len(names) > 1:
        near = " or ".join(filter(None, (slip(word, known) for word in names)))
        hint = f"did you mean {near}?" if near else "see: covey agents, or :Covey agents"
        raise Usage(f"neither {names[0]!r} nor {names[1]!r} is an agent", hint)
    return (names or [name])[0], (agents or [agent])[0]


def slip(word: str, known: Collection[str]) -> str:
    """The agent that a word was meant for, if it is but a slip away from its name; '' for any other word.

    A number or a dash is no slip: ``codex2`` is the name of a second one.
    """
    near = (name for name in known if len(name) >= SLIPPERY and _one_slip(word.lower(), name))
    return next(near, "") if word.isalpha() else ""


def _one_slip(word: str, name: str) -> bool:
    """Whether one letter is missing, too many or another, or some stand the wrong way round."""
    start = _alike(word, name)
    end = _alike(word[start:][::-1], name[start:][::-1])
    typed, meant = word[start : len(word) - end], name[start : len(name) - end]
    return typed != meant and (max(len(typed), len(meant)) == 1 or typed == meant[::-1])


def _alike(one: str, other: str) -> int:
    """How many letters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


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


def options(given: Mapping[str, Any]) -> dict[str, str]:
    """What was asked for beside the command, as words: ``model effort permission tools nice history_limit``."""
    for name in given.keys() - {*FLAGS, *NUMBERS}:
        raise Usage(f"there is no option {name!r}", f"options: {', '.join([*FLAGS, *NUMBERS])}")
    words = {
        name: ",".join(map(str, value)) if isinstance(value, list) else str(value) for name, value in given.items()
    }
    for name, most in NUMBERS.items():
        if name in words and not (words[name].isascii() and words[name].isdigit() and int(words[name]) <= most):
            raise Usage(f"{name} cannot be {words[name]!r}", f"give a number from 0 to {most}")
    return words


def flags(profile: Profile, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The arguments by which this agent takes those options."""
    words: list[str] = []
    for name in (name for name in FLAGS if name in chosen):
        value, flag = chosen[name], getattr(profile.flags, name)
        if not flag:
            raise Refused(
                f"covey knows no argument of {profile.name} for {name}", "give cmd=… with the arguments it wants"
            )
        if not value.strip() or value.startswith("-") or not value.isprintable():
            raise Usage(f"{name} cannot be {value!r}", "give a word that does not begin with a dash")
        words += [word.replace("{value}", value) for word in flag]
    return tuple(words)


def directory(cwd: str) -> str:
    """The real, absolute directory to start in, refused before anything runs elsewhere."""
    path = Path(cwd or ".").expanduser().absolute()
    if not path.is_dir():
        raise Refused(f"{path} is not a directory", "give cwd=DIR")
    return str(path)


def conversation(profile: Profile) -> str:
    """A new conversation's id, where the agent lets us choose it."""
    return str(uuid.uuid4()) if profile.new_id else ""
