"""The adapter: carries calls from the editor to `covey.api` and answers back. Knows no verb.

Three threads' worth of rules meet here. pynvim's loop runs each handler in a greenlet and must never wait; the core
has its own asyncio loop in a daemon thread; and only `nvim.async_call` leads back from there. So a handler hands its
work over and returns, and every answer is a notification, errors included.

In the host that Neovim itself starts (after `:UpdateRemotePlugins`) the class below is found and never made: nothing
but rpc names are exported, so nothing is registered and nothing of the core is imported.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pynvim

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable
    from concurrent.futures import Future

HELLO, BYE = 0, -1  # the answers' ids that no call has
RESOLVE = "require('covey.rpc').resolve(...)"
EMIT = "require('covey.rpc').emit(...)"

Error = dict[str, str]


def find_core() -> None:
    """Make `covey` importable: as installed, else from the checkout this file lies in (also behind a symlink)."""
    if importlib.util.find_spec("covey") is None:
        sys.path.append(str(Path(__file__).resolve().parents[3] / "helper"))


def explain(error: BaseException, doing: str) -> Error:
    """Any failure as `{code, message, hint}`. A person's mistake is a sentence; a bug also leaves its traceback."""
    if hasattr(error, "to_json"):
        return dict(error.to_json())
    if isinstance(error, ModuleNotFoundError):
        message = f"the Python package {error.name} is missing from {sys.executable}"
        return {"code": "unavailable", "message": message, "hint": "run :Covey install"}
    traceback.print_exception(error)
    return {"code": "bug", "message": f"a bug in {doing}: {type(error).__name__}: {error}", "hint": ""}


class Core:
    """The front door of the helper, on a loop and a thread of its own."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._front: Any = None
        self._failure: Error | None = None
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()
        self._farewell: Future[None] | None = None
        self.greeted = False
        threading.Thread(target=self._run, name="covey-core", daemon=True).start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            find_core()
            from covey import api  # noqa: PLC0415  # late: the core is heavy, and a missing package must be an answer

            self._front = api.Front(self._editor.emit)
        except BaseException as error:  # noqa: BLE001  # whatever it is, the editor waits for an answer
            self._failure = explain(error, "start")
        self._loop.run_forever()

    def submit(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        """Run on the core's loop; from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def hello(self, params: dict[str, Any]) -> None:
        """Greet the core and answer with what it says of itself. Calls wait until this is done."""
        said = {"python": sys.executable, "pynvim": pynvim.__version__}
        if self._failure is None:
            try:
                said |= await self._front.hello(params)
            except Exception as error:  # noqa: BLE001
                self._failure = explain(error, "hello")
        self._open.set()
        self._editor.resolve(HELLO, self._failure, said)

    async def call(self, number: int, method: str, params: dict[str, Any]) -> None:
        """Answer one call, always."""
        await self._open.wait()
        if self._failure:
            self._editor.resolve(number, self._failure, None)
            return
        try:
            self._editor.resolve(number, None, await self._front.call(method, params))
        except Exception as error:  # noqa: BLE001
            self._editor.resolve(number, explain(error, method), None)

    async def _leave(self, params: dict[str, Any]) -> None:
        await self._open.wait()
        if self._failure is None:
            await self._front.bye(params)
            await self._front.close()

    def bye(self, params: dict[str, Any]) -> None:
        """Begin the sweep of an editor that leaves; the second time it is already under way."""
        if self._farewell is None:
            self._farewell = self.submit(self._leave(params))

    @property
    def leaving(self) -> bool:
        """Whether the editor said that it leaves."""
        return self._farewell is not None

    def wait(self, seconds: float) -> bool:
        """Whether the sweep ended by itself, and well, in time."""
        assert self._farewell is not None
        try:
            self._farewell.result(seconds)
        except Exception as error:  # noqa: BLE001
            traceback.print_exception(error)
            return False
        return True


class Editor:
    """The way back to the editor, from any thread. Says nothing once the editor has gone."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self.gone = False

    def emit(self, event: dict[str, Any]) -> None:
        """One event, as `covey.rpc` expects it."""
        self._post(self._tell, EMIT, event)

    def resolve(self, number: int, error: Error | None, result: Any) -> None:
        """The answer to one call."""
        self._post(self._answer, number, error, result)

    def _post(self, work: Any, *args: Any) -> None:
        if not self.gone:
            self._nvim.async_call(work, *args)

    def _tell(self, code: str, *args: Any) -> None:
        self._nvim.exec_lua(code, *args, async_=True)

    def _answer(self, number: int, error: Error | None, result: Any) -> None:
        try:
            self._tell(RESOLVE, number, error, result)
        except Exception as failure:  # noqa: BLE001  # what cannot be packed must not leave a call without answer
            self._tell(RESOLVE, number, explain(failure, "the answer"), None)


@pynvim.plugin
class Covey:
    """What the editor can say. Every name is a notification; no handler waits."""

    serving: Covey | None = None

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self.editor = Editor(nvim)
        self.core = Core(self.editor)
        Covey.serving = self

    @classmethod
    def without_editor(cls, said: Iterable[tuple[str, list[Any]]]) -> None:
        """Take what an editor said before it left; it hears nothing of it."""
        nobody: Any = None
        plugin = cls(nobody)
        plugin.editor.gone = True
        heard: dict[str, Any] = {"covey.hello": plugin.hello, "covey.call": plugin.call, "covey.bye": plugin.bye}
        for name, given in said:
            if name in heard:
                heard[name](*given)

    @pynvim.rpc_export("covey.hello")
    def hello(self, params: dict[str, Any]) -> None:
        """Once, first; may have been sent before this process was up."""
        self.core.greeted = True
        self.core.submit(self.core.hello(params))

    @pynvim.rpc_export("covey.call")
    def call(self, number: int, method: str, params: dict[str, Any]) -> None:
        """One call; `number` was minted by the editor and comes back with the answer."""
        self.core.submit(self.core.call(number, method, params))

    @pynvim.rpc_export("covey.bye")
    def bye(self, params: dict[str, Any]) -> None:
        """The editor leaves: say so at once that it may go, then sweep."""
        self.editor.resolve(BYE, None, "accepted")
        self.core.bye(params)


def finish(seconds: float, *, hung_up: bool) -> bool:
    """See the sweep through, for `seconds` at most; False if it failed or took longer.

    An editor that hung up has gone, with or without a word. Where only this process was told to end, and no sweep is
    under way, the editor lives: nothing is swept.
    """
    serving = Covey.serving
    if serving is None or not serving.core.greeted or not (hung_up or serving.core.leaving):
        return True
    serving.editor.gone = True
    serving.core.bye({"deadline_ms": int(seconds * 1000)})
    return serving.core.wait(seconds)
