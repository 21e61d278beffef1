"""Gives aiohttp a connection that ends in this process, where a cassette answers.

aiohttp reads the response as it would from the network, so every version and every way to read it works.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import socket
from collections.abc import Iterator
from contextvars import ContextVar
from types import ModuleType
from typing import Any, Optional

from ..tape.served import TapedError, TapedResponse
from .answer_http import write_http
from .exchange import Taped

_answering: ContextVar[Optional[Taped]] = ContextVar("playhead_answering", default=None)


@contextlib.contextmanager
def answering(taped: Optional[Taped]) -> Iterator[None]:
    """Requests that are made inside get this answer."""
    outer = _answering.get()
    _answering.set(taped)
    try:
        yield
    finally:
        _answering.set(outer)


def watch_connectors(module: ModuleType) -> None:
    connector: Any = module.BaseConnector
    connect = connector.connect

    class TapedConnector(connector):  # type: ignore[misc]
        def __init__(self, taped: TapedResponse) -> None:
            super().__init__(force_close=True)
            self._taped = taped

        async def _create_connection(self, *_args: Any, **_kwargs: Any) -> Any:
            return await _open(module, self._taped)

    @functools.wraps(connect)
    async def watched_connect(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        taped = _answering.get()
        if taped is None:
            return await connect(self, req, *args, **kwargs)
        if isinstance(taped, TapedError):
            raise _failure(module, taped, req)
        return await connect(TapedConnector(taped), req, *args, **kwargs)

    connector.connect = watched_connect


async def _open(module: ModuleType, taped: TapedResponse) -> Any:
    loop = asyncio.get_running_loop()
    near, far = socket.socketpair()
    for end in (near, far):
        end.setblocking(False)
    await loop.connect_accepted_socket(lambda: _Answerer(taped), far)
    handler = module.client_proto.ResponseHandler
    _transport, protocol = await loop.create_connection(lambda: handler(loop), sock=near)
    return protocol


class _Answerer(asyncio.Protocol):
    def __init__(self, taped: TapedResponse) -> None:
        self._taped = taped

    def connection_made(self, transport: Any) -> None:
        # The tape has read the request already.
        transport.write(write_http(self._taped))
        if self._taped.is_aborted:
            transport.write_eof()


def _failure(module: ModuleType, taped: TapedError, request: Any) -> Exception:
    message = taped.message or taped.code
    if taped.code == "ETIMEDOUT":
        timeout: Exception = module.ServerTimeoutError(message)
        return timeout
    number = getattr(errno, taped.code, errno.ECONNREFUSED)
    failure: Exception = module.ClientConnectorError(request.connection_key, OSError(number, message))
    return failure
