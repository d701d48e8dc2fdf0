"""The model of rehearsals: every dialect is heard byte for byte and answered as ordered."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from covey.mockmodel import MockModel
from waiting import eventually_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TEXT = "two lines\nof äöü 你好 👩‍👧"
TOOL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def anthropic(text: str) -> tuple[str, dict[str, Any]]:
    tools = [{"name": "Bash", "input_schema": TOOL}]
    return "/v1/messages", {"stream": True, "tools": tools, "messages": [{"role": "user", "content": text}]}


def responses(text: str) -> tuple[str, dict[str, Any]]:
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    tools = [{"type": "function", "name": "shell", "parameters": TOOL}]
    return "/v1/responses", {"stream": True, "tools": tools, "input": [said]}


def chat(text: str) -> tuple[str, dict[str, Any]]:
    tools = [{"type": "function", "function": {"name": "bash", "parameters": TOOL}}]
    messages = [{"role": "system", "content": "be short"}, {"role": "user", "content": text}]
    return "/v1/chat/completions", {"stream": True, "tools": tools, "messages": messages}


def gemini(text: str) -> tuple[str, dict[str, Any]]:
    tools = [{"functionDeclarations": [{"name": "run_shell_command", "parameters": TOOL}]}]
    said = [{"role": "user", "parts": [{"text": text}]}]
    return "/v1beta/models/m:streamGenerateContent?alt=sse", {"tools": tools, "contents": said}


DIALECTS = [anthropic, responses, chat, gemini]


@pytest.fixture
async def model() -> AsyncIterator[MockModel]:
    here = MockModel()
    here.url = await here.start()  # type: ignore[attr-defined]
    yield here
    await here.close()


async def ask(model: MockModel, path: str, body: dict[str, Any]) -> tuple[str, bytes]:
    """The status line and the body of one answer, which ends when the model hangs up."""
    where = urlsplit(model.url)  # type: ignore[attr-defined]
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    data = json.dumps(body).encode()
    writer.write(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
    try:
        answer = await reader.read()
    finally:
        writer.close()
    head, _, rest = answer.partition(b"\r\n\r\n")
    return head.decode().split("\r\n", maxsplit=1)[0], rest


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_prompt_is_heard_as_it_was_written(model: MockModel, dialect: Any) -> None:
    status, answer = await ask(model, *dialect(TEXT))
    assert "200" in status
    assert f"Heard {len(TEXT.encode())} bytes." in answer.decode()
    (request,) = model.requests
    assert request.said == [TEXT]
    assert request.ended >= request.at > 0
    assert not request.cut


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_order_calls_the_shell_that_is_offered(model: MockModel, dialect: Any) -> None:
    _, answer = await ask(model, *dialect("please\nmock:run touch it"))
    assert "touch it" in answer.decode()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_failure_has_its_status(model: MockModel, dialect: Any) -> None:
    status, answer = await ask(model, *dialect("mock:fail 429"))
    assert "429" in status
    assert json.loads(answer)["error"]["type"] == "rate_limit_error"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_can_be_none(model: MockModel, dialect: Any) -> None:
    status, answer = await ask(model, *dialect("mock:garble"))
    assert "200" in status
    assert answer == b"<html>{"


async def test_the_outcome_of_a_tool_is_no_order(model: MockModel) -> None:
    path, body = anthropic("mock:run touch it")
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "touch it"}}
    done = {"type": "tool_result", "tool_use_id": "t", "content": "mock:fail 500"}
    body["messages"] += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [done]}]
    status, answer = await ask(model, path, body)
    assert "200" in status
    assert "The tool answered." in answer.decode()
    assert model.requests[0].before == 2


async def test_an_errand_without_tools_takes_no_orders(model: MockModel) -> None:
    path, body = chat("mock:fail 500")
    del body["tools"]
    status, _ = await ask(model, path, body)
    assert "200" in status
    assert (len(model.requests), len(model.errands)) == (0, 1)


async def test_a_hang_up_is_noticed_while_nothing_is_said(model: MockModel) -> None:
    path, body = anthropic("mock:hang 60")
    asking = asyncio.create_task(ask(model, path, body))
    await eventually_async(lambda: bool(model.requests))
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await eventually_async(lambda: model.requests[0].cut)
