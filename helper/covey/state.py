"""Evidence -> state, purely: what the agent publishes, then the bottom of its screen by structure, then its process.

Of its screen and the file in which it publishes what it does, the one counts that calls for more attention; but an
open composer that has stood still for a while is believed against the file.

``blocked`` is tested before ``working``, ``working`` before ``starting``, all of them before ``idle``; and what fits
nothing is ``unknown``. Each verdict names its rule and shows what it saw.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from covey.agents import composer as composers
from covey.agents import dialog as dialogs
from covey.agents.dialog import Dialog, Option
from covey.agents.profile import Profile, Rule
from covey.agents.published import Published
from covey.agents.region import View
from covey.models import Exit, StateName, Verdict
from covey.tmux.screen import Screen

__all__ = ["Dialog", "Evidence", "Option", "composer", "dialog", "judge", "ready"]

BARE_ROWS = 3  # a screen with no more rows than this has not been drawn yet
DRAWN = 60.0  # seconds it may take to be drawn: some agents unpack themselves first, on a busy machine
MAX_BACKGROUND = 99
STILL = 10.0  # seconds after which an open composer is believed against the agent's own file: agents at work move
_ATTENTION: tuple[StateName, ...] = ("unknown", "idle", "starting", "working", "blocked")
PUBLISHED = "session-file"  # the rule by which a state is what the agent wrote of itself


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a pane at one moment.

    ``screen`` None: it was not read. ``title`` '': not known. ``title_is_set``: the title is no longer the one the
    pane was born with. ``changed_ago``: seconds since the screen last changed, None: not known. ``started``: it was
    seen idle or at work, so what it shows is no greeting.
    """

    screen: Screen | None
    title: str = ""
    dead: bool = False
    exit: Exit | None = None
    changed_ago: float | None = None
    title_is_set: bool = True
    published: Published | None = None
    started: bool = False


def judge(evidence: Evidence, profile: Profile) -> Verdict:
    """The state that the evidence shows for an agent of this profile."""
    if evidence.dead:
        return Verdict("exited", "process", _how(evidence.exit))
    seen = _seen(evidence, profile)
    told = evidence.published
    if told is None or _outweighs(seen, told, evidence):
        return replace(seen, background=max(seen.background, told.background if told else 0))
    return Verdict(told.state, PUBLISHED, told.about or seen.excerpt, told.background or seen.background)


def _outweighs(seen: Verdict, told: Published, evidence: Evidence) -> bool:
    """Whether what is seen counts, and not what the agent wrote, which comes some time later."""
    stuck = seen.state == "idle" and (evidence.changed_ago or 0.0) >= STILL
    return stuck or _ATTENTION.index(seen.state) >= _ATTENTION.index(told.state)


def _seen(evidence: Evidence, profile: Profile) -> Verdict:
    if evidence.screen is None:
        return Verdict("unknown", "no-screen")
    view = View.of(evidence.screen, evidence.title, profile)
    for look in (_blocked, _working, _starting, _idle):
        verdict = look(view, evidence, profile)
        if verdict:
            return verdict
    return Verdict("unknown", "nothing-fits", _last(view))


def composer(screen: Screen, profile: Profile) -> str | None:
    """The draft in the composer as shown.

    '' when it is empty or shows a placeholder; None when no composer is shown (or a dialog stands in its place), or
    the profile does not say how one looks.
    """
    box = composers.locate(screen, profile.composer) if profile.composer else None
    if box is None or profile.composer is None or _dialog(screen, box, profile):
        return None
    return composers.draft(screen, profile.composer, box)


def dialog(screen: Screen, profile: Profile) -> Dialog | None:
    """The question that waits at the bottom of the screen (below the composer, if there is one), or None."""
    box = composers.locate(screen, profile.composer) if profile.composer else None
    return _dialog(screen, box, profile)


def ready(evidence: Evidence, profile: Profile) -> bool:
    """Whether a new agent takes its first prompt now: idle by evidence, on a screen that stands still."""
    still = evidence.changed_ago is None or evidence.changed_ago >= profile.ready.quiet
    patient = (evidence.changed_ago or 0.0) >= profile.ready.patience
    titled = not profile.ready.late_title or patient or _own_title(evidence, profile)
    return still and titled and judge(evidence, profile).state == "idle"


