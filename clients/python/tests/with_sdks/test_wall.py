"""A strict cassette lets nothing out: no connection, no process. Recorded steps still reach the server."""

from __future__ import annotations

import asyncio
import http.client
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import grpc
import grpc.aio
import pycurl
import pytest

import playhead

from ..playing import fresh as fresh
from ..playing import playing
from ..support import ENDPOINT, fetch_session, wait_for


def connect_http() -> None:
    http.client.HTTPConnection("127.0.0.1", 9, timeout=1).request("GET", "/")


def connect_socket() -> None:
    socket.create_connection(("127.0.0.1", 9), timeout=1)


def connect_raw() -> None:
    import _socket

    _socket.socket().connect(("127.0.0.1", 9))


def connect_asyncio() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", 9), 5))


def look_up() -> None:
    socket.getaddrinfo("api.example.com", 443)


def send_datagram() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", ("127.0.0.1", 9))


def call_grpc() -> None:
    with grpc.insecure_channel("127.0.0.1:9") as channel:
        channel.unary_unary("/shop.Orders/Get")(b"", timeout=1)


def stream_grpc() -> None:
    with grpc.insecure_channel("127.0.0.1:9") as channel:
        list(channel.stream_stream("/shop.Orders/Watch")(iter([b""]), timeout=1))


def await_grpc() -> None:
    async def call() -> None:
        async with grpc.aio.insecure_channel("127.0.0.1:9") as channel:
            await channel.unary_unary("/shop.Orders/Get")(b"", timeout=1)

    asyncio.run(call())


def perform_curl() -> None:
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, "http://127.0.0.1:9/orders")
    curl.perform()


def perform_curls() -> None:
    curl, curls = pycurl.Curl(), pycurl.CurlMulti()
    curl.setopt(pycurl.URL, "http://127.0.0.1:9/orders")
    curls.add_handle(curl)
    curls.perform()


@pytest.mark.parametrize(
    ("reach", "who", "where"),
    [
        (connect_http, "http.client", "127.0.0.1:9"),
        (connect_socket, "The test", "127.0.0.1:9"),
        (connect_raw, "The test", "127.0.0.1:9"),
        (connect_asyncio, "The test", "127.0.0.1:9"),
        (look_up, "The test", "api.example.com:443"),
        (send_datagram, "The test", "127.0.0.1:9"),
        (call_grpc, "grpc", "127.0.0.1:9"),
        (stream_grpc, "grpc", "127.0.0.1:9"),
        (await_grpc, "grpc", "/shop.Orders/Get"),
        (perform_curl, "pycurl", "http://127.0.0.1:9/orders"),
        (perform_curls, "pycurl", "http://127.0.0.1:9/orders"),
    ],
)
def test_a_strict_cassette_lets_nothing_through(
    reach: Callable[[], None], who: str, where: str, tmp_path: Path
) -> None:
    with playing(tmp_path / "cassette.jsonl") as tape, pytest.raises(OSError, match="not on the cassette"):
        reach()
    assert [miss.sentence for miss in tape.misses] == [
        f"{who} opened a connection to {where}, which is not on the cassette. Only requests of httpx, "
        "requests, urllib3, aiohttp and urllib are answered from it. Record what makes the connection with "
        "@playhead.record_tool."
    ]


@pytest.mark.parametrize(
    "start",
    [
        lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        lambda: subprocess.run(f"{sys.executable} -c ''", shell=True, check=True),
        lambda: asyncio.run(asyncio.create_subprocess_exec(sys.executable, "-c", "")),
        lambda: os.system("true"),
    ],
)
def test_a_strict_cassette_starts_no_process(start: Callable[[], Any], tmp_path: Path) -> None:
    refused = pytest.raises(PermissionError, match="The test started a process")
    with playing(tmp_path / "cassette.jsonl") as tape, refused:
        start()
    assert "allow_spawn" in tape.misses[0].sentence


def test_an_allowed_process_and_questions_about_the_machine(tmp_path: Path) -> None:
    with playing(tmp_path / "cassette.jsonl", allow_spawn=["true"]) as tape:
        subprocess.run(["true"], check=True)
        platform.processor()
        asyncio.run(asyncio.sleep(0))
    assert tape.misses == []


def test_without_a_wall_grpc_and_pycurl_work_as_ever(tmp_path: Path) -> None:
    with playing(tmp_path / "cassette.jsonl"):
        pass
    with pytest.raises(grpc.RpcError):
        call_grpc()
    with pytest.raises(pycurl.error, match=r"127\.0\.0\.1"):
        perform_curl()
    perform_curls()


def test_steps_are_delivered_while_the_wall_is_up(tmp_path: Path) -> None:
    playhead.init(endpoint=ENDPOINT)
    # False once if other tests lost steps on purpose.
    playhead.flush()
    with playing(tmp_path / "cassette.jsonl") as tape:
        with playhead.session(name="behind the wall", input={"text": "Hi"}) as session:
            pass
        # A busy machine may not answer in time.
        assert wait_for(playhead.flush, 60)
    assert tape.misses == []
    (step,) = fetch_session(session.id)["steps"]
    assert step["attributes"]["playhead.session.input"] == '{"text":"Hi"}'
