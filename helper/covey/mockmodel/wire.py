"""What all dialects have in common: how the newest words are found in a request, and an answer cut into steps."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["text", "thought", "call"]
Turn: TypeAlias = tuple[str, list[tuple[str, str]]]  # role, and (kind, text) of each block


@dataclass(frozen=True, slots=True)
class Piece:
    """A bit of an answer; a call bears the tool's ``name`` and its arguments as JSON in ``text``."""

    kind: Kind
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A piece in its block: blocks are numbered, opened, and closed with their ``whole`` text."""

    act: Literal["open", "more", "close"]
    kind: Kind
    index: int
    text: str
    name: str = ""


def event(part: tuple[str, Json | str]) -> bytes:
    """One server-sent event."""
    name, data = part
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


async def steps(pieces: AsyncIterator[Piece]) -> AsyncIterator[Step]:
    """Pieces of one kind in a row are a block; each call is a block of its own."""
    index, current, whole = -1, Piece("text", ""), ""
    async for piece in pieces:
        if index < 0 or piece.kind != current.kind or piece.kind == "call":
            if index >= 0:
                yield Step("close", current.kind, index, whole, current.name)
            index, current, whole = index + 1, piece, ""
            yield Step("open", piece.kind, index, "", piece.name)
        whole += piece.text
        yield Step("more", piece.kind, index, piece.text, piece.name)
    if index >= 0:
        yield Step("close", current.kind, index, whole, current.name)


def texts(content: Any) -> Iterator[tuple[str, str]]:
    """The blocks of a message: (``text`` or ``tool`` or another type, its text)."""
    if isinstance(content, str):
        yield "text", content
        return
    for block in content or ():
        kind = str(block.get("type", "text" if "text" in block else "other"))
        if kind in ("text", "input_text", "output_text"):
            yield "text", str(block.get("text", ""))
        elif kind == "tool_result" or "functionResponse" in block:
            yield "tool", json.dumps(block, ensure_ascii=False)
        else:
            yield kind, ""


class Dialect:
    """One way of speaking; what differs is in the four below."""

    suffix = ""

    def speaks(self, path: str) -> bool:
        return path.split("?", maxsplit=1)[0].endswith(self.suffix)

    def streams(self, *, path: str, body: Json) -> bool:
        del path
        return bool(body.get("stream"))

    def newest(self, body: Json) -> tuple[list[str], list[str], int]:
        """What the person said since the model's last word, what tools answered if that is newer, the turns before."""
        turns = list(self.turns(body))
        start = max((at + 1 for at, (role, _) in enumerate(turns) if role in ("assistant", "model")), default=0)
        blocks = [block for role, blocks in turns[start:] if role == "user" for block in blocks]
        said = [text for kind, text in blocks if kind == "text"]
        answered = bool(blocks) and blocks[-1][0] == "tool"
        return said, [text for kind, text in blocks if kind == "tool" and answered], start

    def turns(self, body: Json) -> Iterator[Turn]:
        for message in body.get("messages", ()):
            blocks = list(texts(message.get("content")))
            if message["role"] == "tool":
                yield "user", [("tool", json.dumps(message.get("content"), ensure_ascii=False))]
            else:
                yield str(message["role"]), blocks

    def tools(self, body: Json) -> Json:
        found = {}
        for tool in _flat(body.get("tools") or ()):
            facts = tool["function"] if isinstance(tool.get("function"), dict) else tool
            found[str(facts.get("name") or facts.get("type"))] = facts.get("input_schema") or facts.get("parameters")
        return found

    def error(self, status: int) -> Json:
        kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
        kind = kinds.get(status, "api_error")
        return {"type": kind, "message": f"mock error {status}", "code": status, "status": kind}

    def whole(self, pieces: list[Piece]) -> Json:
        raise NotImplementedError

    def stream(self, pieces: AsyncIterator[Piece]) -> AsyncIterator[tuple[str, Json | str]]:
        raise NotImplementedError


def _flat(tools: Iterable[Json]) -> Iterator[Json]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _flat(tool.get("tools", ()))
        else:
            yield tool
