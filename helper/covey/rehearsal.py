"""A rehearsal: an installed agent is led through a whole session against a model of covey's own.

It shows which rules of a profile hold for the version that is installed. Nothing of the person's is used: the agent
gets a home, a project and a key made up for it, and talks to nobody but the loopback.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from covey.agents import Profile
from covey.errors import CoveyError, Refused
from covey.hearing import hear
from covey.mockmodel import MockModel, Request
from covey.models import Json

START_PATIENCE = 90.0  # seconds from the start to the first prompt; some agents unpack themselves first
PATIENCE = 20.0  # seconds for anything else
PROMPT = 1.0  # seconds in which a change must be seen
CUT = 3.0  # seconds an agent may take to hang up on the model
LOOK = 0.05  # seconds between looks
GIT_MOST = 1 << 16  # bytes of what git says
WATCH = 2.0  # seconds a state must hold
MAX_QUESTIONS = 8  # before the first prompt
MADE = "made-by-the-rehearsal"  # the file that the agent's tool is to make

Call: TypeAlias = Callable[..., Awaitable[Any]]


class Failed(Exception):
    """A check did not hold; the message is its note."""


async def rehearse(name: str, call: Call, profile: Profile, path: str) -> Json:
    """Lead the agent ``profile`` through a session called ``name``, and say what held.

    ``call(method, **parameters)`` is the front door's; ``path`` is the PATH on which the agent is found. Answers
    ``{agent, ok, checks: [{name, ok, note, ms}]}``. Raises Refused where the agent is not installed, or its profile
    does not say how it is rehearsed.
    """
    async with staged(name, call, profile, path) as stage:
        return await stage.play()


@asynccontextmanager
async def staged(name: str, call: Call, profile: Profile, path: str) -> AsyncIterator[Stage]:
    """All that ``rehearse`` needs: a model that listens, a made-up home and project. Raises as that does."""
    if profile.rehearsal is None:
        raise Refused(f"the profile of {profile.name} does not say how to rehearse it", "add [rehearsal] to it")
    if shutil.which(profile.argv[0], path=path) is None:
        raise Refused(f"{profile.argv[0]} is not installed", f"PATH is {path}")
    model = MockModel(bare=profile.rehearsal.bare)
    url = await model.start()
    try:
        with _scratch(profile, url) as (home, project, env):
            await _repository(project)
            caller = {"HOME": str(home), "PATH": path, "LANG": os.environ.get("LANG", "C.UTF-8"), "SHELL": "/bin/sh"}
            yield Stage(name, call, profile, model, project, env, caller)
    finally:
        await model.close()


@contextmanager
def _scratch(profile: Profile, url: str) -> Iterator[tuple[Path, Path, dict[str, str]]]:
    """A home with the agent's files in it, a project, and what the agent's environment needs to reach the model."""
    assert profile.rehearsal is not None
    root = Path(tempfile.mkdtemp(prefix="covey-rehearsal-"))
    filling = {"{url}": url, "{key}": f"sk-made-up-{secrets.token_hex(16)}"}
    home, project = root / "home", root / "project"
    project.mkdir()
    for where, text in profile.rehearsal.files.items():
        file = home / where
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_filled(text, filling), encoding="utf-8")
    try:
        yield home, project, {key: _filled(value, filling) for key, value in profile.rehearsal.env.items()}
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _filled(text: str, filling: Mapping[str, str]) -> str:
    for mark, value in filling.items():
        text = text.replace(mark, value)
    return text


async def _repository(project: Path) -> None:
    """Agents ask fewer questions in a repository; without git they ask more."""
    (project / "README").write_text("A rehearsal.\n", encoding="utf-8")
    who = ("-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "start")):
        with suppress(FileNotFoundError):
            await hear("git", "-C", str(project), *words, deadline=PATIENCE, most=GIT_MOST)


@dataclass(slots=True)
class Stage:
    """One session on its way through the checks. A check answers with a note, or raises ``Failed`` or a CoveyError."""

    name: str
    call: Call
    profile: Profile
    model: MockModel
    project: Path
    env: Mapping[str, str]
    caller: Mapping[str, str]
    checks: list[Json] = field(default_factory=list)

    async def play(self) -> Json:
        """All checks in their order; after a failed start only the end."""
        try:
            if await self._check("start", self._start):
                for each in (self._stream, self._deny, self._allow, self._interrupt, self._resume, self._quit):
                    await self._check(each.__name__.strip("_"), each)
        finally:
            await self._check("kill", self._kill)
        return {"agent": self.profile.name, "ok": all(each["ok"] for each in self.checks), "checks": self.checks}

    async def _check(self, name: str, check: Callable[[], Awaitable[str]]) -> bool:
        began, good, note = time.monotonic(), True, ""
        try:
            note = await check()
        except (Failed, CoveyError) as error:
            good, note = False, error.message if isinstance(error, CoveyError) else str(error)
        self.checks.append({"name": name, "ok": good, "note": note, "ms": round((time.monotonic() - began) * 1000)})
        return good

    # The checks

    async def _start(self) -> str:
        return "; ".join(await self.begin("Say hello.")) or "it asked nothing"

    async def begin(self, prompt: str) -> list[str]:
        """From nothing to an idle agent that was given that prompt; answers what it asked before."""
        given: Json = {"agent": self.profile.name, "cwd": str(self.project), "on_exit": "reap"}
        made = await self.call(
            "open", name=self.name, prompt=prompt, env=dict(self.env), environ=dict(self.caller), **given
        )
        asked = await self.agree_to_all()
        receipt = await self.call("wait", act=made["receipt"]["id"], seconds=START_PATIENCE)
        await self.heard(prompt, receipt, patience=START_PATIENCE)
        await self.state("idle")
        return asked

    async def agree_to_all(self) -> list[str]:
        """What it asked before it would take a prompt, and what was answered."""
        asked: list[str] = []
        while await self.state("idle", "working", "blocked", patience=START_PATIENCE) == "blocked":
            if len(asked) > MAX_QUESTIONS:
                raise Failed(f"it asks and asks: {asked[-1]}")
            asked.append(await self._agree())
        return asked

    async def _agree(self) -> str:
        """Answer a question of the start by the profile's words for it, else with yes."""
        lines = " ".join((await self.call("capture", name=self.name))["lines"])
        words = " ".join(lines.split())
        known = next((each for each in self.profile.dialogs if each.match.search(words)), None)
        choices = [
            found.group() for line in lines.split("  ") if known and (found := known.choose.search(line.strip()))
        ]
        said: Json = await self.call("answer", name=self.name, choice=choices[0] if choices else "yes")
        return f"{said['question']} {said['chosen']}"

    async def _stream(self) -> str:
        request = await self.say("mock:slow 3")
        await self.state("working", patience=PROMPT)
        await self.until(lambda: request.ended > 0, "the answer did not end")
        return await self.soon("idle")

    async def _deny(self) -> str:
        return await self._asked("no")

    async def _allow(self) -> str:
        return await self._asked("yes")

    async def _asked(self, choice: str) -> str:
        """The agent asks before it runs a tool, keeps asking, and does what it is told."""
        rehearsal = self.profile.rehearsal
        if rehearsal is None or not rehearsal.asks:
            return "it never asks"
        await self.say(rehearsal.asks.replace("{file}", MADE))
        await self.state("blocked")
        await self.stays("blocked")
        said = await self.call("answer", name=self.name, choice=choice)
        await self.state("idle")
        if (self.project / MADE).exists() != (choice == "yes"):
            raise Failed(f"{said['chosen']!r} was chosen, and the tool did the opposite")
        return str(said["chosen"])

    async def _interrupt(self) -> str:
        request = await self.say("mock:slow 30")
        await self.stays("working")
        await self.call("interrupt", name=self.name)
        seen = await self.soon("idle")
        with suppress(Failed):
            await self.until(lambda: request.cut, "", CUT)
        return f"{seen}; {'the model was cut off' if request.cut else 'the model talks on, to nobody'}"

    async def _resume(self) -> str:
        """Started again, it knows what was said before."""
        session: Json = await self.call("get", name=self.name)
        if not session["conversation"]:
            return "its conversation is not known"
        await self.call("respawn", name=self.name, force=True, environ=dict(self.caller))
        await self.agree_to_all()
        request = await self.say("What was said before? mock:say Much.")
        await self.state("idle")
        if not request.before:
            raise Failed("the conversation was begun anew")
        return f"{request.before} turns"

    async def _quit(self) -> str:
        await self.call("send", name=self.name, text=self.profile.quit, raw=True)
        await self.state("exited")
        return str((await self.call("get", name=self.name))["exit"])

    async def _kill(self) -> str:
        killed: Json = await self.call("kill", name=self.name)
        if killed["survivors"] or killed["left"]:
            raise Failed("; ".join([*killed["survivors"], *killed["left"]]))
        return "nothing is left"

    # What they are made of

    async def say(self, text: str) -> Request:
        """Send a prompt; the request in which the model heard it, once and as it was written."""
        before = len(self.model.requests)
        receipt = await self.call("send", name=self.name, text=text, wait=PATIENCE)
        return await self.heard(text, receipt, before)

    async def heard(self, text: str, receipt: Json, after: int = 0, patience: float = PATIENCE) -> Request:
        if receipt["outcome"] not in ("submitted", "held"):  # held: its answer was a question, and came at once
            raise Failed(f"the prompt was {receipt['outcome']}: {receipt['reason']}")

        def found() -> list[Request]:
            return [each for each in self.model.requests[after:] if not each.results and _holds(each, text)]

        await self.until(lambda: bool(found()), "the model heard nothing", patience)
        if len(found()) > 1:
            raise Failed(f"the model heard the prompt {len(found())} times")
        return found()[0]

    async def state(self, *wanted: str, patience: float = PATIENCE) -> str:
        seen: Json = {}

        async def look() -> bool:
            seen.update(await self.call("get", name=self.name))
            return seen["state"] in wanted

        await self.until(look, lambda: f"it is {seen['state']} ({seen['evidence'].get('rule', '')})", patience)
        return str(seen["state"])

    async def soon(self, wanted: str) -> str:
        began = time.monotonic()
        await self.state(wanted)
        return f"seen after {(time.monotonic() - began) * 1000:.0f} ms"

    async def stays(self, wanted: str) -> None:
        """The state holds from now on for a while."""
        await self.state(wanted)
        until = time.monotonic() + WATCH
        while time.monotonic() < until:
            session: Json = await self.call("get", name=self.name)
            if session["state"] != wanted:
                raise Failed(f"it was {wanted} and became {session['state']} ({session['evidence'].get('rule', '')})")
            await asyncio.sleep(LOOK)

    @staticmethod
    async def until(look: Callable[[], Any], note: str | Callable[[], str], patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while True:
            value = look()
            if await value if asyncio.iscoroutine(value) else value:
                return
            if time.monotonic() > deadline:
                raise Failed(note if isinstance(note, str) else note())
            await asyncio.sleep(LOOK)


def _holds(request: Request, text: str) -> bool:
    return any(text in said for said in request.said)
