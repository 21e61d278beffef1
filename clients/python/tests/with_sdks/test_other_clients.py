"""Gemini and Ollama, and clients that do not use httpx: every call is one step, exact, and unchanged."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any, Callable

import aiohttp
import httpx
import ollama
import openai
import pytest
import requests
from google import genai

import playhead

from ..playing import fresh as fresh
from ..support import MODEL
from .test_capture import answer_of, only_call, told

TEXT = "Grüße, 4 Wörter – ja."
USAGE = {"input": 412, "output": 48}
REPLY: dict[str, Any] = {"text": TEXT, "usage": USAGE}
CHAT = f"{MODEL}/v1/chat/completions"


def chat(stream: bool, **reply: Any) -> dict[str, Any]:
    body = {"model": "gpt-4o", "messages": told(**(reply or REPLY)), "stream": stream}
    return {**body, "stream_options": {"include_usage": True}} if stream else body


def text_of_events(lines: Any) -> str:
    events = [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]
    return "".join(one["choices"][0]["delta"].get("content") or "" for one in events if one["choices"])


def ask_requests(stream: bool) -> str:
    response = requests.post(CHAT, json=chat(stream), stream=stream, timeout=10)
    if stream:
        return text_of_events(response.iter_lines())
    return response.json()["choices"][0]["message"]["content"]


def ask_requests_session(stream: bool) -> str:
    with requests.Session() as session, session.post(CHAT, json=chat(stream), stream=True) as response:
        return _read(response.content, stream)


def _read(content: bytes, stream: bool) -> str:
    if stream:
        return text_of_events(content.splitlines())
    return json.loads(content)["choices"][0]["message"]["content"]


def ask_urllib(stream: bool) -> str:
    request = urllib.request.Request(
        CHAT, json.dumps(chat(stream)).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return text_of_events(iter(response)) if stream else _read(response.read(), stream)


def ask_aiohttp(stream: bool) -> str:
    async def ask() -> str:
        async with aiohttp.ClientSession() as session, session.post(CHAT, json=chat(stream)) as response:
            if stream:
                return text_of_events([line async for line in response.content])
            return (await response.json())["choices"][0]["message"]["content"]

    return asyncio.run(ask())


def ask_aiohttp_in_pieces(stream: bool) -> str:
    async def ask() -> str:
        async with aiohttp.ClientSession(MODEL) as session:
            response = await session.post("/v1/chat/completions", data=json.dumps(chat(stream)))
            pieces = [piece async for piece in response.content.iter_chunked(11)]
            return _read(b"".join(pieces), stream)

    return asyncio.run(ask())


def gemini() -> Any:
    return genai.Client(api_key="no-key", http_options={"base_url": MODEL})


def ask_gemini(stream: bool) -> str:
    asked: dict[str, Any] = {"model": "gemini-2.5-flash", "contents": told(**REPLY)[0]["content"]}
    client = gemini()
    if stream:
        return "".join(chunk.text or "" for chunk in client.models.generate_content_stream(**asked))
    return client.models.generate_content(**asked).text


def ask_gemini_async(stream: bool) -> str:
    async def ask() -> str:
        asked: dict[str, Any] = {"model": "gemini-2.5-flash", "contents": told(**REPLY)[0]["content"]}
        client = gemini()
        models = client.aio.models
        if stream:
            chunks = await models.generate_content_stream(**asked)
            return "".join([chunk.text or "" async for chunk in chunks])
        return (await models.generate_content(**asked)).text

    return asyncio.run(ask())


def ask_ollama(stream: bool) -> str:
    answer = ollama.Client(host=MODEL).chat(model="llama3.2", messages=told(**REPLY), stream=stream)
    return "".join(chunk.message.content for chunk in answer) if stream else answer.message.content


WAYS: list[Callable[[bool], str]] = [
    ask_requests,
    ask_requests_session,
    ask_urllib,
    ask_aiohttp,
    ask_aiohttp_in_pieces,
    ask_gemini,
    ask_gemini_async,
    ask_ollama,
]
PROVIDERS = {"gpt-4o": "openai", "gemini-2.5-flash": "gcp.gemini", "llama3.2": "ollama"}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("ask", WAYS)
def test_each_call_is_one_step_with_what_was_asked_and_answered(
    ask: Callable[[bool], str], stream: bool
) -> None:
    with playhead.session("call") as session:
        assert ask(stream) == TEXT
    call = only_call(session)
    assert [part["text"] for message in answer_of(call) for part in message["parts"]] == [TEXT]
    asked = [message for message in call.messages if "isOutput" not in message]
    assert asked[0]["parts"][0]["text"] == told(**REPLY)[0]["content"]
    assert (call.status, call.provider) == ("ok", PROVIDERS[call.model])
    assert {name: call.usage[name] for name in USAGE} == USAGE
    assert len(session.steps) == 2
    if stream:
        assert "".join(text for _, text in call.chunks) == TEXT
        assert call.first_token_ms is not None


def test_errors_are_those_of_the_provider() -> None:
    body = chat(False, error={"status": 429, "message": "Slow down."}, status=429)
    with playhead.session("errors") as session:
        assert requests.post(f"{MODEL}/v1/nowhere/completions", json=body, timeout=10).status_code >= 400
        request = urllib.request.Request(f"{MODEL}/v1/nowhere/completions", json.dumps(body).encode())
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(request, timeout=10)
        raised.value.read()
        with pytest.raises(requests.ConnectionError):
            requests.post("http://127.0.0.1:9/v1/chat/completions", json=chat(False), timeout=10)
    statuses = [call.status for call in session.llm_calls]
    assert statuses == ["error"] * 3
    assert session.llm_calls[2].error.type in ("NewConnectionError", "ConnectionError", "ConnectTimeoutError")


def test_other_requests_are_no_steps() -> None:
    with playhead.session("others") as session:
        requests.get(MODEL, timeout=10)
        requests.post(f"{MODEL}/v1/other", data=b"\xff\xfe", timeout=10)
        requests.post(CHAT, data={"form": "data"}, timeout=10)
    assert session.llm_calls == []


def test_a_stream_that_is_left_early_is_no_failure() -> None:
    with playhead.session("left") as session:
        with requests.post(CHAT, json=chat(True), stream=True, timeout=10) as response:
            next(response.iter_content(10))
        with urllib.request.urlopen(
            urllib.request.Request(CHAT, json.dumps(chat(True)).encode()), timeout=10
        ) as opened:
            opened.read(10)
    assert [call.status for call in session.llm_calls] == ["ok", "ok"]


def test_a_client_that_is_wrapped_or_uses_another_one_is_seen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    send = httpx.Client.send

    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        return send(self, *args, **kwargs)

    class RequestsTransport(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            headers = {"content-type": "application/json"}
            answer = requests.post(str(request.url), data=request.read(), headers=headers, timeout=10)
            return httpx.Response(answer.status_code, content=answer.content)

    monkeypatch.setattr(httpx.Client, "send", wrapped)
    # Another `init` finds a function that is not its own.
    from playhead.capture.httpx_hook import watch_httpx

    watch_httpx(httpx)
    with playhead.session("wrapped") as session:
        client = httpx.Client(transport=RequestsTransport())
        messages: Any = told(**REPLY)
        openai.OpenAI(base_url=f"{MODEL}/v1", api_key="x", http_client=client).chat.completions.create(
            model="gpt-4o", messages=messages
        )
        httpx.post(CHAT, json=chat(False), timeout=10)
    assert len(session.llm_calls) == 2
