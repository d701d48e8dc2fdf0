"""One profile file as text -> Profile, or one sentence that says what is wrong with it and where."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from covey.agents.pattern import BadPattern, compile_pattern
from covey.agents.profile import (
    COMPOSER_KINDS,
    REGIONS,
    SCENES,
    ComposerKind,
    ComposerRule,
    Flags,
    Profile,
    ReadyRule,
    Region,
    Rehearsal,
    Rule,
    Scene,
    StartDialog,
)

MAX_RULES = 64  # in one file
MAX_FILE = 65_536  # bytes
MAX_LIST = 64

RAIL = r"^[\s│]*[─━╌▔_]{3,}"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
ACTS = ("refuse", "space")

Table: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[Any], Any]
Known: TypeAlias = Callable[[str], Profile | None]


class BadProfile(ValueError):
    """What is wrong, and the key it is wrong at."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(f"{key}: {what}")
        self.key = key


def read(text: str, known: Known) -> Profile:
    """The profile that ``text`` (TOML) describes; with ``like`` it differs from a known one only in what it says.

    Raises BadProfile or tomllib.TOMLDecodeError.
    """
    if len(text.encode()) > MAX_FILE:
        raise BadProfile("file", f"is larger than {MAX_FILE} bytes")
    table = tomllib.loads(text)
    values = _fields(table, _PROFILE, "")
    like = values.pop("like", None)
    base = known(like) if like is not None else None
    if like is not None and base is None:
        raise BadProfile("like", f"there is no agent {like!r}")
    missing = [key for key in ("name", "argv") if key not in values and base is None]
    if missing:
        raise BadProfile(missing[0], "is missing")
    if sum(len(values.get(kind, ())) for kind in _RULES) > MAX_RULES:
        raise BadProfile("rules", f"are more than {MAX_RULES}")
    if base is not None:
        return replace(base, **values)
    values.setdefault("title", values["name"])
    return Profile(**values)


def line_of(text: str, key: str) -> int | None:
    """The first line that sets the last part of ``key`` (``working[2].match`` -> the third ``[[working]]``)."""
    found = re.match(r"(\w+)\[(\d+)\]", key)
    rows = text.split("\n")
    start = _nth_header(rows, found.group(1), int(found.group(2))) if found else 0
    leaf = re.escape(re.sub(r"\[\d+\]$", "", key.rsplit(".", 1)[-1]))
    for number, row in enumerate(rows[start:], start + 1):
        if re.match(rf"\s*(\[+\s*)?([\w.]+\.)?\"?{leaf}\"?\s*(=|\]|\.)", row):
            return number
    return start + 1 if found else None


def _nth_header(rows: list[str], name: str, index: int) -> int:
    at = [number for number, row in enumerate(rows) if re.match(rf"\s*\[\[\s*{name}\s*\]\]", row)]
    return at[index] if index < len(at) else 0


