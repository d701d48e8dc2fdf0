"""Values of a profile file: each reader takes one as TOML gives it, and answers it checked, or says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from covey.agents.pattern import BadPattern, compile_pattern

MAX_RULES = 64  # in one file
MAX_LIST = 64
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")

Reader: TypeAlias = Callable[[Any], Any]


class BadProfile(ValueError):
    """What is wrong, and the key it is wrong at."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(f"{key}: {what}")
        self.key = key


def fields(table: Any, readers: Mapping[str, Reader], path: str) -> dict[str, Any]:
    """A table's values by key; one that no reader knows is refused, with those there are."""
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


def string(raw: Any) -> str:
    if not isinstance(raw, str) or len(raw) > 2_000 or "\0" in raw:  # noqa: PLR2004 - a line, not a document
        raise _fail("must be a short string")
    return raw


def slug(raw: Any) -> str:
    if not NAME.fullmatch(string(raw)):
        raise _fail("must be lower-case letters, digits, - and _, at most 32")
    return string(raw)


def flag(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise _fail("must be true or false")
    return raw


def seconds(raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw <= 600:  # noqa: PLR2004 - ten minutes
        raise _fail("must be a number of seconds from 0 to 600")
    return float(raw)


def count(raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= 1 << 30:
        raise _fail("must be a whole number")
    return raw


def one_of(words: tuple[str, ...]) -> Reader:
    def read_word(raw: Any) -> str:
        if raw not in words:
            raise _fail(f"must be one of {', '.join(words)}")
        return cast("str", raw)

    return read_word


def pattern(raw: Any) -> re.Pattern[str]:
    try:
        return compile_pattern(string(raw))
    except BadPattern as error:
        raise _fail(str(error)) from error


def list_of(reader: Reader) -> Reader:
    def read_list(raw: Any) -> tuple[Any, ...]:
        if not isinstance(raw, list) or len(raw) > MAX_LIST:
            raise _fail(f"must be a list of at most {MAX_LIST}")
        return tuple(reader(item) for item in raw)

    return read_list


def table_of(reader: Reader) -> Reader:
    def read_table(raw: Any) -> dict[str, Any]:
        if not isinstance(raw, dict) or len(raw) > MAX_LIST:
            raise _fail("must be a table")
        return {key: reader(item) for key, item in raw.items()}

    return read_table


def record(readers: Mapping[str, Reader], required: tuple[str, ...], build: Callable[..., Any]) -> Reader:
    def read_record(raw: Any) -> Any:
        if not isinstance(raw, dict):
            raise _fail("must be a table")
        try:
            values = fields(raw, readers, "")
        except BadProfile as error:
            raise BadProfile(f".{error.key}", str(error.args[0]).split(": ", 1)[1]) from error
        missing = [key for key in required if key not in values]
        if missing:
            raise BadProfile(f".{missing[0]}", "is missing")
        return build(**values)

    return read_record


def records(reader: Reader) -> Reader:
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
