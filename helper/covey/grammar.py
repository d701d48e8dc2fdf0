"""How the words of a command line are read, by the table of verbs that ``cli`` holds. Pure."""

from __future__ import annotations

import argparse
import difflib
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from covey import __version__
from covey.errors import Usage

Word: TypeAlias = tuple[list[str], dict[str, Any]]  # an argument, as argparse has it described
Verbs: TypeAlias = Mapping[str, tuple[str, Sequence[Word], Any]]

ALIASES = {"name": "rename", "health": "doctor"}  # what the editor calls them
OWN_COMMAND = frozenset({"open", "ensure", "run", "worktree"})  # verbs whose words after ``--`` are a command
JSON: Word = (["--json"], {"action": "store_true", "help": "print the answer as JSON"})
HELP: Word = (["-h", "--help"], {"action": "help"})


class Told(Exception):
    """Help or the version was asked for: its text is the whole answer."""


class Words(argparse.ArgumentParser):
    """A parser whose errors are covey's: one sentence, status 2."""

    def error(self, message: str) -> NoReturn:
        raise Usage(message, f"see: {self.prog} --help")

    def _print_message(self, message: str, _file: Any = None) -> NoReturn:
        raise Told(message.rstrip("\n"))


def parse(verbs: Verbs, words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The words as named values, and the command behind ``--`` of a verb that takes one.

    Raises ``Usage`` for what cannot be read, and ``Told`` for ``--help`` and ``--version``.
    """
    if not words:
        raise Usage("covey wants a verb", "see: covey --help")
    words, command = _without_command([ALIASES.get(words[0], words[0]), *words[1:]])
    if words[0] in verbs:
        words = [words[0], *_arranged(words[0], [*verbs[words[0]][1], JSON, HELP], words[1:])]
    elif not words[0].startswith("-"):
        raise _no_verb(words[0], [*verbs, *ALIASES])
    return _parser(verbs).parse_args(words), command


def wants_json(words: Sequence[str]) -> bool:
    """Whether the answer is to be JSON, asked before it is known whether the words can be read at all."""
    return "--json" in _without_command(words)[0]


def seconds(text: str) -> float:
    """A time to wait; ``inf`` is for ever."""
    if (value := float(text)) >= 0:
        return value
    raise ValueError


def number(text: str) -> int:
    """A number of things, from 0."""
    if (value := int(text)) >= 0:
        return value
    raise ValueError


def _without_command(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words, and what follows the first ``--``, which is nobody else's business."""
    if "--" in words and words[0] in OWN_COMMAND:
        at = words.index("--")
        return list(words[:at]), list(words[at + 1 :])
    return list(words), []


def _no_verb(word: str, known: Sequence[str]) -> Usage:
    near = difflib.get_close_matches(word, known, 1)
    return Usage(f"there is no verb {word!r}", f"did you mean {near[0]}?" if near else "see: covey --help")


def _parser(verbs: Verbs) -> argparse.ArgumentParser:
    top = Words(prog="covey", description="Keep a covey of coding agents alive in tmux.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"covey {__version__}")
    table = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Words)
    for name, (about, words, _) in verbs.items():
        names = [alias for alias, verb in ALIASES.items() if verb == name]
        about_it = about[0].upper() + about[1:] + "."
        verb = table.add_parser(name, aliases=names, help=about, description=about_it, allow_abbrev=False)
        for flags, options in (JSON, *words):
            verb.add_argument(*flags, **options)
    return top


def _arranged(verb: str, table: Sequence[Word], words: Sequence[str]) -> list[str]:
    """The same words as argparse reads them without a doubt: options first, each with its value, then the others."""
    flags = {flag: how for names, how in table for flag in names if flag.startswith("-")}
    options: list[str] = []
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if word == "--":
            others += rest
        elif not _like_an_option(word):
            _check_word(verb, flags, word)
            others.append(word)
        elif name not in flags:
            raise Usage(f"{verb} has no option {word}", f"put -- before words that begin with a dash; {_see(verb)}")
        else:
            whole = equals or flags[name].get("action") in ("store_true", "help")
            options.append(word if whole else f"{word}={_value(verb, word, rest)}")
    most = sum(_most(how) for names, how in table if not names[0].startswith("-"))
    if len(others) > most:
        raise Usage(f"{verb} has no use for {others[int(most)]!r}", _see(verb))
    return [*options, *(["--"] if others else []), *others]


def _check_word(verb: str, flags: Collection[str], word: str) -> None:
    """Refuse what is an option as the editor has it, ``restart=always`` or ``env.A=1``, where names are expected."""
    key, equals, value = word.partition("=")
    option, dot, variable = key.replace("_", "-").partition(".")
    if verb in OWN_COMMAND and equals and f"--{option}" in flags:
        setting = f"{variable}={value}" if dot else value
        raise Usage(f"{word!r} is how the editor has it", f"here it is --{option} {shlex.quote(setting)}")


def _like_an_option(word: str) -> bool:
    """A prompt may begin with a dash too: ``- an item``."""
    return word.startswith("-") and word != "-" and not any(map(str.isspace, word.partition("=")[0]))


def _value(verb: str, flag: str, rest: Iterator[str]) -> str:
    for word in rest:
        return word
    raise Usage(f"{flag} wants a value", _see(verb))


def _most(how: Mapping[str, Any]) -> float:
    """How many words an argument can take."""
    return float("inf") if how.get("nargs") in ("*", "+") else 1


def _see(verb: str) -> str:
    return f"see: covey {verb} --help"
