"""What of a text is typed, and whether it may be typed now. Pure; ``delivery`` does the typing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from covey.agents import Profile
from covey.agents.composer import BLANK
from covey.errors import Refused
from covey.models import Outcome, Verdict
from covey.tickets import ASKS

MAX_BYTES = 1 << 20  # a prompt typed by keyboard; more goes by a file and a reference
CANONICAL_LINE = 4095  # bytes a line-buffered terminal keeps of one line (n_tty(4)); the rest is lost in silence
SHELLS = frozenset("sh bash zsh fish dash ksh mksh ash busybox csh tcsh nu xonsh elvish pwsh".split())

DRAFT_SHOWN = 60  # characters of a draft that a reason repeats
STARTING, WORKING = "the agent is starting", "the agent is working"  # reasons to hold that end by themselves
_PASTE_MARK = re.compile(r"\x1b\[20[01]~")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Clean:
    """What will be typed, and how many bytes were taken out of what was given."""

    text: str
    stripped: int


def sanitise(text: str) -> Clean:
    """Line ends become LF, trailing ones go, and nothing but TAB and LF is left of the control characters.

    A paste terminator inside a paste would end it, and what follows would be typed as keys.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = _CONTROL.sub("", _PASTE_MARK.sub("", lines))
    return Clean(kept.rstrip("\n"), size(lines) - size(kept))


def size(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def is_blank(text: str) -> bool:
    """Whether a composer with this text would look empty."""
    return not text.translate(dict.fromkeys(map(ord, BLANK), " ")).strip()


def typed(clean: Clean, profile: Profile, *, raw: bool) -> Clean:
    """The text as it will be typed (``raw``: as it is), or ``Refused`` where it cannot arrive."""
    check(clean, profile)
    return clean if raw else replace(clean, text=plain(clean.text, profile))


def plain(text: str, profile: Profile) -> str:
    """The text as it must be typed to reach this agent's model as text, or ``Refused`` by name.

    What a first or last character does to a prompt is the profile's to say: ``/`` runs a command, ``!`` a shell.
    """
    if text.strip() in profile.words:
        raise Refused(f"{profile.name} takes the word {text.strip()!r} as an order to end", "send it raw to give it")
    first, last = text.lstrip()[:1], _last(text)
    if profile.leading.get(first) == "refuse":
        raise Refused(f"{profile.name} does not take a prompt that begins with {first!r} as text", "or send it raw")
    if profile.trailing.get(last) == "refuse":
        raise Refused(f"{profile.name} does not send a prompt that ends with {last!r}", "put a word behind it")
    before = " " if profile.leading.get(first) == "space" and text[:1] == first else ""
    return before + text + (" " if profile.trailing.get(last) == "space" else "")


def _last(text: str) -> str:
    """What a rule about ends looks at: the last character, or ``@`` where the last word begins with it.

    Behind such a word a list of completions is open, and Enter would pick one of them.
    """
    return "@" if re.search(r"(?:^|\s)@\S*\Z", text) else text[-1:]


def check(clean: Clean, profile: Profile) -> None:
    """Refuse what cannot arrive, before a ticket is written."""
    if is_blank(clean.text):
        raise Refused("the prompt is empty", "write something to send")
    limit = min(MAX_BYTES, profile.paste_limit or MAX_BYTES)
    if size(clean.text) > limit:
        raise Refused(
            f"the prompt has {size(clean.text)} bytes; {profile.name} takes {limit}",
            "send it as a file (--as-file)" if reads_files(profile) else "put it into a file of the project",
        )


def reference(path: Path, profile: Profile) -> str:
    """What to type so that the agent reads that file, or ``Refused`` where its naming one does not make it.

    The path stands within a sentence: at the end a list of files would be open, at the beginning it might be an order.
    """
    if not reads_files(profile):
        raise Refused(f"{profile.name} has no way to be given a file", "send less, or put it where the agent looks")
    return f"Read {profile.reference.replace('{path}', str(path))} and do what it says."


def reads_files(profile: Profile) -> bool:
    """Whether the agent reads a file that a prompt points to; a bare path is only words to it."""
    return profile.reference not in ("", "{path}")


def longest_line(text: str) -> int:
    """Bytes of the longest line."""
    return max(map(size, text.split("\n")))


def is_same(composer: str, draft: str) -> bool:
    """Whether what the composer shows is still that draft; an Enter taken as a line feed adds blank rows to it."""
    return composer.strip() == draft.strip()


@dataclass(frozen=True, slots=True)
class Draft:
    """What was typed and stands unsent: as the composer shows it (None: not seen yet), and the Enters so far."""

    shown: str | None = None
    presses: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """How a delivery ended. With ``draft`` the text was typed and waits unsent for ``reason`` to end.

    ``queued``: nothing was typed, and it may be tried again at once.
    """

    outcome: Outcome
    reason: str = ""
    draft: Draft | None = None


def occasion(given: str, profile: Profile, configured: str) -> str:
    """When a prompt is typed: as its sender says, else the profile, else the configuration, else what the agent bears.

    ``ask`` is a question only where the agent does not queue by itself what it is given while it works.
    """
    when = given or profile.when or configured
    usual = "now" if profile.queues_itself else "idle"
    return usual if not when or (when == "ask" and profile.queues_itself) else when


def obstacle(
    verdict: Verdict, composer: str | None, profile: Profile, *, when: str, submit: bool = True
) -> Result | None:
    """Why a prompt may not be typed now, from what the session shows; None when it may. The first that fits.

    What is not to be submitted goes beside a draft that is there.
    """
    reasons: tuple[tuple[bool, Outcome, str], ...] = (
        (verdict.state == "exited", "refused", "the agent has exited; respawn it first"),
        (verdict.state == "blocked", "held", f"the agent is blocked: {verdict.excerpt}"),
        (verdict.state == "starting", "held", STARTING),
        (verdict.state == "working" and when == "idle", "held", WORKING),
        (verdict.state == "working" and when == "ask", "held", ASKS),
        (profile.has_composer and composer is None, "held", "no composer is on the screen"),
        (bool(composer) and submit, "held", _in_the_way(composer or "")),
    )
    return next((Result(outcome, reason) for fits, outcome, reason in reasons if fits), None)


def _in_the_way(draft: str) -> str:
    """What stands in the composer, and how it goes: nobody but a person may say that it is not wanted."""
    words = " ".join(draft.split())
    shown = words if len(words) <= DRAFT_SHOWN else words[:DRAFT_SHOWN] + " …"
    return f"a half-typed draft is in the composer: {shown!r}; attach and clear it, or send by force"
