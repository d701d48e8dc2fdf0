"""``covey VERB …``: the helper's methods from a shell. Exit status: 0 done, 1 failed, 2 usage, 3 refused."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from covey import __version__, agents, explain, paths, render
from covey.errors import CoveyError, Unavailable, Usage
from covey.models import FINAL, Json

SEND_TIMEOUT = 60.0  # seconds that `send` and `open --prompt` wait for what will pass by itself
BRIEF = frozenset({"starting", "working"})  # states that end by themselves: a held prompt is waited for
REFUSED = frozenset({"refused", "cancelled", "dropped"})
SENT = frozenset({"submitted", "pasted", "queued", "held"})

Call: TypeAlias = Callable[..., Awaitable[Any]]


class Bug(CoveyError):
    """What should not happen: one sentence for the person, and the traceback in the log."""

    code = "bug"

    def __init__(self, error: Exception) -> None:
        super().__init__(f"a bug: {type(error).__name__}: {error}", f"the traceback is in {paths.log_path()}")


class Words(argparse.ArgumentParser):
    """A parser whose errors are covey's: one sentence, status 2."""

    def error(self, message: str) -> NoReturn:
        raise Usage(message, f"see: {self.prog} --help")


def parser() -> argparse.ArgumentParser:
    """All verbs with their words. One table of them, so that help, shell and tests agree."""
    top = Words(prog="covey", description="Keep a covey of coding agents alive in tmux.")
    top.add_argument("--version", action="version", version=f"covey {__version__}")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Words)
    for name, (about, words, _) in VERBS.items():
        verb = verbs.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        verb.add_argument("--json", action="store_true", help="print the answer as JSON")
        for flags, options in words:
            verb.add_argument(*flags, **options)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the status is what the shell gets."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="surrogateescape")  # paths need not be UTF-8
    as_json = "--json" in words[: words.index("--") if "--" in words else None]
    try:
        given, command = _parse(words)
        run = VERBS[given.verb][2]
        answer, status = asyncio.run(run(given, command))
        text = "" if answer is None else _text(given, answer)
        sys.stdout.write(text + "\n" if text else "")
        sys.stdout.flush()
    except CoveyError as error:
        return _failed(error, as_json=as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        logging.getLogger("covey").exception("a bug in covey %s", " ".join(words[:1]))
        return _failed(Bug(error), as_json=as_json)
    return int(status)


def _text(given: argparse.Namespace, answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, indent=2) if given.json else render.answer(given.verb, answer)


def _parse(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The words, and what follows the first ``--`` of ``open``, which is a command and nobody else's business."""
    command: list[str] = []
    if words[:1] in (["open"], ["ensure"], ["run"]) and "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    return parser().parse_args(_options_first(words)), command


def _options_first(words: list[str]) -> list[str]:
    """The same words with a verb's options before its other words, for argparse wants those in one piece."""
    if not words or words[0] not in VERBS:
        return words
    takes_value = {flag for flags, how in VERBS[words[0]][1] for flag in flags if how.get("action") != "store_true"}
    options, others = [], []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            others += [word, *rest]
        elif word.startswith("-") and word != "-" and " " not in word and "\n" not in word:
            options.append(word)
            options += [value for value in [next(rest, None) if word in takes_value else None] if value is not None]
        else:
            others.append(word)
    return [words[0], *options, *others]


def _failed(error: CoveyError, *, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"error": error.to_json()}, ensure_ascii=False) + "\n")
    hint = f" ({error.hint})" if error.hint else ""
    sys.stderr.write(f"covey: {error.message}{hint}\n")
    return error.exit_code


async def _with_helper(work: Callable[[Call], Awaitable[tuple[Any, int]]]) -> tuple[Any, int]:
    """Run with a helper of our own, for as long as the verb takes."""
    from covey.api import Front  # noqa: PLC0415  # `--help` and `explain --file` need no helper

    front = Front(lambda _event: None)
    try:
        await front.hello({})
        return await work(lambda method, **params: front.call(method, params))
    finally:
        await front.close()


