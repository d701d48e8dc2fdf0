"""Options that an installed version of an agent does not know: named by its own complaint, and left out from then on.

Only what covey adds by itself is ever left out. What a person asked for (a model, a permission) is not: an agent that
does not know that ends, and says why on its screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from covey.agents.profile import Profile

OPTION = "without"  # the option of a session that holds them, separated by blanks
_COMPLAINT = (
    r"(?i)\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|invalid|no such|not recogni[sz]ed)\b"
    r".{0,20}\b(?:option|argument|flag|switch)s?\b\W{0,4}"
)


def complaint(rows: Iterable[str], profile: Profile, options: Mapping[str, str]) -> str:
    """The option of ours that the agent says it does not know; '' where it says nothing, or of none that was given.

    Some name it without its dashes.
    """
    said = " ".join(" ".join(row.split()) for row in rows)
    ours = (*profile.argv[1:], *profile.new_id, *profile.resume)
    left = [word for word in ours if word.startswith("--") and word not in left_out(options)]
    named = (word for word in left if re.search(rf"{_COMPLAINT}{re.escape(word[2:])}(?![\w-])", said))
    return next(named, "")


def left_out(options: Mapping[str, str]) -> Sequence[str]:
    return options.get(OPTION, "").split()


def adding(options: Mapping[str, str], option: str) -> dict[str, str]:
    """The session's options, with one more that is left out."""
    return {**options, OPTION: " ".join([*left_out(options), option])}


def without(profile: Profile, options: Mapping[str, str]) -> Profile:
    """The profile of a version that lacks these: what cannot be said without them is not said at all."""
    gone = left_out(options)
    kept = {key: () for key in ("new_id", "resume") if set(gone).intersection(getattr(profile, key))}
    return replace(profile, **kept, argv=tuple(word for word in profile.argv if word not in gone))  # type: ignore[arg-type]
