"""Cassettes answer every client that is captured: requests, urllib3, aiohttp, urllib, Gemini and Ollama."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable

import aiohttp
import ollama
import pytest
import requests
import urllib3

import playhead
from playhead.testing import fetch_session

from ..playing import fresh as fresh
from ..playing import playing
from ..support import MODEL
from .test_other_clients import CHAT, TEXT, WAYS, chat, gemini, text_of_events


class _OtherForms(BaseHTTPRequestHandler):
    """Ollama's generate, and Gemini for those who do not ask for events: its stream is a JSON list."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        half = len(TEXT) // 2
        if "contents" in body:
            usage = {"promptTokenCount": 412, "candidatesTokenCount": 48, "totalTokenCount": 460}
            pieces = [
                {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}]}
                for text in (TEXT[:half], TEXT[half:])
            ]
            pieces[1]["candidates"][0]["finishReason"] = "STOP"
            pieces[1]["usageMetadata"] = usage
            whole = {**pieces[1], "candidates": [{**pieces[1]["candidates"][0]}]}
            whole["candidates"][0]["content"] = {"role": "model", "parts": [{"text": TEXT}]}
            self._answer("application/json", json.dumps(pieces if ":stream" in self.path else whole))
            return
        end = {"done": True, "done_reason": "stop", "prompt_eval_count": 412, "eval_count": 48}
        head = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
        pieces = [{**head, "response": text, "done": False} for text in (TEXT[:half], TEXT[half:])]
        lines = [*pieces, {**head, "response": "", **end}]
        if body.get("stream") is False:
            self._answer("application/json", json.dumps({**head, "response": TEXT, **end}))
        else:
            self._answer("application/x-ndjson", "".join(f"{json.dumps(line)}\n" for line in lines))

    def _answer(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_args: Any) -> None: ...


_others = ThreadingHTTPServer(("127.0.0.1", 0), _OtherForms)
OTHERS = f"http://127.0.0.1:{_others.server_port}"


@pytest.fixture(scope="module", autouse=True)
def others() -> Any:
    threading.Thread(target=_others.serve_forever, daemon=True).start()
    yield
    _others.shutdown()
    _others.server_close()


def ask_ollama_generate(stream: bool) -> str:
    answer = ollama.Client(host=OTHERS).generate(model="llama3.2", prompt="Hi", stream=stream)
    return "".join(chunk.response for chunk in answer) if stream else answer.response


def ask_urllib3(stream: bool) -> str:
    response = urllib3.PoolManager(num_pools=1, maxsize=1, block=True).request(
        "POST", CHAT, json=chat(stream), preload_content=not stream
    )
    if stream:
        return text_of_events(b"".join(response.stream(7)).splitlines())
    return response.json()["choices"][0]["message"]["content"]


def ask_gemini_list(stream: bool) -> str:
    way = "streamGenerateContent" if stream else "generateContent"
    url = f"{OTHERS}/v1beta/models/gemini-2.5-flash:{way}"
    contents = [{"role": "user", "parts": [{"text": "Hi"}]}]
    answer = requests.post(url, json={"contents": contents}, timeout=10).json()
    parts = [one["candidates"][0]["content"]["parts"] for one in (answer if stream else [answer])]
    return "".join(part["text"] for several in parts for part in several)


ALL = [*WAYS, ask_urllib3, ask_gemini_list, ask_ollama_generate]


@pytest.mark.parametrize("ask", ALL)
def test_what_a_client_recorded_answers_it_whether_it_streams_or_not(
    ask: Callable[[bool], str], tmp_path: Path
) -> None:
    for recorded in (False, True):
        path = tmp_path / f"{recorded}.jsonl"
        with playing(path, "fill") as tape:
            assert ask(recorded) == TEXT
        assert [line["kind"] for line in tape.recorded] == ["model"]
        for stream in (recorded, not recorded):
            with playing(path) as tape, playhead.session("strict") as session:
                assert ask(stream) == TEXT
            assert (tape.misses, tape.unused) == ([], [])
            (call,) = session.llm_calls
            assert (call.status, call.attributes["playhead.step.source"]) == ("ok", "tape")
            assert call.usage["output"] == 48


@pytest.mark.parametrize("ask", ALL)
def test_what_a_cassette_lacks_is_named_and_never_asked(ask: Callable[[bool], str], tmp_path: Path) -> None:
    with playing(tmp_path / "empty.jsonl") as tape, pytest.raises(Exception):  # noqa: B017
        ask(False)
    assert tape.misses[0].sentence == "The tape has no model call."


def ask_in_vain_requests() -> int:
    return requests.post(CHAT, json=chat(False, error={"status": 429, "message": "Slow"})).status_code


def ask_in_vain_urllib() -> int:
    body = json.dumps(chat(False, error={"status": 429, "message": "Slow"})).encode()
    try:
        urllib.request.urlopen(urllib.request.Request(CHAT, body))
    except urllib.error.HTTPError as error:
        return error.code
    return 0