def _plain(method: str, *names: str) -> Any:
    """A verb that is one method, its parameters the words of those names."""

    async def run(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
        params = {name: getattr(given, name) for name in names if getattr(given, name) is not None}

        async def work(call: Call) -> tuple[Any, int]:
            return await call(method, **params), 0

        return await _with_helper(work)

    return run


async def _open(given: argparse.Namespace, command: list[str]) -> tuple[Any, int]:
    params = {
        "name": given.name or "",
        "agent": given.agent or "",
        "cwd": given.cwd or str(Path.cwd()),
        "cmd": command,
        "prompt": given.prompt or "",
        "env": dict(_pair(word) for word in given.env or ()),
        "unset": given.unset or [],
        "on_exit": given.on_exit,
        "restart": given.restart,
    }

    async def work(call: Call) -> tuple[Any, int]:
        session = await call(given.verb, **params)
        receipt = session.get("receipt")
        if receipt and receipt["outcome"] not in FINAL:
            session["receipt"] = receipt = await _see_through(call, session["id"], receipt, given.timeout)
            session = {**await call("get", name=session["id"]), "opened": session["opened"], "receipt": receipt}
        return session, _status(receipt) if receipt else 0

    return await _with_helper(work)


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise Usage(f"--env wants NAME=VALUE, not {word!r}", "give --env NAME=VALUE, or NAME=env:OTHER")
    return name, value


async def _send(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    text = _standard_input() if given.text in (None, "-") else given.text
    options = {"submit": not given.no_submit, "when": given.when or ""}
    options |= {"force": given.force, "raw": given.raw, "as_file": given.as_file}

    async def work(call: Call) -> tuple[Any, int]:
        params = {"act": given.act} if given.act else {}
        receipt = await call("send", name=given.name, text=text, wait=given.timeout, **options, **params)
        if receipt["outcome"] not in FINAL:
            patient = given.wait is not None
            receipt = await _see_through(call, receipt["session"], receipt, given.timeout, patient=patient)
        if given.wait == "idle" and receipt["outcome"] == "submitted":
            session = await call("idle", name=receipt["session"], seconds=given.timeout)
            return {**receipt, "session_state": session["state"]}, 0 if session["state"] != "working" else 1
        status = _status(receipt)
        return receipt, status or int(given.wait is not None and receipt["outcome"] in ("queued", "held"))

    return await _with_helper(work)


def _standard_input() -> str:
    """What is piped in; bytes that are no UTF-8 go through as what they are, to be taken out and counted."""
    if sys.stdin is None:
        raise Usage("there is no standard input to read the prompt from", "give it as TEXT")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


async def _see_through(call: Call, session: str, receipt: Json, seconds: float, *, patient: bool = False) -> Json:
    """Wait for a prompt that is held for a reason that passes by itself; we are the only helper it can count on."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while receipt["outcome"] not in FINAL and loop.time() < deadline:
        if not patient and receipt["outcome"] == "held" and (await call("get", name=session))["state"] not in BRIEF:
            receipt = await call("wait", act=receipt["id"], seconds=0.2)
            if receipt["outcome"] == "held":
                break
        receipt = await call("wait", act=receipt["id"], seconds=min(1.0, max(0.05, deadline - loop.time())))
    return receipt


def _status(receipt: Json) -> int:
    outcome = receipt["outcome"]
    return 0 if outcome in SENT else 3 if outcome in REFUSED else 1


async def _broadcast(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    async def work(call: Call) -> tuple[Any, int]:
        receipts = await call("broadcast", names=given.names, text=given.text)
        return receipts, max(map(_status, receipts), default=0)

    return await _with_helper(work)


async def _keep(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    async def work(call: Call) -> tuple[Any, int]:
        return await call("keep", name=given.name, on=not given.off), 0

    return await _with_helper(work)


async def _log(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    if not given.purge and not given.name:
        raise Usage("log wants a session's name, or --purge")

    async def work(call: Call) -> tuple[Any, int]:
        return (await call("purge") if given.purge else await call("log", name=given.name)), 0

    return await _with_helper(work)


async def _kill(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    async def work(call: Call) -> tuple[Any, int]:
        killed = await call("kill", name=given.name)
        return killed, 1 if killed["survivors"] else 0

    return await _with_helper(work)


async def _attach(given: argparse.Namespace, _command: list[str]) -> tuple[Any, int]:
    async def work(call: Call) -> tuple[Any, int]:
        return await call("attach", name=given.name), 0

    terminal, _ = await _with_helper(work)
    if given.json:
        return terminal, 0
    if sys.stdin is None or not sys.stdin.isatty():
        raise Unavailable("attach needs a terminal", "use `covey capture` to look, `covey send` to type")
    environ = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
    return os.execvpe(terminal["argv"][0], terminal["argv"], environ)  # noqa: S606  # we become the terminal


async def _explain(given: argparse.Namespace, command: list[str]) -> tuple[Any, int]:
    if given.screens or given.file:
        return _explain_files(given), 0
    if not given.name:
        raise Usage("explain wants a session's name, --file SCREEN or --screens DIR")
    return await _plain("explain", "name")(given, command)  # type: ignore[no-any-return]


def _explain_files(given: argparse.Namespace) -> Json:
    catalog = agents.load([paths.config_dir() / "agents"])
    path = Path(given.screens or given.file)
    if not path.exists():
        raise Usage(f"{path} does not exist")
    if given.screens:
        return explain.score(path, catalog).to_json()
    return explain.explain_file(path, catalog, given.agent, given.title or "").to_json()


NAME: Any = (["name"], {"metavar": "NAME", "help": "a session's name or id"})
TIMEOUT: Any = (["--timeout"], {"type": float, "default": SEND_TIMEOUT, "metavar": "S", "help": "seconds to wait"})


def _flag(name: str, about: str) -> Any:
    return ([name], {"action": "store_true", "help": about})


OPEN: Any = [
    (["name"], {"nargs": "?", "metavar": "NAME", "help": "its name; one is made from the agent's where none is given"}),
    (["--agent"], {"metavar": "A", "help": "a profile's name (see `covey agents`)"}),
    (["--cwd"], {"metavar": "DIR", "help": "where it starts"}),
    (["--prompt"], {"metavar": "TEXT", "help": "its first prompt"}),
    (
        ["--env"],
        {"action": "append", "metavar": "K=V", "help": "a variable; V may be env:NAME, file:PATH or cmd:COMMAND"},
    ),
    (["--unset"], {"action": "append", "metavar": "K", "help": "a variable to take away"}),
    (["--on-exit"], {"choices": ["keep", "reap", "settled"], "default": "settled", "help": "when its editor leaves"}),
    (["--restart"], {"choices": ["never", "on_failure", "always"], "default": "never", "help": "when it ends"}),
    TIMEOUT,
]
VERBS: dict[str, tuple[str, list[Any], Any]] = {
    "open": ("open a session, or find the one of that name; -- CMD… runs any command", OPEN, _open),
    "ensure": ("the same as open", OPEN, _open),
    "run": ("open a session for one task; it is settled when the agent has finished", OPEN, _open),
    "list": ("list the sessions", [], _plain("list")),
    "get": ("show one session", [NAME], _plain("get", "name")),
    "send": (
        "send a prompt and say what became of it",
        [
            NAME,
            (["text"], {"nargs": "?", "metavar": "TEXT", "help": "the prompt; - or nothing reads standard input"}),
            _flag("--no-submit", "type it without Enter"),
            _flag("--force", "type although a draft or no composer is seen"),
            _flag("--raw", "allow a text that the agent takes as a command"),
            _flag("--as-file", "put it in a private file and send a reference to that"),
            (["--when"], {"choices": ["now", "idle"], "help": "type at once, or when the agent is idle"}),
            (["--wait"], {"choices": ["submitted", "idle"], "help": "do not answer before"}),
            (["--act"], {"metavar": "ID", "help": "an id of your own: the same id is never sent twice"}),
            TIMEOUT,
        ],
        _send,
    ),
    "broadcast": (
        "send one prompt to several sessions",
        [(["--text"], {"required": True}), (["names"], {"nargs": "+", "metavar": "NAME"})],
        _broadcast,
    ),
    "respawn": (
        "start a session's agent again, in place",
        [NAME, _flag("--fresh", "forget the conversation"), _flag("--force", "even though it runs")],
        _plain("respawn", "name", "fresh", "force"),
    ),
    "restore": (
        "list the sessions a tmux server took along; make them again",
        [(["names"], {"nargs": "*", "metavar": "NAME"}), _flag("--yes", "do it")],
        _plain("restore", "names", "yes"),
    ),
    "rename": (
        "give a session another name",
        [NAME, (["new"], {"metavar": "NEW", "help": "the new name"})],
        _plain("rename", "name", "new"),
    ),
    "kill": ("end a session and prove it", [NAME], _kill),
    "reap": ("show what may be ended and why; end it", [_flag("--yes", "do it")], _plain("reap", "yes")),
    "reset": ("start a session's agent anew, its conversation forgotten", [NAME], _plain("reset", "name")),
    "delete": ("end a session and forget what was sent to it", [NAME], _plain("delete", "name")),
    "keep": ("keep a session from every sweep", [NAME, _flag("--off", "no longer")], _keep),
    "settle": ("say that a session's work is done", [NAME], _plain("settle", "name")),
    "interrupt": ("interrupt what the agent is doing", [NAME], _plain("interrupt", "name")),
    "answer": (
        "answer the question a session waits with",
        [NAME, (["choice"], {"metavar": "CHOICE", "help": "yes, no, or words of one option"})],
        _plain("answer", "name", "choice"),
    ),
    "queue": ("show what waits to be sent to a session", [NAME], _plain("queue", "name")),
    "edit": (
        "replace the text of a prompt that was not typed yet",
        [(["act"], {"metavar": "ID"}), (["text"], {"metavar": "TEXT"})],
        _plain("edit", "act", "text"),
    ),
    "cancel": ("take back a prompt that was not typed yet", [(["act"], {"metavar": "ID"})], _plain("cancel", "act")),
    "capture": (
        "print what a session shows",
        [
            NAME,
            _flag("--ansi", "with its colours"),
            (["--history"], {"type": int, "default": 0, "metavar": "N", "help": "and N lines above"}),
        ],
        _plain("capture", "name", "ansi", "history"),
    ),
    "attach": ("sit in front of a session; C-] d leaves it", [NAME], _attach),
    "explain": (
        "say by which rule a state was concluded",
        [
            (["name"], {"nargs": "?", "metavar": "NAME"}),
            (["--file"], {"metavar": "SCREEN", "help": "a captured screen instead"}),
            (["--agent"], {"metavar": "A"}),
            (["--title"], {"metavar": "T"}),
            (["--screens"], {"metavar": "DIR", "help": "score a directory of labelled screens"}),
        ],
        _explain,
    ),
    "log": (
        "show what was sent to a session and what became of it",
        [
            (["name"], {"nargs": "?", "metavar": "NAME", "help": "a session's name or id"}),
            _flag("--purge", "instead, forget everything that is over"),
        ],
        _log,
    ),
    "stats": (
        "show what sessions cost",
        [(["names"], {"nargs": "*", "metavar": "NAME"})],
        _plain("stats", "names"),
    ),
    "agents": ("list the agents covey knows and finds", [], _plain("agents")),
    "doctor": ("check this machine", [], _plain("doctor")),
    "selftest": ("open, prompt, read and end a stand-in agent", [], _plain("selftest")),
}

if __name__ == "__main__":
    sys.exit(main())
