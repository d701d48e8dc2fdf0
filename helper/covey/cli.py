"""``covey VERB …``: the helper's methods from a shell. Exit status: 0 done, 1 failed, 2 usage, 3 refused.

Words, paths and streams are UTF-8, whatever the locale says.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from covey import paths, render, shell, shortage
from covey.errors import CoveyError
from covey.grammar import Told, Word, number, parse, seconds, wants_json


class Bug(CoveyError):
    """What should not happen: one sentence for the person, and the traceback in the log."""

    code = "bug"

    def __init__(self, error: Exception) -> None:
        super().__init__(f"a bug: {type(error).__name__}: {error}", f"the traceback is in {paths.log_path()}")


class Unwritten(CoveyError):
    """The answer could not be printed; what was asked for is done."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the status is what the shell gets."""
    if argv is None:
        _start_in_utf8()
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # paths need not be UTF-8
    try:
        return _run(words)
    except CoveyError as error:
        return _failed(error, as_json=wants_json(words))
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if lack := shortage.of(error):
            return _failed(lack, as_json=wants_json(words))
        logging.getLogger("covey").exception("a bug in covey %s", " ".join(words[:1]))
        return _failed(Bug(error), as_json=wants_json(words))


def _start_in_utf8() -> None:
    """Python is started again where the locale made it read words and paths as anything else."""
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # it is we again


def _run(words: list[str]) -> int:
    try:
        given, command = parse(VERBS, words)
    except Told as told:
        _say(str(told))
        return 0
    began = datetime.now(UTC)
    answer, status = shortage.run(VERBS[given.verb][2](given, command))
    if answer is not None:
        full = "full" in given and given.full
        _say(_json(answer) if given.json else render.answer(given.verb, answer, full=full, began=began))
    return int(status)


def _say(text: str) -> None:
    """Print the answer. A pipe whose reader has gone is nobody's mistake, and raises ``BrokenPipeError``."""
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unwritten(f"the answer could not be written: {error.strerror}") from None


def _write(stream: TextIO | None, text: str) -> None:
    """Write and flush. A stream that takes no more is let go, for Python would try once more at its end."""
    if stream is None or not text:
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise


def _json(answer: Any) -> str:
    """JSON that is UTF-8 whatever stands in it: a path need not be, and then all that is not ASCII is escaped."""
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(answer, indent=2)
    return text


def _failed(error: CoveyError, *, as_json: bool) -> int:
    hint = f" ({error.hint})" if error.hint else ""
    for stream, text in (
        (sys.stdout, _json({"error": error.to_json()}) if as_json else ""),
        (sys.stderr, f"covey: {error.message}{hint}"),
    ):
        with contextlib.suppress(OSError):
            _write(stream, text)
    return error.exit_code


NAME: Word = (["name"], {"metavar": "NAME", "help": "a session's name or id"})
TIMEOUT: Word = (
    ["--timeout"],
    {"type": seconds, "default": shell.SEND_TIMEOUT, "metavar": "S", "help": "seconds to wait"},
)

WAIT: Word = (
    ["--wait"],
    {"choices": ["submitted", "idle"], "help": "do not answer before: the prompt is submitted, the agent has finished"},
)
WHEN: Word = (
    ["--when"],
    {"choices": ["now", "idle", "ask"], "help": "while the agent works: type at once, when it is idle, or ask"},
)


def _flag(name: str, about: str) -> Word:
    return ([name], {"action": "store_true", "help": about})


