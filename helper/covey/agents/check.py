"""One profile file as text -> Profile, or one sentence that says what is wrong with it and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from covey import document
from covey.agents.profile import (
    COMPOSER_KINDS,
    PUBLISHED,
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
    SessionFile,
    StartDialog,
)
from covey.agents.values import (
    MAX_RULES,
    BadProfile,
    Reader,
    count,
    fields,
    flag,
    list_of,
    one_of,
    pattern,
    record,
    records,
    seconds,
    slug,
    string,
    table_of,
)

RAIL = r"^[\s│]*[─━╌▔_]{3,}"
ACTS = ("refuse", "space")
WHEN = ("now", "idle", "ask")

Table: TypeAlias = Mapping[str, Any]
Known: TypeAlias = Callable[[str], Profile | None]


def read(text: str, known: Known) -> Profile:
    """The profile that ``text`` (TOML) describes; with ``like`` it differs from a known one only in what it says.

    Raises BadProfile or document.Unreadable.
    """
    table = document.toml(text)
    values = fields(table, _PROFILE, "")
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


def _composer(kind: str, prompt: re.Pattern[str], **rest: Any) -> ComposerRule:
    rail = re.compile(RAIL)
    return ComposerRule(cast("ComposerKind", kind), prompt, rest.pop("top", rail), rest.pop("bottom", rail), **rest)


def _rule(name: str, where: str, match: re.Pattern[str], **rest: Any) -> Rule:
    scene = cast("Scene", rest.pop("scene", "any"))
    return Rule(name, cast("Region", where), match, scene=scene, **rest)


_strings = list_of(string)
_rules = records(
    record(
        {
            "name": slug,
            "where": one_of(REGIONS),
            "match": pattern,
            "joined": flag,
            "narrow": flag,
            "unless": pattern,
            "scene": one_of(SCENES),
            "untitled": flag,
            "quiet": seconds,
        },
        ("name", "where", "match"),
        _rule,
    )
)
_RULES = ("blocked", "working", "starting", "idle", "background")
_PROFILE: Mapping[str, Reader] = {
    "like": slug,
    "name": slug,
    "title": string,
    "argv": _strings,
    "probe": _strings,
    "probe_match": pattern,
    "verified_version": string,
    "untested": flag,
    "resume": _strings,
    "new_id": _strings,
    "history": string,
    "history_query": string,
    "flags": record(dict.fromkeys(("model", "effort", "permission", "tools", "name"), _strings), (), Flags),
    "env_set": table_of(string),
    "env_unset": _strings,
    "env_spool": _strings,
    "interrupt": list_of(_strings),
    "quit": string,
    "grace": seconds,
    "spare": _strings,
    "enter_delay": seconds,
    "uptake": seconds,
    "enter_schedule": list_of(seconds),
    "paste_limit": count,
    "queues_itself": flag,
    "when": one_of(WHEN),
    "takes_prompt_argv": flag,
    "reference": string,
    "leading": table_of(one_of(ACTS)),
    "trailing": table_of(one_of(ACTS)),
    "words": _strings,
    "own_title": pattern,
    "resting_title": pattern,
    "ready": record({"title": flag, "late_title": flag, "quiet": seconds, "patience": seconds}, (), ReadyRule),
    "composer": record(
        {
            "kind": one_of(COMPOSER_KINDS),
            "prompt": pattern,
            "top": pattern,
            "bottom": pattern,
            "above": pattern,
            "shell": pattern,
            "aside": pattern,
            "ghosts": list_of(pattern),
            "foot": count,
        },
        ("kind", "prompt"),
        _composer,
    ),
    "dialogs": records(
        record(
            {"name": slug, "match": pattern, "choose": pattern, "consent": string},
            ("name", "match", "choose", "consent"),
            StartDialog,
        )
    ),
    "session_file": record(
        {
            "folder": string,
            "folder_env": string,
            "file": string,
            "start": string,
            "only": table_of(string),
            "state": string,
            "about": string,
            "conversation": string,
            "states": table_of(one_of(PUBLISHED)),
            "background": _strings,
        },
        ("folder", "file", "start", "state", "states"),
        SessionFile,
    ),
    "rehearsal": record(
        {
            "env": table_of(string),
            "files": table_of(string),
            "asks": string,
            "bare": flag,
        },
        (),
        Rehearsal,
    ),
    **dict.fromkeys(_RULES, _rules),
}
