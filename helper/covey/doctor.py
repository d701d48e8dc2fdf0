"""What can be said about this machine and this fleet: versions, agents, a session's story, and a self-test."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from covey import __version__, paths
from covey.agents import Catalog, Profile
from covey.errors import CoveyError
from covey.hearing import hear
from covey.helper import Helper
from covey.models import Json

PROBE_DEADLINE = 2.0  # seconds a program may take to print its version
PROBE_MOST = 4096  # bytes of its output that are looked at
READY_PATIENCE = 10.0  # seconds until the self-test's agent must be ready
PACKAGES = ("pynvim", "libtmux", "psutil", "platformdirs")
OLDEST_TMUX = (3, 2)
TELLS_SIGNALS = (3, 3)
SERVER_OPTIONS = ("message-limit", "set-clipboard", "focus-events", "extended-keys", "exit-empty", "escape-time")


async def ask(*argv: str) -> str:
    """The first lines that a program prints, or '' if it fails, hangs, or prints without end."""
    try:
        heard = await hear(*argv, deadline=PROBE_DEADLINE, most=PROBE_MOST)
    except OSError:
        return ""
    return heard.said[:PROBE_MOST].decode("utf-8", "replace").strip()


async def agents(catalog: Catalog) -> list[Json]:
    """Every profile: whether its program is installed, which version, and the version its rules were verified with."""
    return list(await asyncio.gather(*(_agent(catalog.get(name)) for name in catalog.names())))


async def _agent(profile: Profile) -> Json:
    program = profile.argv[0] if profile.argv else ""
    path = sys.executable if program == "{python}" else shutil.which(os.path.expandvars(program))
    installed = bool(path) or program in ("", "{shell}")
    said = ""
    if path and profile.probe and program != "{python}":
        said = await ask(path, *profile.probe[1:])
        installed = profile.probe_match is None or not said or profile.probe_match.search(said) is not None
    return {
        "name": profile.name,
        "title": profile.title,
        "installed": installed,
        "path": path or "",
        "version": said.splitlines()[0] if said else "",
        "verified": profile.verified_version,
        "untested": profile.untested,
        "reference": profile.reference,
    }


async def report(helper: Helper) -> Json:
    """Everything health wants to know, section by section; nothing in it fails the others."""
    wire = helper.place.wire
    packages, tmux = {name: _installed(name) for name in PACKAGES}, await _tmux(helper)
    problems = [*helper.settings.problems, *helper.catalog.problems]
    return {
        "ok": tmux["ok"] and all(packages.values()) and not problems,
        "covey": {"version": __version__, "python": sys.executable, "python_version": sys.version.split()[0]},
        "packages": packages,
        "tmux": tmux,
        "paths": {
            "state": str(paths.state_dir()),
            "runtime": str(paths.runtime_dir()),
            "config": str(paths.config_dir()),
            "socket": str(wire.socket),
            "log": str(paths.log_path()),
        },
        "fleet": {"sessions": len(helper.fleet.views), "connected": wire.connected},
        "problems": problems,
        "warnings": _warnings(tmux["version"]),
        "agents": await agents(helper.catalog),
    }


def _installed(name: str) -> str:
    from importlib import metadata  # noqa: PLC0415  # 8 ms that only a health check pays

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


async def _tmux(helper: Helper) -> Json:
    wire = helper.place.wire
    path = shutil.which(wire.binary) or ""
    said = await ask(path, "-V") if path else ""
    facts: Json = {"path": path, "version": said, "ok": _version(said) >= OLDEST_TMUX, "options": {}}
    if wire.connected:
        with contextlib.suppress(CoveyError, TimeoutError):
            facts["options"] = await asyncio.to_thread(_options, helper, asyncio.get_running_loop())
    return facts


def _warnings(said: str) -> list[str]:
    """What works less well with this tmux than with another."""
    if not OLDEST_TMUX <= _version(said) < TELLS_SIGNALS:
        return []
    return [f"{said} does not tell which signal ended an agent, so that is shown as unknown; tmux 3.3 does"]


def _options(helper: Helper, loop: asyncio.AbstractEventLoop) -> Json:
    """The server's options, typed by libtmux over the helper's own wire."""
    server = helper.place.wire.objects(loop)
    said = [line.partition(" ") for line in server.cmd("show-options", "-s").stdout]
    return {name: value for name, _, value in said if name in SERVER_OPTIONS}


def _version(said: str) -> tuple[int, ...]:
    digits = "".join(char if char.isdigit() or char == "." else " " for char in said).split()
    return tuple(int(part) for part in digits[0].split(".") if part) if digits else (0,)


async def selftest(call: Callable[..., Awaitable[Any]]) -> Json:
    """Open a stand-in agent, prompt it, read the answer, end it; with the milliseconds of the round trip."""
    name = f"selftest {uuid.uuid4().hex[:6]}"
    checks: list[Json] = []
    began = time.monotonic()
    try:
        await call("open", name=name, agent="standin", cwd="/", on_exit="reap")
        checks.append({"name": "open", "ok": True, "note": ""})
        receipt = await call("send", name=name, text="echo covey äöü 你好 end", wait=READY_PATIENCE)
        if receipt["outcome"] == "held":
            receipt = await call("wait", act=receipt["id"], seconds=READY_PATIENCE)
        sent = time.monotonic()
        checks.append({"name": "send", "ok": receipt["outcome"] == "submitted", "note": receipt["reason"]})
        checks.append(await _shows(call, name, "covey äöü 你好"))
    except CoveyError as error:
        checks.append({"name": "open", "ok": False, "note": error.message})
        sent = time.monotonic()
    finally:
        with contextlib.suppress(CoveyError):
            killed = await call("kill", name=name)
            checks.append({"name": "kill", "ok": not killed["survivors"], "note": ""})
    return {
        "ok": all(each["ok"] for each in checks),
        "ms": round((sent - began) * 1000, 1),
        "checks": checks,
    }


async def _shows(call: Callable[..., Awaitable[Any]], name: str, text: str) -> Json:
    for _ in range(50):
        shot: dict[str, Any] = await call("capture", name=name)
        if any(text in line for line in shot["lines"]):
            return {"name": "screen", "ok": True, "note": ""}
        await asyncio.sleep(0.02)
    return {"name": "screen", "ok": False, "note": "the answer did not show"}
