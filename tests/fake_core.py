"""A helper that knows nothing, for tests of what lies before it: the host process, the wire, the editor's side.

`install(world)` puts a package `covey` of the same shape as the real one before it on the path of an interpreter of
its own; the answer is that interpreter, for the option `python`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from world import World

ERRORS = """
class CoveyError(Exception):
    code = "refused"

    def to_json(self):
        return {"code": self.code, "message": str(self), "hint": "do it otherwise"}
"""

API = """
import asyncio, os, signal, sys, time, warnings
from covey.errors import CoveyError

TRACE = {trace!r}


def trace(word):
    with open(TRACE, "a") as file:
        file.write(word + "\\n")


print("a stray print at import")


class Front:
    def __init__(self, emit):
        self._emit, self._seq, self._bye = emit, 0, 0.0

    def send(self, event, data, session="", skip=0):
        self._seq += 1 + skip
        self._emit({{"event": event, "session": session, "data": data, "seq": self._seq}})

    async def hello(self, params):
        trace("hello " + str(params["pid"]))
        if os.path.exists(TRACE + ".refuse"):
            raise CoveyError("tmux is missing")
        await asyncio.sleep(0.1)
        trace("ready")
        self.send("Fleet", {{"sessions": [], "receipts": []}})
        return {{"version": "0", "tmux": None}}

    async def call(self, method, params):
        return await getattr(self, "do_" + method)(params)

    async def bye(self, params):
        trace("bye")
        await asyncio.sleep(self._bye)
        trace("swept")

    async def close(self):
        trace("closed")

    async def do_list(self, params):
        return []

    async def do_echo(self, params):
        return params

    async def do_snapshot(self, params):
        trace("snapshot")
        return {{"sessions": [{{"id": "aaaaaaaa", "name": "found again", "state": "idle", "agent": "shell"}}]}}

    async def do_emit(self, params):
        self.send(params["event"], params["data"], skip=params.get("skip", 0))

    async def do_print(self, params):
        print("a stray print in a call", flush=True)
        os.write(1, b"and one past Python\\n")
        os.system("echo and one by a child; cat")
        assert os.read(0, 1) == b""
        warnings.warn("and a warning")
        sys.stdout.write("x" * 5_000_000)
        return "printed"

    async def do_mistake(self, params):
        raise CoveyError("that will not do")

    async def do_bug(self, params):
        raise ValueError("a bug of ours")

    async def do_unpackable(self, params):
        return object()

    async def do_busy(self, params):
        time.sleep(params["seconds"])

    async def do_hang(self, params):
        await asyncio.sleep(3600)

    async def do_send(self, params):
        await asyncio.sleep(3600)

    async def do_slow_bye(self, params):
        self._bye = params["seconds"]

    async def do_die(self, params):
        os.kill(os.getpid(), signal.SIGKILL)

    async def do_where(self, params):
        import json
        return {{"json": json.__file__, "path": sys.path, "pid": os.getpid(), "env": dict(os.environ)}}
"""


def install(world: World, api: str = API) -> Path:
    """An interpreter that imports the fake; what it did is in `trace(world)`."""
    package = world.root / "fake" / "covey"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "errors.py").write_text(ERRORS)
    (package / "api.py").write_text(api.format(trace=str(_trace(world))) if api is API else api)
    return interpreter(world, f'PYTHONPATH="{package.parent}" exec "{sys.executable}" "$@"')


def interpreter(world: World, script: str) -> Path:
    """An executable that stands for a Python: a shell script of this one line."""
    path = world.root / "a python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def trace(world: World) -> list[str]:
    """What the fake was told, in order."""
    path = _trace(world)
    return path.read_text().splitlines() if path.exists() else []


def refuse(world: World) -> None:
    """From now on the fake answers hello with an error."""
    _trace(world).with_name("trace.refuse").touch()


def _trace(world: World) -> Path:
    return world.root / "trace"
