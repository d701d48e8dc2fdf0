"""``covey VERB …``: the helper's methods from a shell. Exit status: 0 done, 1 failed, 2 usage, 3 refused."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from covey import __version__, paths, render, shell
from covey.errors import CoveyError, Usage


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
        if sys.stdout is not None:
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
    return _json(answer) if given.json else render.answer(given.verb, answer)


def _json(answer: Any) -> str:
    """JSON that is UTF-8 whatever stands in it: a path need not be, and then all that is not ASCII is escaped."""
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding if sys.stdout else "utf-8")
    except UnicodeEncodeError:
        return json.dumps(answer, indent=2)
    return text


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
    if "--" in others:
        others.remove("--")
    return [words[0], *options, *(["--"] if others else []), *others]


def _failed(error: CoveyError, *, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"error": error.to_json()}, ensure_ascii=False) + "\n")
    hint = f" ({error.hint})" if error.hint else ""
    sys.stderr.write(f"covey: {error.message}{hint}\n")
    return error.exit_code


NAME: Any = (["name"], {"metavar": "NAME", "help": "a session's name or id"})
TIMEOUT: Any = (
    ["--timeout"],
    {"type": float, "default": shell.SEND_TIMEOUT, "metavar": "S", "help": "seconds to wait"},
)


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
    *((["--" + name.replace("_", "-")], {"metavar": "X", "help": about}) for name, about in shell.OPTIONS.items()),
    TIMEOUT,
]
VERBS: dict[str, tuple[str, list[Any], Any]] = {
    "open": ("open a session, or find the one of that name; -- CMD… runs any command", OPEN, shell.open_session),
    "ensure": ("the same as open", OPEN, shell.open_session),
    "run": ("open a session for one task; it is settled when the agent has finished", OPEN, shell.open_session),
    "list": ("list the sessions", [], shell.plain("list")),
    "get": ("show one session", [NAME], shell.plain("get", "name")),
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
        shell.send,
    ),
    "broadcast": (
        "send one prompt to several sessions",
        [(["--text"], {"required": True}), (["names"], {"nargs": "+", "metavar": "NAME"})],
        shell.broadcast,
    ),
    "respawn": (
        "start a session's agent again, in place",
        [NAME, _flag("--fresh", "forget the conversation"), _flag("--force", "even though it runs")],
        shell.plain("respawn", "name", "fresh", "force"),
    ),
    "restore": (
        "list the sessions a tmux server took along; make them again",
        [(["names"], {"nargs": "*", "metavar": "NAME"}), _flag("--yes", "do it")],
        shell.plain("restore", "names", "yes"),
    ),
    "rename": (
        "give a session another name",
        [NAME, (["new"], {"metavar": "NEW", "help": "the new name"})],
        shell.plain("rename", "name", "new"),
    ),
    "kill": ("end a session and prove it", [NAME, _flag("--force", "also the one this command runs in")], shell.kill),
    "reap": ("show what may be ended and why; end it", [_flag("--yes", "do it")], shell.plain("reap", "yes")),
    "reset": ("start a session's agent anew, its conversation forgotten", [NAME], shell.plain("reset", "name")),
    "delete": ("end a session and forget what was sent to it", [NAME], shell.plain("delete", "name")),
    "keep": ("keep a session from every sweep", [NAME, _flag("--off", "no longer")], shell.keep),
    "settle": ("say that a session's work is done", [NAME], shell.plain("settle", "name")),
    "interrupt": ("interrupt what the agent is doing", [NAME], shell.plain("interrupt", "name")),
    "answer": (
        "answer the question a session waits with",
        [NAME, (["choice"], {"metavar": "CHOICE", "help": "yes, no, or words of one option"})],
        shell.plain("answer", "name", "choice"),
    ),
    "queue": ("show what waits to be sent to a session", [NAME], shell.plain("queue", "name")),
    "edit": (
        "replace the text of a prompt that was not typed yet",
        [(["act"], {"metavar": "ID"}), (["text"], {"metavar": "TEXT"})],
        shell.plain("edit", "act", "text"),
    ),
    "cancel": (
        "take back a prompt that was not typed yet",
        [(["act"], {"metavar": "ID"})],
        shell.plain("cancel", "act"),
    ),
    "capture": (
        "print what a session shows",
        [
            NAME,
            _flag("--ansi", "with its colours"),
            (["--history"], {"type": int, "default": 0, "metavar": "N", "help": "and N lines above"}),
        ],
        shell.plain("capture", "name", "ansi", "history"),
    ),
    "attach": ("sit in front of a session; C-] d leaves it", [NAME], shell.attach),
    "explain": (
        "say by which rule a state was concluded",
        [
            (["name"], {"nargs": "?", "metavar": "NAME"}),
            (["--file"], {"metavar": "SCREEN", "help": "a captured screen instead"}),
            (["--agent"], {"metavar": "A"}),
            (["--title"], {"metavar": "T"}),
            (["--screens"], {"metavar": "DIR", "help": "score a directory of labelled screens"}),
        ],
        shell.explain_state,
    ),
    "log": (
        "show what was sent to a session and what became of it",
        [
            (["name"], {"nargs": "?", "metavar": "NAME", "help": "a session's name or id"}),
            _flag("--purge", "instead, forget everything that is over"),
        ],
        shell.log,
    ),
    "stats": (
        "show what sessions cost",
        [(["names"], {"nargs": "*", "metavar": "NAME"})],
        shell.plain("stats", "names"),
    ),
    "agents": (
        "list the agents covey knows and finds; test NAME rehearses one against a model of covey's own",
        [
            (["act"], {"nargs": "?", "choices": ["test"], "metavar": "test"}),
            (["name"], {"nargs": "?", "metavar": "NAME", "help": "an agent's name"}),
        ],
        shell.list_agents,
    ),
    "doctor": ("check this machine", [], shell.plain("doctor")),
    "selftest": ("open, prompt, read and end a stand-in agent", [], shell.plain("selftest")),
}

if __name__ == "__main__":
    sys.exit(main())
