"""What each verb of the command line does: methods of a helper of our own, waited for, with the shell's status."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from covey import agents, explain, paths, vigil
from covey.errors import NotFound, Refused, Unavailable, Usage
from covey.models import Json
from covey.vigil import Call

SEND_TIMEOUT = 60.0  # seconds that `send` and `open --prompt` wait for what will pass by itself
MOST_INPUT = 1 << 24  # bytes of a prompt from standard input
OPTIONS = {
    "model": "the agent's model",
    "effort": "how hard it thinks",
    "permission": "its permission mode",
    "tools": "the tools it may use",
    "nice": "how far it stands back for others, 0 to 19",
    "history_limit": "lines of scrollback its pane keeps",
}


async def _with_helper(work: Callable[[Call], Awaitable[tuple[Any, int]]]) -> tuple[Any, int]:
    """Run with a helper of our own, for as long as the verb takes."""
    from covey.api import Front  # noqa: PLC0415  # `--help` and `explain --file` need no helper

    front = Front(_heard)
    try:
        await front.hello({})
        return await work(lambda method, **params: front.call(method, params))
    finally:
        await front.close()


def _heard(event: Json) -> None:
    """What a person should know although they did not ask is said beside the answer."""
    if event["event"] == "Notice":
        vigil.aside(event["data"]["message"])


def survivors(answer: Json) -> bool:
    """Whether something of a session would not end."""
    return bool(answer["survivors"])


def left(answer: Json) -> bool:
    """Whether something was to be ended and would not."""
    return bool(answer["left"])


def any_error(answers: list[Json]) -> bool:
    """Whether one of several sessions answered with an error."""
    return any("error" in each for each in answers)


def unwell(answer: Json) -> bool:
    """Whether what was examined is not as it should be."""
    return not answer["ok"]


def plain(method: str, *names: str, failed: Callable[[Any], bool] = lambda _answer: False) -> Any:
    """A verb that is one method, its parameters the words of those names; by ``failed`` an answer is status 1."""

    async def run(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
        params = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
        params |= {name: _text(word) for name, word in params.items() if name == "text"}

        async def work(call: Call) -> tuple[Any, int]:
            answer = await call(method, **params)
            return answer, int(failed(answer))

        return await _with_helper(work)

    return run


async def open_session(given: argparse.Namespace, command: list[str]) -> tuple[Any, int]:
    if given.other and given.agent:
        raise Usage(f"the agent is given twice: {given.other!r} and --agent {given.agent}", "give it once")
    alone = given.name and not (given.other or given.agent or command)
    params = {
        "name": given.name or "",
        "agent": given.agent or "",
        "words": [given.name, given.other] if given.other else [],
        "typed": given.name if alone and vigil.is_terminal() else "",
        "cwd": given.cwd or _here(),
        "cmd": command,
        "prompt": _text(given.prompt or ""),
        "env": dict(_pair(word) for word in given.env or ()),
        "unset": given.unset or [],
        "on_exit": given.on_exit,
        "restart": given.restart,
        "worktree": given.worktree,
        "options": {name: value for name in OPTIONS if (value := getattr(given, name)) is not None},
    }

    async def work(call: Call) -> tuple[Any, int]:
        opened = await call(given.verb, **params)
        return await _prompted(call, opened, given) if "receipt" in opened else (opened, 0)

    return await _with_helper(work)


async def _prompted(call: Call, opened: Json, given: argparse.Namespace) -> tuple[Json, int]:
    """The session as it is once its first prompt has arrived or, where that was asked for, its agent has finished."""
    receipt = await vigil.see_through(call, opened["receipt"], given.timeout, patient=given.wait is not None)
    finished, status = await vigil.finish(call, receipt, given)
    now = finished or await call("get", name=opened["id"])
    if finished and given.verb == "run" and finished["state"] in ("idle", "exited"):
        with contextlib.suppress(NotFound):  # closed by now, where no settled session is to stay open
            now = await call("settle", name=opened["id"])
    return {**opened, **now, "receipt": receipt}, status


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise Usage(f"--env wants NAME=VALUE, not {word!r}", "give --env NAME=VALUE, or NAME=env:OTHER")
    return name, value


async def send(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    text = _text("-" if given.text is None else given.text)
    options = {"submit": not given.no_submit, "when": given.when or ""}
    options |= {"force": given.force, "raw": given.raw, "as_file": given.as_file}
    act = given.act or uuid.uuid4().hex

    async def work(call: Call) -> tuple[Any, int]:
        async with vigil.given_up(call, act):
            return await wait(call)

    async def wait(call: Call) -> tuple[Any, int]:
        receipt = await call("send", name=given.name, text=text, act=act, wait=given.timeout, **options)
        if receipt.get("asks") and vigil.is_terminal():
            receipt = await vigil.ask(call, receipt)
        receipt = await vigil.see_through(call, receipt, given.timeout, patient=given.wait is not None)
        finished, status = await vigil.finish(call, receipt, given)
        return {**receipt, **({"session_state": finished["state"]} if finished else {})}, status

    return await _with_helper(work)


def _here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        raise Refused("the directory this shell is in is no more", "give --cwd DIR") from None


def _text(word: str) -> str:
    """A text as given; ``-`` is what is piped in. Bytes that are no UTF-8 go through, to be taken out and counted."""
    if word != "-":
        return word
    if sys.stdin is None:
        raise Usage("there is no standard input to read the prompt from", "give it as TEXT")
    if sys.stdin.isatty():
        vigil.aside("type the prompt, and end it with Ctrl-D")
    try:
        with _interrupted_at_once():
            said = sys.stdin.buffer.read(MOST_INPUT + 1)
    except OSError as error:
        raise Usage(f"standard input cannot be read: {error.strerror}", "give the prompt as TEXT") from None
    if len(said) > MOST_INPUT:
        raise Usage("standard input holds more than 16 MiB, which is no prompt", "put it into a file, and name that")
    return said.decode("utf-8", "surrogateescape")


async def answer(given: argparse.Namespace, command: list[str]) -> tuple[Any, int]:
    """The words of one option, which need no quotes."""
    given.choice = " ".join(given.choice) or None
    return await plain("answer", "name", "choice")(given, command)  # type: ignore[no-any-return]


@contextlib.contextmanager
def _interrupted_at_once() -> Iterator[None]:
    """What blocks ends at Ctrl-C: asyncio would only take note of it, and wait for the loop to turn."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def broadcast(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    text = _text(given.text)

    async def work(call: Call) -> tuple[Any, int]:
        receipts = await call("broadcast", names=given.names or None, text=text)
        return receipts, max(map(vigil.status_of, receipts), default=0)

    return await _with_helper(work)