def ask_in_vain_aiohttp() -> int:
    async def ask() -> int:
        body = chat(False, error={"status": 429, "message": "Slow"})
        async with aiohttp.ClientSession() as session, session.post(CHAT, json=body) as response:
            await response.read()
            return response.status

    return asyncio.run(ask())


@pytest.mark.parametrize("ask", [ask_in_vain_requests, ask_in_vain_urllib, ask_in_vain_aiohttp])
def test_errors_of_the_provider_come_from_the_cassette(ask: Callable[[], int], tmp_path: Path) -> None:
    path = tmp_path / "errors.jsonl"
    with playing(path, "fill"):
        assert ask() == 429
    with playing(path) as tape:
        assert ask() == 429
    assert tape.misses == []


NOBODY = "http://127.0.0.1:9/v1/chat/completions"


def fail_requests() -> None:
    requests.post(NOBODY, json=chat(False), timeout=5)


def fail_urllib() -> None:
    urllib.request.urlopen(urllib.request.Request(NOBODY, json.dumps(chat(False)).encode()), timeout=5)


def fail_aiohttp() -> None:
    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            await session.post(NOBODY, json=chat(False))

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (fail_requests, requests.ConnectionError),
        (fail_urllib, urllib.error.URLError),
        (fail_aiohttp, aiohttp.ClientConnectorError),
    ],
)
def test_a_connection_that_failed_fails_again(ask: Callable[[], None], kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    with playing(path, "fill"), pytest.raises(kind):
        ask()
    with playing(path) as tape, pytest.raises(kind):
        ask()
    assert tape.misses == []


def leave_requests() -> bytes:
    with requests.post(CHAT, json=chat(True), stream=True, timeout=10) as response:
        return next(response.iter_lines())


def leave_aiohttp() -> bytes:
    async def ask() -> bytes:
        async with aiohttp.ClientSession() as session, session.post(CHAT, json=chat(True)) as response:
            return await response.content.readline()

    return asyncio.run(ask())


def leave_urllib() -> bytes:
    with urllib.request.urlopen(urllib.request.Request(CHAT, json.dumps(chat(True)).encode())) as response:
        return response.readline()


@pytest.mark.parametrize("leave", [leave_requests, leave_aiohttp, leave_urllib])
def test_a_stream_can_be_left_early(leave: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "left.jsonl"
    with playing(path, "fill"):
        first = leave()
    assert first.startswith(b"data: {")
    with playing(path) as tape:
        assert leave().split(b"id")[0] == first.split(b"id")[0]
    assert tape.misses == []


def get_requests() -> None:
    requests.get("http://shop.test/cart?key=secret", timeout=5).raise_for_status()


def get_through_a_proxy() -> None:
    proxies = {"https": "http://127.0.0.1:9"}
    requests.get("https://shop.test/cart", proxies=proxies, timeout=5).raise_for_status()


def get_urllib() -> None:
    urllib.request.urlopen("http://shop.test/cart", timeout=5)


def get_aiohttp() -> None:
    async def ask() -> None:
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            await session.get("http://shop.test/cart")

    asyncio.run(ask())


def open_web_socket() -> None:
    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            await session.ws_connect("wss://shop.test/live")

    asyncio.run(ask())


def list_gemini_files() -> None:
    gemini().files.list()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (get_requests, "made a request that no cassette can answer: GET http://shop.test/cart."),
        (get_through_a_proxy, "made a request that no cassette can answer: GET https://shop.test/cart."),
        (get_urllib, "made a request that no cassette can answer: GET http://shop.test/cart."),
        (get_aiohttp, "made a request that no cassette can answer: GET http://shop.test/cart."),
        (open_web_socket, "opened a WebSocket to wss://shop.test/live, and WebSockets are not recorded."),
        (list_gemini_files, f"made a request that no cassette can answer: GET {MODEL}/v1/files."),
    ],
)
def test_other_requests_are_refused_by_name(ask: Callable[[], None], sentence: str, tmp_path: Path) -> None:
    with playing(tmp_path / "cassette.jsonl") as tape, pytest.raises(Exception):  # noqa: B017
        ask()
    told_sentence = f"The test {sentence} Record the function that makes it with @playhead.record_tool."
    assert [miss.sentence for miss in tape.misses][:1] == [told_sentence]


def test_a_tool_may_ask_other_servers_while_it_is_recorded(tmp_path: Path) -> None:
    @playhead.record_tool
    def fetch() -> int:
        return requests.get(MODEL, timeout=10).status_code

    path = tmp_path / "tool.jsonl"
    with playing(path, "fill") as tape:
        status = fetch()
    assert tape.misses == []
    with playing(path) as tape:
        assert fetch() == status
    assert tape.misses == []


def test_the_server_of_playhead_can_be_asked(tmp_path: Path) -> None:
    with playing(tmp_path / "cassette.jsonl") as tape, pytest.raises(OSError, match="404"):
        fetch_session("ffffffffffffffffffffffffffffffff")
    assert tape.misses == []
