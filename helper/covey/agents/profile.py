"""What covey knows of one kind of agent, as values: how it is started, read, typed into and ended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from covey.models import StateName

Region: TypeAlias = Literal["title", "last", "tail", "above", "near", "rail", "draft", "below", "screen"]
REGIONS: tuple[str, ...] = ("title", "last", "tail", "above", "near", "rail", "draft", "below", "screen")
Scene: TypeAlias = Literal["any", "composer", "bare"]
SCENES: tuple[str, ...] = ("any", "composer", "bare")
ComposerKind: TypeAlias = Literal["box", "line", "bar"]
PUBLISHED: tuple[StateName, ...] = ("working", "blocked", "idle")  # what an agent may say of itself
COMPOSER_KINDS: tuple[str, ...] = ("box", "line", "bar")


@dataclass(frozen=True, slots=True)
class Rule:
    """One sign of a state. It holds when ``match`` is found in a row of the region ``where``.

    ``joined`` searches the region's rows joined by single blanks instead, so that a phrase wrapped by a narrow
    pane is found; ``narrow`` keeps a rule to panes that wrap phrases. ``scene`` keeps it to screens with
    (``composer``) or without (``bare``) a composer, ``untitled`` to agents whose title is not their own and so says
    nothing. A rule of ``starting`` or ``working`` with ``quiet`` stops to hold when the screen stood still for that
    many seconds.
    """

    name: str
    where: Region
    match: re.Pattern[str]
    joined: bool = False
    narrow: bool = False
    unless: re.Pattern[str] | None = None
    scene: Scene = "any"
    untitled: bool = False
    quiet: float = 0.0


@dataclass(frozen=True, slots=True)
class ComposerRule:
    """How the place where prompts are typed is drawn.

    ``box``: rows between a ``top`` and a ``bottom`` rail, the first of them starting with ``prompt``.
    ``line``: a row starting with ``prompt``, its further rows indented, the last thing on the screen but for
    ``foot`` rows below. ``bar``: rows that start with ``prompt``, closed by a ``bottom`` row.
    Where prompts in the talk are framed as the composer is, ``above`` stands in one of the three rows over it alone.
    ``ghosts`` are placeholders that stand where a draft would, for captures without colours.
    ``shell`` begins the first row, in a bar the last, where what is typed goes to a shell: in whatever colour, no
    prompt must follow it. ``aside`` are rows over it that are no part of the talk.
    """

    kind: ComposerKind
    prompt: re.Pattern[str]
    top: re.Pattern[str]
    bottom: re.Pattern[str]
    above: re.Pattern[str] | None = None
    shell: re.Pattern[str] | None = None
    aside: re.Pattern[str] | None = None
    ghosts: tuple[re.Pattern[str], ...] = ()
    foot: int = 0


@dataclass(frozen=True, slots=True)
class ReadyRule:
    """When a new agent takes a prompt.

    It has set its own ``title`` (where it does so at all), its composer shows, and the screen stood still for
    ``quiet`` seconds. ``patience``: seconds after which a composer on a screen that stands still is ready even
    without the title, for titles can be turned off. ``late_title``: a screen without the title may be an idle one,
    but one that is watched from its start is not ready before it.
    """

    title: bool = False
    late_title: bool = False
    quiet: float = 0.3
    patience: float = 8.0


@dataclass(frozen=True, slots=True)
class StartDialog:
    """A question an agent asks before its first prompt.

    Never answered by position: ``choose`` finds the option by its words, and ``consent`` names what a person has to
    have allowed first ('': it changes nothing that lasts).
    """

    name: str
    match: re.Pattern[str]
    choose: re.Pattern[str]
    consent: str


@dataclass(frozen=True, slots=True)
class SessionFile:
    """Where a running agent writes what it is doing: a JSON object, in a file of its own.

    It is ``file`` (``{pid}`` stands for the agent's process) in ``folder``, or in the directory that the agent's
    variable ``folder_env`` names. The object is believed where ``start`` holds the start time of that very process,
    in the kernel's own count, and every key of ``only`` the value given. ``states`` says what the words at ``state``
    mean; those in ``background`` mean a task besides. ``about`` holds what the agent waits for, ``conversation`` the
    id of what is being said, which a person may change while the agent runs.
    """

    folder: str
    file: str
    start: str
    state: str
    states: Mapping[str, StateName]
    folder_env: str = ""
    only: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    conversation: str = ""
    background: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How the agent is brought to talk to a model of covey's own, in a home of its own.

    ``{url}``, ``{key}`` and ``{file}`` stand for the model's address, a made-up key and a file to be made. ``files``
    are laid into the home, ``asks`` is a prompt after which the agent asks for permission ('': it never does).
    ``bare``: it offers the model no tools.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    asks: str = ""
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Flags:
    """Arguments that pass a value to the agent; ``{value}`` stands for it. Empty: the agent has no such flag."""

    model: tuple[str, ...] = ()
    effort: tuple[str, ...] = ()
    permission: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    name: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of agent.

    ``argv`` starts it; ``resume`` and ``new_id`` are *further* arguments put behind it (``{id}`` stands for the
    conversation), empty where the agent cannot. ``probe`` prints the version (``probe_match`` is found in the
    output of the right program; another one may bear the same name). ``history`` is the file in which the agent keeps
    a conversation, or the database that ``history_query`` (SQL) is asked of. ``interrupt`` is a tuple of key presses in
    tmux's key names, each a tuple sent at once. Seconds: ``grace`` (from TERM to KILL), ``enter_delay`` (from
    paste to Enter), ``enter_schedule`` (waits before each further Enter), ``uptake`` (from a prompt that left to the
    first sign of work on it, at most). ``paste_limit`` is in bytes.
    ``spare`` names commands of shared daemons: one in a session of its own outlives ours.
    Under a ``resting_title`` what looks like work on the screen is a quotation or old: the title would say so first.
    ``leading`` and ``trailing`` say what a first or last character does to a prompt: ``refuse`` (it would not be
    sent as text) or ``space`` (put a blank before or behind it); ``words`` are whole prompts that end the agent.
    ``when`` prompts are typed where nobody says: ``now``, ``idle`` or ``ask``; '' leaves it to others.
    """

    name: str
    title: str
    argv: tuple[str, ...]
    probe: tuple[str, ...] = ()
    probe_match: re.Pattern[str] | None = None
    verified_version: str = ""
    untested: bool = False
    resume: tuple[str, ...] = ()
    new_id: tuple[str, ...] = ()
    history: str = ""
    history_query: str = ""
    flags: Flags = field(default_factory=Flags)
    env_set: Mapping[str, str] = field(default_factory=dict)
    env_unset: tuple[str, ...] = ()
    env_spool: tuple[str, ...] = ()
    interrupt: tuple[tuple[str, ...], ...] = ()
    quit: str = ""
    grace: float = 3.0
    spare: tuple[str, ...] = ()
    enter_delay: float = 0.2
    enter_schedule: tuple[float, ...] = (0.5, 1.0, 2.0)
    uptake: float = 0.7
    paste_limit: int = 1_048_576
    queues_itself: bool = False
    when: str = ""
    takes_prompt_argv: bool = False
    reference: str = ""
    leading: Mapping[str, str] = field(default_factory=dict)
    trailing: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    own_title: re.Pattern[str] | None = None
    resting_title: re.Pattern[str] | None = None
    ready: ReadyRule = field(default_factory=ReadyRule)
    composer: ComposerRule | None = None
    blocked: tuple[Rule, ...] = ()
    working: tuple[Rule, ...] = ()
    starting: tuple[Rule, ...] = ()
    idle: tuple[Rule, ...] = ()
    background: tuple[Rule, ...] = ()
    dialogs: tuple[StartDialog, ...] = ()
    session_file: SessionFile | None = None
    rehearsal: Rehearsal | None = None

    @property
    def has_composer(self) -> bool:
        """Whether a draft can be seen at all. Without it a send ends at ``pasted``."""
        return self.composer is not None