async def switch(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    """A verb by which a session is so, or with ``--off`` no longer."""

    async def work(call: Call) -> tuple[Any, int]:
        return await call(given.verb, name=given.name, on=not given.off), 0

    return await _with_helper(work)


async def list_agents(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    if given.act and not given.name:
        raise Usage("agents test wants an agent's name", "see: covey agents")

    async def work(call: Call) -> tuple[Any, int]:
        if not given.act:
            return await call("agents"), 0
        played = await call("rehearse", agent=given.name)
        return played, 0 if played["ok"] else 1

    return await _with_helper(work)


async def log(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    if not given.purge and not given.name:
        raise Usage("log wants a session's name, or --purge")

    async def work(call: Call) -> tuple[Any, int]:
        return (await call("purge") if given.purge else await call("log", name=given.name)), 0

    return await _with_helper(work)


async def attach(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    async def work(call: Call) -> tuple[Any, int]:
        return await call("attach", name=given.name), 0

    terminal, _ = await _with_helper(work)
    if given.json:
        return terminal, 0
    if sys.stdin is None or not sys.stdin.isatty():
        raise Unavailable("attach needs a terminal", "use `covey capture` to look, `covey send` to type")
    environ = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
    argv = [*terminal["argv"], ";", *terminal["way_out"]]
    return os.execvpe(argv[0], argv, environ)  # noqa: S606  # we become the terminal


async def explain_state(given: argparse.Namespace, command: list[str]) -> tuple[Any, int]:
    if given.screens or given.file:
        return _explain_files(given), 0
    if not given.name:
        raise Usage("explain wants a session's name, --file SCREEN or --screens DIR")
    return await plain("explain", "name")(given, command)  # type: ignore[no-any-return]


def _explain_files(given: argparse.Namespace) -> Json:
    catalog = agents.load([paths.config_dir() / "agents"])
    path = Path(given.screens or given.file)
    if not path.exists():
        raise Usage(f"{path} does not exist")
    if given.screens:
        return explain.score(path, catalog).to_json()
    return explain.explain_file(path, catalog, given.agent, given.title or "").to_json()