def _fields(table: Any, readers: Mapping[str, Reader], path: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise BadProfile(path or "file", "must be a table")
    values: dict[str, Any] = {}
    for key, raw in table.items():
        where = f"{path}.{key}" if path else key
        if key not in readers:
            raise BadProfile(where, f"is unknown; known are {', '.join(sorted(readers))}")
        try:
            values[key] = readers[key](raw)
        except BadProfile as error:
            raise BadProfile(where + error.key, str(error.args[0]).split(": ", 1)[1]) from error
    return values


def _fail(what: str) -> BadProfile:
    return BadProfile("", what)


def _string(raw: Any) -> str:
    if not isinstance(raw, str) or len(raw) > 2_000 or "\0" in raw:  # noqa: PLR2004 - a line, not a document
        raise _fail("must be a short string")
    return raw


def _name(raw: Any) -> str:
    if not NAME.fullmatch(_string(raw)):
        raise _fail("must be lower-case letters, digits, - and _, at most 32")
    return _string(raw)


def _flag(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise _fail("must be true or false")
    return raw


def _seconds(raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw <= 600:  # noqa: PLR2004 - ten minutes
        raise _fail("must be a number of seconds from 0 to 600")
    return float(raw)


def _count(raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= 1 << 30:
        raise _fail("must be a whole number")
    return raw


def _one_of(words: tuple[str, ...]) -> Reader:
    def read_word(raw: Any) -> str:
        if raw not in words:
            raise _fail(f"must be one of {', '.join(words)}")
        return cast("str", raw)

    return read_word


def _pattern(raw: Any) -> re.Pattern[str]:
    try:
        return compile_pattern(_string(raw))
    except BadPattern as error:
        raise _fail(str(error)) from error


def _list_of(reader: Reader) -> Reader:
    def read_list(raw: Any) -> tuple[Any, ...]:
        if not isinstance(raw, list) or len(raw) > MAX_LIST:
            raise _fail(f"must be a list of at most {MAX_LIST}")
        return tuple(reader(item) for item in raw)

    return read_list


def _table_of(reader: Reader) -> Reader:
    def read_table(raw: Any) -> dict[str, Any]:
        if not isinstance(raw, dict) or len(raw) > MAX_LIST:
            raise _fail("must be a table")
        return {key: reader(item) for key, item in raw.items()}

    return read_table


def _record(readers: Mapping[str, Reader], required: tuple[str, ...], build: Callable[..., Any]) -> Reader:
    def read_record(raw: Any) -> Any:
        if not isinstance(raw, dict):
            raise _fail("must be a table")
        try:
            values = _fields(raw, readers, "")
        except BadProfile as error:
            raise BadProfile(f".{error.key}", str(error.args[0]).split(": ", 1)[1]) from error
        missing = [key for key in required if key not in values]
        if missing:
            raise BadProfile(f".{missing[0]}", "is missing")
        return build(**values)

    return read_record


def _records(reader: Reader) -> Reader:
    def read_records(raw: Any) -> tuple[Any, ...]:
        if not isinstance(raw, list) or len(raw) > MAX_RULES:
            raise _fail(f"must be at most {MAX_RULES} [[tables]]")
        return tuple(_numbered(reader, index, item) for index, item in enumerate(raw))

    return read_records


def _numbered(reader: Reader, index: int, raw: Any) -> Any:
    try:
        return reader(raw)
    except BadProfile as error:
        raise BadProfile(f"[{index}]{error.key}", str(error.args[0]).split(": ", 1)[1]) from error


def _composer(kind: str, prompt: re.Pattern[str], **rest: Any) -> ComposerRule:
    rail = re.compile(RAIL)
    return ComposerRule(cast("ComposerKind", kind), prompt, rest.pop("top", rail), rest.pop("bottom", rail), **rest)


def _rule(name: str, where: str, match: re.Pattern[str], **rest: Any) -> Rule:
    scene = cast("Scene", rest.pop("scene", "any"))
    return Rule(name, cast("Region", where), match, scene=scene, **rest)


_strings = _list_of(_string)
_rules = _records(
    _record(
        {
            "name": _name,
            "where": _one_of(REGIONS),
            "match": _pattern,
            "joined": _flag,
            "narrow": _flag,
            "unless": _pattern,
            "scene": _one_of(SCENES),
            "quiet": _seconds,
        },
        ("name", "where", "match"),
        _rule,
    )
)
_RULES = ("blocked", "working", "starting", "idle", "background")
_PROFILE: Mapping[str, Reader] = {
    "like": _name,
    "name": _name,
    "title": _string,
    "argv": _strings,
    "probe": _strings,
    "probe_match": _pattern,
    "verified_version": _string,
    "untested": _flag,
    "resume": _strings,
    "new_id": _strings,
    "history": _string,
    "history_query": _string,
    "flags": _record(dict.fromkeys(("model", "effort", "permission", "tools", "name"), _strings), (), Flags),
    "env_set": _table_of(_string),
    "env_unset": _strings,
    "env_spool": _strings,
    "interrupt": _list_of(_strings),
    "quit": _string,
    "grace": _seconds,
    "spare": _strings,
    "enter_delay": _seconds,
    "enter_schedule": _list_of(_seconds),
    "paste_limit": _count,
    "queues_itself": _flag,
    "takes_prompt_argv": _flag,
    "reference": _string,
    "leading": _table_of(_one_of(ACTS)),
    "trailing": _table_of(_one_of(ACTS)),
    "words": _strings,
    "own_title": _pattern,
    "ready": _record({"title": _flag, "late_title": _flag, "quiet": _seconds, "patience": _seconds}, (), ReadyRule),
    "composer": _record(
        {
            "kind": _one_of(COMPOSER_KINDS),
            "prompt": _pattern,
            "top": _pattern,
            "bottom": _pattern,
            "ghosts": _list_of(_pattern),
            "foot": _count,
        },
        ("kind", "prompt"),
        _composer,
    ),
    "dialogs": _records(
        _record(
            {"name": _name, "match": _pattern, "choose": _pattern, "consent": _string},
            ("name", "match", "choose", "consent"),
            StartDialog,
        )
    ),
    "rehearsal": _record(
        {
            "env": _table_of(_string),
            "files": _table_of(_string),
            "asks": _string,
            "bare": _flag,
        },
        (),
        Rehearsal,
    ),
    **dict.fromkeys(_RULES, _rules),
}
