"""Values that a person did not give but said where they are: ``env:NAME``, ``file:PATH``, ``cmd:COMMAND``.

They are read anew at each start. That may take as long as a person takes to unlock a password manager, so whoever
reads holds no lock. Errors name the variable, never a value.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping
from pathlib import Path

from covey import document, env
from covey.errors import Refused
from covey.hearing import hear

DEADLINE = 30.0  # seconds a command may take
KINDS = ("env:", "file:", "cmd:")

# The command in a session of its own, with nothing to read. The one beside it reads from covey and hears nothing until
# covey lets go of its end, or dies in whatever way: then all that belongs to the command is killed.
GUARDED = """
exec 3<&0 </dev/null
{ read -r _ <&3; kill -KILL 0; } >/dev/null &
exec 3<&-
/bin/sh -c "$1"
status=$?
kill -KILL $!
exit $status
"""


def is_one(value: str) -> bool:
    return value.startswith(KINDS)


async def read(given: Mapping[str, str], caller: Mapping[str, str]) -> dict[str, str]:
    """What was given, each reference replaced by what it stands for now, and all of it fit to cross."""
    values = {}
    for name, value in given.items():
        env.check(name, value)
        values[name] = await resolve(name, value, caller) if is_one(value) else value
        env.check(name, values[name])
    return values


async def resolve(name: str, reference: str, caller: Mapping[str, str]) -> str:
    """The value a reference stands for now."""
    kind, _, what = reference.partition(":")
    if kind == "env":
        if what not in caller:
            raise Refused(f"{name} is taken from {what}, which is not set here", f"set {what} and try again")
        return caller[what]
    if kind == "file":
        return _text(await asyncio.to_thread(_from_file, name, Path(what)))
    return _text(await _from_command(name, what, caller))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").removesuffix("\n")


def _from_file(name: str, path: Path) -> bytes:
    try:
        path = path.expanduser()
        return document.data(path, env.MAX_VALUE)
    except (document.Unreadable, RuntimeError) as error:  # the latter for the home of nobody
        raise Refused(f"{name} is taken from a file that cannot be read: {error}", f"{path}") from None


async def _from_command(name: str, command: str, caller: Mapping[str, str]) -> bytes:
    guarded = ("/bin/sh", "-c", GUARDED, "sh", command)
    heard = await hear(*guarded, deadline=DEADLINE, most=env.MAX_VALUE, env=dict(caller), stdin=subprocess.PIPE)
    if heard.late:
        raise Refused(f"the command that gives {name} did not end within {DEADLINE:g} s")
    if len(heard.said) > env.MAX_VALUE:
        raise Refused(f"the command that gives {name} says more than 128 KiB")
    if heard.status:
        raise Refused(f"the command that gives {name} ended with status {heard.status}")
    return heard.said
