"""The front door: hello, call, bye. Editor and command line come in by the same one, JSON-able in and out."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from covey import __version__, kinds, paths, process, shortage, story, sweeping, verbs
from covey.errors import CoveyError, Usage
from covey.helper import Helper
from covey.models import Identity, Json
from covey.store import acting

SWEEP_DEADLINE = 8.0  # seconds; the host's own watchdog ends it after 10
DONE_DEADLINE = 4.0  # seconds that an editor's leaving waits for what it asked for
LASTING = frozenset({"wait", "idle", "rehearse", "selftest"})  # nobody is there to hear the answer
HELLO = {"pid": int, "cwd": str, "config": Mapping[str, Any]}
CONFIG = {"tmux": str, "agents_dirs": list[str], "log_level": str, "preview_interval": float}
log = logging.getLogger("covey")


class Front:
    """One door for one caller. ``emit`` is given each event, on this loop; it must not wait."""

    def __init__(self, emit: Callable[[Json], None]) -> None:
        self._emit = emit
        self._helper: Helper | None = None
        self._asked: set[asyncio.Task[Any]] = set()  # calls that are seen through

    @property
    def helper(self) -> Helper:
        if self._helper is None:
            raise Usage("say hello first")
        return self._helper

    async def hello(self, params: Json) -> Json:
        """Start the helper for this caller. ``pid`` makes an editor the owner of what it opens."""
        kinds.check("hello", HELLO, params)
        config = params.get("config") or {}
        kinds.check("the configuration", CONFIG, config)
        owner = _owner(params["pid"]) if params.get("pid") else None
        with shortage.told():
            _open_log(config.get("log_level") or "warn")
            self._helper = Helper(self._emit, config, owner)
            await self._helper.start()
        if owner and any(view.owner not in (None, owner) for view in self._helper.fleet.views.values()):
            await sweeping.sweep(self._helper)
        verbs.tell_all(self._helper)
        for problem in (*self._helper.settings.problems, *self._helper.catalog.own_problems):
            self._helper.notice(problem)
        return {"version": __version__, "tmux": self._helper.place.wire.binary}

    async def call(self, method: str, params: Json | None = None) -> Any:
        """One method by name. Raises ``CoveyError`` for what a person can act on; anything else is a bug."""
        given = params or {}
        run = understood(method, given)
        with shortage.told(), self._noted(method), acting(self.helper.caller):
            before = await story.known(self.helper, method, given)
            answer = await run(self.helper, **given)
            await story.note(self.helper, method, before, answer)
        self.helper.tell_unwritten()
        return answer

    @contextlib.contextmanager
    def _noted(self, method: str) -> Iterator[None]:
        """What was asked for is seen through, also when the caller leaves."""
        task = asyncio.current_task()
        if method not in LASTING and task:
            self._asked.add(task)
        try:
            yield
        finally:
            self._asked.discard(task)

    async def bye(self, _params: Json) -> None:
        """The exit sweep of the editor that leaves: end what its policy says, release the rest.

        Before that, what it asked for is done. Bounded, so that what it started can still be closed: what is
        left undone, the next covey on this machine does.
        """
        if self._asked:
            await asyncio.wait(self._asked, timeout=DONE_DEADLINE)
        if self.helper.owner:
            try:
                async with asyncio.timeout(SWEEP_DEADLINE):
                    await sweeping.sweep(self.helper, leaving=self.helper.owner)
            except (TimeoutError, CoveyError) as error:
                log.warning("the sweep at exit was not finished: %s", error or "it took too long")

    async def close(self) -> None:
        """Leave. Sessions are untouched."""
        if self._helper is not None:
            await self._helper.close()


def _owner(pid: int) -> Identity:
    """The editor of that pid; one that has left before it was looked at is one that is gone."""
    return process.identify(pid) or Identity(pid, 0, process.here())


def understood(method: str, given: Json) -> verbs.Method:
    """The method of that name, once it is sure that it takes what is given. Raises ``Usage``."""
    run = verbs.METHODS.get(method)
    if run is None:
        raise Usage(f"there is no method {method!r}", f"methods: {', '.join(sorted(verbs.METHODS))}")
    signature = _signature(run)
    try:
        signature.bind(None, **given)
    except TypeError as error:
        raise Usage(f"{method}: {error}") from None
    kinds.check(method, {name: each.annotation for name, each in signature.parameters.items()}, given)
    return run


@cache
def _signature(run: verbs.Method) -> inspect.Signature:
    """What a method takes, its annotations as types."""
    return inspect.signature(run, eval_str=True)


def _open_log(level: str) -> None:
    """The log of this fleet, for us alone, if there can be one; ``level`` is an editor's word for it."""
    path = paths.log_path()
    known = {"debug": logging.DEBUG, "info": logging.INFO, "error": logging.ERROR}
    logging.raiseExceptions = False  # that nothing can be written into it is no reason to stop, nor to print
    try:
        paths.claim_file(path)
        logging.basicConfig(filename=path, format="%(asctime)s %(message)s")
    except OSError:
        logging.basicConfig(handlers=[logging.NullHandler()])
    log.setLevel(known.get(level, logging.WARNING))
