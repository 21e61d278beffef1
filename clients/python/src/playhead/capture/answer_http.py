"""Responses of the standard library's http.client from a cassette; urllib and urllib3 read those."""

from __future__ import annotations

import errno
import http.client
import io
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from ..tape.served import TapedError, TapedResponse

if TYPE_CHECKING:
    import socket

# The parts of a response that only its bytes can have.
_FRAMING = frozenset(["transfer-encoding", "content-length", "content-encoding", "connection"])


class _Memory:
    """As much of a socket as http.client reads a response from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(self._content))


def answer_http(taped: TapedResponse, method: str) -> http.client.HTTPResponse:
    memory = cast("socket.socket", _Memory(write_http(taped)))
    response = http.client.HTTPResponse(memory, method=method)
    response.begin()
    return response


def write_http(taped: TapedResponse) -> bytes:
    """The bytes of the response. Each event is a chunk; a stream that the client left has no last one."""
    try:
        reason = HTTPStatus(taped.status).phrase
    except ValueError:
        reason = "Unknown"
    head = [f"HTTP/1.1 {taped.status} {reason}", "transfer-encoding: chunked"]
    head += [f"{name}: {value}" for name, value in taped.headers.items() if name.lower() not in _FRAMING]
    content = "\r\n".join([*head, "", ""]).encode("latin-1", "replace")
    for text in taped.chunks:
        chunk = text.encode("utf-8", "backslashreplace")
        if chunk:
            content += b"%x\r\n%b\r\n" % (len(chunk), chunk)
    return content if taped.is_aborted else content + b"0\r\n\r\n"


def connection_error(taped: TapedError) -> OSError:
    """What the system says of a connection that could not be made."""
    number: Any = getattr(errno, taped.code, errno.ECONNREFUSED)
    message = taped.message or taped.code
    return TimeoutError(number, message) if taped.code == "ETIMEDOUT" else OSError(number, message)
