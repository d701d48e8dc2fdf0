"""The four dialects in which agents talk to models, as far as a rehearsal needs them.

Anthropic's messages, OpenAI's responses and chat completions, Gemini's generateContent. Shapes are those of the public
API references.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from covey.mockmodel.wire import Dialect, Json, Piece, Step, Turn, steps, texts

USAGE = {"input_tokens": 10, "output_tokens": 5}


def _spoken(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces if piece.kind == "text")


def _new(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:12]


class Anthropic(Dialect):
    suffix = "/messages"

    def whole(self, pieces: list[Piece]) -> Json:
        content = [{"type": "text", "text": _spoken(pieces)}]
        return {**self._message(), "content": content, "stop_reason": "end_turn"}

    @staticmethod
    def _message() -> Json:
        return {
            "id": _new("msg_"),
            "type": "message",
            "role": "assistant",
            "model": "mock-model",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": USAGE,
        }

    async def stream(self, pieces: AsyncIterator[Piece]) -> AsyncIterator[tuple[str, Json | str]]:
        yield "message_start", {"type": "message_start", "message": self._message()}
        reason = "end_turn"
        async for step in steps(pieces):
            name, data = self._step(step)
            reason = "tool_use" if step.kind == "call" else reason
            yield name, {"type": name, "index": step.index, **data}
        yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": USAGE}
        yield "message_stop", {"type": "message_stop"}

    @staticmethod
    def _step(step: Step) -> tuple[str, Json]:
        opened: Json = {
            "text": {"type": "text", "text": ""},
            "thought": {"type": "thinking", "thinking": "", "signature": ""},
            "call": {"type": "tool_use", "id": _new("toolu_"), "name": step.name, "input": {}},
        }
        more: Json = {
            "text": {"type": "text_delta", "text": step.text},
            "thought": {"type": "thinking_delta", "thinking": step.text},
            "call": {"type": "input_json_delta", "partial_json": step.text},
        }
        if step.act == "open":
            return "content_block_start", {"content_block": opened[step.kind]}
        if step.act == "more":
            return "content_block_delta", {"delta": more[step.kind]}
        return "content_block_stop", {}


class Responses(Dialect):
    suffix = "/responses"

    def turns(self, body: Json) -> Iterator[Turn]:
        given = body.get("input", ())
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
            kind = item.get("type", "message")
            if kind == "message":
                yield str(item.get("role")), list(texts(item.get("content")))
            elif kind.endswith("_output"):
                yield "user", [("tool", json.dumps(item.get("output"), ensure_ascii=False))]
            else:
                yield "assistant", [(kind, "")]

    def whole(self, pieces: list[Piece]) -> Json:
        item = self._item(Step("close", "text", 0, _spoken(pieces)), _new("msg_"))
        return self._response("completed", [item])

    @staticmethod
    def _response(status: str, output: list[Json]) -> Json:
        facts = {"id": _new("resp_"), "object": "response", "created_at": int(time.time()), "model": "mock-model"}
        details: Json = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        return {**facts, "status": status, "output": output, "usage": {**USAGE, **details, "total_tokens": 15}}

    @staticmethod
    def _item(step: Step, name: str) -> Json:
        done = step.act == "close"
        facts: Json
        if step.kind == "call":
            facts = {"type": "function_call", "name": step.name, "call_id": f"call{name}", "arguments": step.text}
        elif step.kind == "thought":
            facts = {"type": "reasoning", "summary": [{"type": "summary_text", "text": step.text}] if done else []}
        else:
            content = [{"type": "output_text", "text": step.text, "annotations": []}] if done else []
            facts = {"type": "message", "role": "assistant", "content": content}
        return {"id": name, "status": "completed" if done else "in_progress", **facts}

    async def stream(self, pieces: AsyncIterator[Piece]) -> AsyncIterator[tuple[str, Json | str]]:
        output: list[Json] = []
        item = ""
        yield _typed("response.created", response=self._response("in_progress", []))
        async for step in steps(pieces):
            item = _new("item_") if step.act == "open" else item
            if step.act == "close":
                output.append(self._item(step, item))
            for name, data in self._step(step, item):
                yield _typed(name, output_index=step.index, **data)
        yield _typed("response.completed", response=self._response("completed", output))

    def _step(self, step: Step, item: str) -> Iterator[tuple[str, Json]]:
        at: Json = {"item_id": item}
        word = {
            "text": "response.output_text",
            "thought": "response.reasoning_summary_text",
            "call": "response.function_call_arguments",
        }[step.kind]
        inner: Json = {"content_index": 0} if step.kind == "text" else {"summary_index": 0}
        if step.act == "open":
            yield "response.output_item.added", {"item": self._item(step, item)}
            part: Json = {"part": {"type": "output_text", "text": "", "annotations": []}}
            if step.kind == "text":
                yield "response.content_part.added", {**at, **inner, **part}
            elif step.kind == "thought":
                part = {"part": {"type": "summary_text", "text": ""}}
                yield "response.reasoning_summary_part.added", {**at, **inner, **part}
        elif step.act == "more":
            yield f"{word}.delta", {**at, **inner, "delta": step.text}
        else:
            yield f"{word}.done", {**at, **inner, "arguments" if step.kind == "call" else "text": step.text}
            yield "response.output_item.done", {"item": self._item(step, item)}


def _typed(name: str, **data: Any) -> tuple[str, Json | str]:
    return name, {"type": name, **data}


class Chat(Dialect):
    suffix = "/chat/completions"

    def whole(self, pieces: list[Piece]) -> Json:
        message = {"role": "assistant", "content": _spoken(pieces)}
        return {
            **self._facts("chat.completion"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }

    @staticmethod
    def _facts(kind: str) -> Json:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        facts = {"id": "chatcmpl-mock", "object": kind, "created": int(time.time()), "model": "mock-model"}
        return {**facts, "usage": usage}

    async def stream(self, pieces: AsyncIterator[Piece]) -> AsyncIterator[tuple[str, Json | str]]:
        yield "", self._chunk({"role": "assistant", "content": ""})
        reason = "stop"
        async for piece in pieces:
            reason = "tool_calls" if piece.kind == "call" else reason
            yield "", self._chunk(self._delta(piece))
        yield "", self._chunk({}, reason)
        yield "", "[DONE]"

    def _chunk(self, delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**self._facts("chat.completion.chunk"), "choices": [choice]}

    @staticmethod
    def _delta(piece: Piece) -> Json:
        if piece.kind == "call":
            function = {"name": piece.name, "arguments": piece.text}
            return {"tool_calls": [{"index": 0, "id": _new("call_"), "type": "function", "function": function}]}
        return {"content" if piece.kind == "text" else "reasoning_content": piece.text}


class Gemini(Dialect):
    def speaks(self, path: str) -> bool:
        return path.split("?", maxsplit=1)[0].endswith((":generateContent", ":streamGenerateContent"))

    def streams(self, *, path: str, body: Json) -> bool:
        del body
        return ":streamGenerateContent" in path

    def turns(self, body: Json) -> Iterator[Turn]:
        for content in body.get("contents", ()):
            yield str(content.get("role", "user")), list(texts(content.get("parts")))

    def tools(self, body: Json) -> Json:
        declared = [each for tool in body.get("tools") or () for each in tool.get("functionDeclarations") or ()]
        return {each["name"]: each.get("parameters") or each.get("parametersJsonSchema") for each in declared}

    def whole(self, pieces: list[Piece]) -> Json:
        return self._chunk([{"text": _spoken(pieces)}], "STOP")

    @staticmethod
    def _chunk(parts: list[Json], reason: str | None = None) -> Json:
        candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return {"candidates": [candidate | ({"finishReason": reason} if reason else {})], "usageMetadata": usage}

    async def stream(self, pieces: AsyncIterator[Piece]) -> AsyncIterator[tuple[str, Json | str]]:
        async for piece in pieces:
            yield "", self._chunk([self._part(piece)])
        yield "", self._chunk([{"text": ""}], "STOP")

    @staticmethod
    def _part(piece: Piece) -> Json:
        if piece.kind == "call":
            return {"functionCall": {"name": piece.name, "args": json.loads(piece.text)}}
        return {"text": piece.text, **({"thought": True} if piece.kind == "thought" else {})}


DIALECTS: tuple[Dialect, ...] = (Anthropic(), Responses(), Chat(), Gemini())