NAMES: Word = (["names"], {"nargs": "*", "metavar": "NAME", "help": "only these sessions"})
OPEN: list[Word] = [
    (["name"], {"nargs": "?", "metavar": "NAME", "help": "its name; one is made from the agent's where none is given"}),
    (["other"], {"nargs": "?", "metavar": "AGENT", "help": "its agent (see `covey agents`), also before NAME"}),
    (["--agent"], {"metavar": "A", "help": "the same; default: the agent called NAME, else claude"}),
    (["--cwd"], {"metavar": "DIR", "help": "where it starts"}),
    _flag("--worktree", "in a git worktree of the branch NAME; each is made where it is not there"),
    (["--prompt"], {"metavar": "TEXT", "help": "its first prompt; - reads standard input"}),
    (
        ["--env"],
        {"action": "append", "metavar": "K=V", "help": "a variable; V may be env:NAME, file:PATH or cmd:COMMAND"},
    ),
    (["--unset"], {"action": "append", "metavar": "K", "help": "a variable to take away"}),
    (["--on-exit"], {"choices": ["keep", "reap", "settled"], "default": "settled", "help": "when its editor leaves"}),
    (["--restart"], {"choices": ["never", "on_failure", "always"], "default": "never", "help": "when it ends"}),
    *((["--" + name.replace("_", "-")], {"metavar": "X", "help": about}) for name, about in shell.OPTIONS.items()),
    WAIT,
    TIMEOUT,
]
VERBS: dict[str, tuple[str, list[Word], Any]] = {
    "open": ("open a session, or find the one of that name; -- CMD… runs any command", OPEN, shell.open_session),
    "ensure": ("the same as open", OPEN, shell.open_session),
    "run": ("open a session for one task; it is settled when the agent has finished", OPEN, shell.open_session),
    "worktree": ("the same as open --worktree", OPEN, shell.open_session),
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
            WHEN,
            WAIT,
            (["--act"], {"metavar": "ID", "help": "an id of your own: the same id is never sent twice"}),
            TIMEOUT,
        ],
        shell.send,
    ),
    "broadcast": (
        "send one prompt to several sessions",
        [
            (["--text"], {"required": True, "metavar": "TEXT", "help": "the prompt; - reads standard input"}),
            (
                ["names"],
                {"nargs": "*", "metavar": "NAME", "help": "sessions' names or ids; none: every agent that runs"},
            ),
        ],
        shell.broadcast,
    ),
    "respawn": (
        "start a session's agent again, in place",
        [NAME, _flag("--fresh", "forget the conversation"), _flag("--force", "even though it runs")],
        shell.plain("respawn", "name", "fresh", "force"),
    ),
    "restore": (
        "list the sessions a tmux server took along; make them again",
        [NAMES, _flag("--yes", "do it")],
        shell.plain("restore", "names", "yes", failed=shell.any_error),
    ),
    "rename": (
        "give a session another name",
        [NAME, (["new"], {"metavar": "NEW", "help": "the new name"})],
        shell.plain("rename", "name", "new"),
    ),
    "kill": (
        "end a session and prove it",
        [NAME, _flag("--force", "also the one this command runs in")],
        shell.plain("kill", "name", "force", failed=shell.survivors),
    ),
    "reap": (
        "show what may be ended and why; end it",
        [_flag("--yes", "do it")],
        shell.plain("reap", "yes", failed=shell.left),
    ),
    "reset": ("start a session's agent anew, its conversation forgotten", [NAME], shell.plain("reset", "name")),
    "delete": (
        "end a session and forget what was sent to it",
        [NAME, _flag("--workspace", "remove its git worktree too, if all work in it is somewhere else")],
        shell.plain("delete", "name", "workspace", failed=shell.survivors),
    ),
    "keep": ("keep a session from every sweep", [NAME, _flag("--off", "no longer")], shell.switch),
    "settle": ("say that a session's work is done", [NAME, _flag("--off", "no longer")], shell.switch),
    "interrupt": ("interrupt what the agent is doing", [NAME], shell.plain("interrupt", "name")),
    "answer": (
        "answer the question a session waits with; without CHOICE, show it",
        [NAME, (["choice"], {"nargs": "*", "metavar": "CHOICE", "help": "yes, no, or words of one option"})],
        shell.answer,
    ),
    "queue": ("show what waits to be sent to a session", [NAME], shell.plain("queue", "name")),
    "edit": (
        "replace the text of a prompt that was not typed yet, or say when it goes",
        [
            (["act"], {"metavar": "NUMBER", "help": "the prompt's number (see `covey queue`) or id"}),
            (["text"], {"nargs": "?", "metavar": "TEXT", "help": "its new text; - reads standard input"}),
            WHEN,
        ],
        shell.plain("edit", "act", "text", "when"),
    ),
    "cancel": (
        "take back a prompt that was not typed yet",
        [(["act"], {"metavar": "NUMBER|NAME", "help": "its number or id; or the session it alone waits for"})],
        shell.plain("cancel", "act"),
    ),
    "capture": (
        "print what a session shows",
        [
            NAME,
            _flag("--ansi", "with its colours"),
            (["--history"], {"type": number, "default": 0, "metavar": "N", "help": "and N lines above"}),
        ],
        shell.plain("capture", "name", "ansi", "history"),
    ),
    "attach": ("sit in front of a session; CTRL-] d leaves it", [NAME], shell.attach),
    "explain": (
        "say by which rule a state was concluded",
        [
            (["name"], {"nargs": "?", "metavar": "NAME", "help": "a session's name or id"}),
            (["--file"], {"metavar": "SCREEN", "help": "a captured screen instead"}),
            (["--agent"], {"metavar": "A", "help": "by the rules of that agent"}),
            (["--title"], {"metavar": "T", "help": "the title of its terminal"}),
            (["--screens"], {"metavar": "DIR", "help": "score a directory of labelled screens"}),
        ],
        shell.explain_state,
    ),
    "log": (
        "show what was done to a session, what was sent to it and what became of that",
        [
            (["name"], {"nargs": "?", "metavar": "NAME", "help": "a session's name or id"}),
            _flag("--full", "with whole prompts, and the last screen of each exit"),
            _flag("--purge", "instead, forget everything that is over"),
        ],
        shell.log,
    ),
    "stats": ("show what sessions cost", [NAMES], shell.plain("stats", "names")),
    "agents": (
        "list the agents covey knows and finds; test NAME rehearses one against a model of covey's own",
        [
            (["act"], {"nargs": "?", "choices": ["test"], "metavar": "test", "help": "rehearse that agent"}),
            (["name"], {"nargs": "?", "metavar": "NAME", "help": "an agent's name"}),
        ],
        shell.list_agents,
    ),
    "doctor": ("check this machine", [], shell.plain("doctor", failed=shell.unwell)),
    "selftest": ("open, prompt, read and end a stand-in agent", [], shell.plain("selftest", failed=shell.unwell)),
}

if __name__ == "__main__":
    sys.exit(main())
