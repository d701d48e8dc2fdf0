"""The command line, without argparse: it would cost a third of the time to the first paint."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from covey.errors import Usage


class Options(NamedTuple):
    """One field an option: ``--burst-gap`` is ``burst_gap``. A field's default says what the option takes."""

    record: str = ""
    session_id: str = ""
    resume: str = ""
    conversation: str = ""
    work: float = 0.2
    exit_after: int = 0
    shell_after: int = 0
    trust: bool = False
    ask_after: float = 0.0
    ready_after: float = 0.0
    ignore_enter: float = 0.0
    swallow: int = 0
    burst_gap: float = 0.0
    sticky: float = 0.0
    slow_echo: float = 0.0
    deaf: float = 0.0
    dialog_after_paste: bool = False
    exit_mid_paste: bool = False


DEFAULTS = Options._field_defaults


def parse(argv: list[str]) -> Options:
    """Read ``--option value``, ``--option=value`` and bare flags. What it does not know is a Usage."""
    found: dict[str, object] = {}
    words = iter(argv)
    for word in words:
        option, equals, value = word.partition("=")
        field = option.removeprefix("--").replace("-", "_")
        if not option.startswith("--") or field not in DEFAULTS:
            raise Usage(f"standin knows no {word!r}", "python -m covey.standin --help")
        if DEFAULTS[field] is False:
            found[field] = True
        else:
            found[field] = _value(option, value if equals else next(words, None))
    return Options(**found)  # type: ignore[arg-type]  # each value has the type of its default


def _value(option: str, text: str | None) -> object:
    wanted = type(DEFAULTS[option.removeprefix("--").replace("-", "_")])
    with contextlib.suppress(ValueError):
        if text and (wanted is str or 0 <= (value := wanted(text)) < float("inf")):
            return text if wanted is str else value
    raise Usage(f"{option} wants a {'value' if wanted is str else 'number'}")
