r"""A small model on the loopback for rehearsals: it speaks the dialects agents speak and does what the prompt says.

An order stands in the newest words of the person: ``mock:slow 5`` (a word every quarter of a second), ``mock:hang 5``
(nothing, then an answer), ``mock:think 5``, ``mock:run COMMAND`` (a call of the agent's shell), ``mock:call NAME
JSON``, ``mock:say TEXT`` (``\n`` is a line end), ``mock:fail 500`` (an HTTP error), ``mock:drop`` (cut in the middle),
``mock:garble`` (an answer that is none).
Everything else is answered at once. What was heard is kept byte for byte, with the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from covey.mockmodel.dialects import DIALECTS
from covey.mockmodel.wire import Dialect, Piece, event

BEAT = 0.25  # seconds between two words of a slow answer
MAX_BODY = 1 << 26  # bytes
SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command")
_ORDER = re.compile(r"\bmock:(\w+)[ \t]*([^\n<]*)")


@dataclass(slots=True)
class Request:
    """One call of the model. ``said`` is what the person said since the last answer, a text for each block of it.

    ``tools`` maps each offered tool to its schema; ``results`` are the outcomes of tools the agent ran, if they are
    newer; ``before`` counts the turns before that.
    Times are seconds since 1970; ``ended`` 0.0: not yet; ``cut``: the agent hung up before the end.
    """

    at: float
    path: str
    said: list[str] = field(default_factory=list)
    before: int = 0
    results: list[str] = field(default_factory=list)
    tools: dict[str, Any] = field(default_factory=dict)
    order: tuple[str, str] = ("", "")
    ended: float = 0.0
    cut: bool = False


class MockModel:
    """``url = await model.start()``, then ``model.requests``, then ``await model.close()``.

    ``bare``: the agent offers no tools at all; otherwise a request without tools is an errand of the agent's own
    (a title, a summary), whose words are no orders, and is kept in ``errands``.
    """

    def __init__(self, *, bare: bool = False) -> None:
        self.requests: list[Request] = []
        self.errands: list[Request] = []
        self._bare = bare
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        """Listen; answers the address to give to agents."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_BODY)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening and hang up."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def heard(self, words: str) -> list[Request]:
        """The requests in whose newest words these stand, and that answer no tool."""
        return [each for each in self.requests if not each.results and any(words in said for said in each.said)]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._answer(reader, writer)
        except (OSError, EOFError, ValueError, asyncio.CancelledError):
            pass  # an agent that hangs up, or speaks no HTTP, is answered by hanging up
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path, body = await _read(reader)
        dialect = next((each for each in DIALECTS if each.speaks(path)), None)
        if dialect is None:
            await _send(writer, 200, _aside(path))
            return
        request = self._take(path, dialect, json.loads(body))
        await self._reply(reader, writer, request, dialect, json.loads(body))

    def _take(self, path: str, dialect: Dialect, body: dict[str, Any]) -> Request:
        said, results, before = dialect.newest(body)
        request = Request(time.time(), path, said, before, results, dialect.tools(body))
        errand = not request.tools and not self._bare
        (self.errands if errand else self.requests).append(request)
        if not errand and not results:
            found = [match.groups() for text in said for match in _ORDER.finditer(text)]
            request.order = (found[-1][0], found[-1][1].strip()) if found else ("", "")
        return request

    async def _reply(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        request: Request,
        dialect: Dialect,
        body: dict[str, Any],
    ) -> None:
        try:
            if request.order[0] == "fail":
                status = int(request.order[1] or 500)
                await _send(writer, status, {"type": "error", "error": dialect.error(status)})
            elif request.order[0] == "garble":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n<html>{")
                await writer.drain()
            elif dialect.streams(path=request.path, body=body):
                await self._stream(reader, writer, request, dialect)
            else:
                await _send(writer, 200, dialect.whole([piece async for piece in _pieces(request)]))
        except (OSError, asyncio.CancelledError):
            request.cut = True
            raise
        finally:
            request.ended = time.time()

    async def _stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request, dialect: Dialect
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        await writer.drain()
        async for part in dialect.stream(_until_hung_up(reader, _pieces(request))):
            writer.write(event(part))
            await writer.drain()


async def _until_hung_up(reader: asyncio.StreamReader, pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    """The pieces as long as somebody listens; looks while nothing comes, too."""
    gone = asyncio.create_task(reader.read(1))
    step = asyncio.ensure_future(anext(pieces, None))
    try:
        while True:
            await asyncio.wait([gone, step], return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not step.done():
                raise ConnectionResetError
            piece = step.result()
            if piece is None:
                return
            yield piece
            step = asyncio.ensure_future(anext(pieces, None))
    finally:
        gone.cancel()
        step.cancel()


async def _pieces(request: Request) -> AsyncIterator[Piece]:
    """What the model says to this request, in time."""
    order, what = request.order
    if request.results:
        yield Piece("text", "The tool answered.")
    elif order in ("slow", "think"):
        async for piece in _words(order, float(what.split()[0])):
            yield piece
    elif order == "hang":
        await asyncio.sleep(float(what.split()[0]))
        yield Piece("text", "Here I am again.")
    elif order in ("run", "call"):
        yield Piece("text", "I will use a tool. ")
        yield _shell(request.tools, what) if order == "run" else _call(what)
    elif order == "say":
        yield Piece("text", what.replace("\\n", "\n"))
    elif order == "drop":
        yield Piece("text", "one two ")
        raise ConnectionResetError
    else:
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in request.said)
        yield Piece("text", '{"title": "Rehearsal"}' if not request.tools else f"Heard {size} bytes.")


async def _words(order: str, seconds: float) -> AsyncIterator[Piece]:
    kind: Any = "thought" if order == "think" else "text"
    for number in range(1, int(seconds / BEAT) + 1):
        yield Piece(kind, f"word{number}" + ("\n" if number % 12 == 0 else " "))
        await asyncio.sleep(BEAT)
    yield Piece("text", "That was all.")


def _call(what: str) -> Piece:
    name, _, arguments = what.partition(" ")
    return Piece("call", json.dumps(json.loads(arguments or "{}")), name)


def _shell(tools: dict[str, Any], command: str) -> Piece:
    """A call of whichever shell is offered, its required arguments filled in by their types."""
    name = next((each for each in SHELLS if each in tools), "")
    schema = tools.get(name) or {}
    fields = schema.get("properties") or {}
    arguments: dict[str, Any] = {
        field: _filling(str((fields.get(field) or {}).get("type", "")).lower())
        for field in schema.get("required") or ()
    }
    key = next((each for each in ("command", "cmd", "script") if each in fields), "command")
    listed = str((fields.get(key) or {}).get("type", "")).lower() == "array"
    arguments[key] = ["sh", "-c", command] if listed else command
    if "description" in fields:
        arguments["description"] = "a rehearsal"
    return Piece("call", json.dumps(arguments), name) if name else Piece("text", "No shell is offered.")


def _filling(kind: str) -> Any:
    return {"number": 10_000, "integer": 10_000, "boolean": False, "array": [], "object": {}}.get(kind, "rehearsal")


async def _read(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """The path of a request and its body, unpacked."""
    words = (await reader.readline()).decode("latin-1").split(" ")
    if len(words) < 3:  # noqa: PLR2004 - method, path, version
        raise EOFError
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode("latin-1").strip():
        key, _, value = line.partition(":")
        headers[key.lower()] = value.strip().lower()
    body = await _chunks(reader) if "chunked" in headers.get("transfer-encoding", "") else b""
    body = body or await reader.readexactly(int(headers.get("content-length", "0")))
    return words[1], gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)


def _aside(path: str) -> dict[str, Any]:
    """What is asked beside the talk itself: which models there are, how many tokens something has."""
    asides: tuple[tuple[Callable[[str], bool], dict[str, Any]], ...] = (
        (lambda at: "count_tokens" in at, {"input_tokens": 10}),
        (lambda at: "countTokens" in at, {"totalTokens": 10}),
        (lambda at: at.endswith("/models"), {"object": "list", "data": [{"id": "mock-model", "object": "model"}]}),
    )
    return next((answer for fits, answer in asides if fits(path.split("?", maxsplit=1)[0])), {})


async def _send(writer: asyncio.StreamWriter, status: int, answer: dict[str, Any]) -> None:
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 {status} Mock\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    writer.write(head.encode() + b"connection: close\r\n\r\n" + body)
    await writer.drain()
