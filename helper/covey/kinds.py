"""Whether JSON values are of the kinds that annotations name: no more kinds than methods are annotated with. Pure."""

from __future__ import annotations

import types
from collections.abc import Mapping
from math import isnan
from typing import Any, Union, get_args, get_origin

from covey.errors import Usage

CALLED = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    Mapping: "a table",
    dict: "a table",
    types.NoneType: "nothing",
}


def check(where: str, wanted: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise ``Usage`` for the first value that is not of the kind wanted under its name. Values are not repeated."""
    for name, kind in wanted.items():
        if name in given and not fits(given[name], kind):
            raise Usage(f"{where}: {name} cannot be {_said(given[name])}", f"give {called(kind)}")


def holds(wanted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether all that is given under a wanted name is of the kind wanted."""
    return all(fits(given[name], kind) for name, kind in wanted.items() if name in given)


def _said(value: Any) -> str:
    return "NaN" if isinstance(value, float) and isnan(value) else called(type(value))


def fits(value: Any, kind: Any) -> bool:
    """Whether the value is of that kind. Lua has one empty table: it is an empty list, and an empty table."""
    of, parts = get_origin(kind) or kind, get_args(kind)
    if of in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if of in (list, Mapping):
        return value in ([], {}) or _holds(value, of, parts)
    if of in (int, float) and isinstance(value, bool):
        return False
    if of is float:
        return isinstance(value, int) or (isinstance(value, float) and not isnan(value))
    return of is Any or isinstance(value, of)


def _holds(value: Any, of: Any, parts: tuple[Any, ...]) -> bool:
    """Whether a list, or a table, holds what it is to hold."""
    if of is list:
        return isinstance(value, list) and all(fits(each, parts[0]) for each in value)
    return isinstance(value, dict) and all(fits(key, parts[0]) and fits(each, parts[1]) for key, each in value.items())


def called(kind: Any) -> str:
    """A kind in words."""
    of, parts = get_origin(kind) or kind, get_args(kind)
    if of in (Union, types.UnionType):
        return " or ".join(called(part) for part in parts if part is not types.NoneType)
    if of is list and parts:
        return f"a list, each {called(parts[0])}"
    return CALLED.get(of, str(getattr(of, "__name__", of)))