def _dialog(screen: Screen, box: composers.Box | None, profile: Profile) -> Dialog | None:
    if box is None:
        return dialogs.find(screen)
    below = [row for row in screen.lines[box.bottom + 1 :] if row.strip()]
    lined = profile.composer is not None and profile.composer.kind == "line"
    if lined:
        typed = profile.composer is not None and profile.composer.prompt.match(screen.lines[box.last]) is not None
        return dialogs.find(screen, dialogs.block(screen, box.top), typed=typed)
    return dialogs.find(screen, box.top if dialogs.hint(below) else box.bottom + 1)


def _blocked(view: View, evidence: Evidence, profile: Profile) -> Verdict | None:
    del evidence
    found = _dialog(view.screen, view.box, profile)
    if found:
        return Verdict("blocked", "dialog", found.question or found.options[0].label)
    hint = dialogs.hint(list(view.rows("tail"))) if view.box is None else None
    if hint:
        return Verdict("blocked", "answer-hint", hint)
    return _first("blocked", profile.blocked, view)


def _working(view: View, evidence: Evidence, profile: Profile) -> Verdict | None:
    rests = profile.resting_title is not None and profile.resting_title.search(evidence.title)
    rules = () if rests else _asked(profile.working, evidence, profile)
    return _first("working", rules, view, _background(view, profile))


def _starting(view: View, evidence: Evidence, profile: Profile) -> Verdict | None:
    if evidence.started:
        return None
    verdict = _first("starting", _asked(profile.starting, evidence, profile), view)
    if verdict:
        return verdict
    still = evidence.changed_ago or 0.0
    bare = profile.composer is not None and view.box is None
    if bare and len(view.rows("screen")) <= BARE_ROWS and still < DRAWN:
        return Verdict("starting", "not-drawn", _last(view))
    if still >= profile.ready.patience:
        return None
    waits = profile.ready.title and not composer(view.screen, profile)  # a draft that shows was taken
    if (waits or bare) and evidence.title and not _own_title(evidence, profile):
        return Verdict("starting", "title-not-set", evidence.title)
    return None


def _asked(rules: tuple[Rule, ...], evidence: Evidence, profile: Profile) -> tuple[Rule, ...]:
    """Those of the rules that may hold: some only while the screen moves, some only where the title says nothing.

    Of an agent that starts it says nothing yet.
    """
    still = evidence.changed_ago or 0.0
    silent = not evidence.title or (evidence.started and not _own_title(evidence, profile))
    return tuple(each for each in rules if not 0 < each.quiet <= still and (silent or not each.untitled))


def _own_title(evidence: Evidence, profile: Profile) -> bool:
    fits = profile.own_title is None or profile.own_title.search(evidence.title) is not None
    return evidence.title_is_set and fits


def _idle(view: View, evidence: Evidence, profile: Profile) -> Verdict | None:
    del evidence
    background = _background(view, profile)
    verdict = _first("idle", profile.idle, view, background)
    if verdict or view.box is None:
        return verdict
    return Verdict("idle", "composer", view.screen.lines[view.box.first].strip(), background)


def _first(state: StateName, rules: tuple[Rule, ...], view: View, background: int = 0) -> Verdict | None:
    for rule in rules:
        seen = view.holds(rule)
        if seen is not None:
            return Verdict(state, rule.name, seen, background)
    return None


def _background(view: View, profile: Profile) -> int:
    """How many tasks the agent says go on behind its composer: the number in what a rule found, else 1."""
    found = next((match for match in map(view.find, profile.background) if match), None)
    if found is None:
        return 0
    number = re.search(r"\d+", found.group())
    return min(int(number.group()), MAX_BACKGROUND) if number else 1


def _last(view: View) -> str:
    rows = view.rows("last")
    return rows[0].strip()[:120] if rows else ""


def _how(ended: Exit | None) -> str:
    if ended is None or (ended.code is None and ended.signal is None):
        return "status not known"
    return f"signal {ended.signal}" if ended.signal is not None else f"code {ended.code}"
