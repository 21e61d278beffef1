"""Watches requests of aiohttp."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any, Callable, Optional
from urllib.parse import urlsplit

from ..runtime import active_runtime
from .answer_aiohttp import answering, watch_connectors
from .exchange import Exchange, begin_exchange, observe_response
from .wire import sending

_MARK = "_playhead_watches"


def watch_aiohttp(module: ModuleType) -> None:
    session: Any = module.ClientSession
    send = session._request
    if getattr(send, _MARK, False):
        return

    @functools.wraps(send)
    async def watched_request(self: Any, method: Any, url: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        exchange = _begin(self, method, url, kwargs)
        if exchange is None:
            return await send(self, method, url, **kwargs)
        try:
            with sending(), answering(exchange.taped):
                response = await send(self, method, url, **kwargs)
        except BaseException as error:
            exchange.failed(error)
            raise
        observe_response(_observe, response, exchange)
        return response

    setattr(watched_request, _MARK, True)
    session._request = watched_request
    watch_connectors(module)


def _begin(session: Any, method: Any, url: Any, options: dict[str, Any]) -> Optional[Exchange]:
    runtime = active_runtime()
    if runtime is None:
        return None
    with runtime.guard():
        build = getattr(session, "_build_url", None)
        address = str(url if build is None else build(url))
        body = options.get("data")
        if options.get("json") is not None:
            body = json.dumps(options["json"], default=str)
        return begin_exchange(str(method), urlsplit(address), body)
    return None


def _observe(response: Any, call: Exchange) -> None:
    call.response_began(response.status, {name.lower(): value for name, value in response.headers.items()})
    response.content = _ObservedContent(response.content, call)
    # A response may be released without being read, as `async with` does.
    for name in ("close", "release"):
        end = getattr(response, name)

        def reporting_end(end: Callable[[], Any] = end) -> Any:
            call.closed()
            return end()

        setattr(response, name, reporting_end)


class _ObservedContent:
    """Stands in for the stream of a response. aiohttp has decoded what it gives."""

    def __init__(self, inner: Any, call: Exchange) -> None:
        self._inner = inner
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def _reading(self, read: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            found = await read(*args, **kwargs)
        except BaseException as error:
            self._call.failed(error)
            raise
        self._report(found[0] if isinstance(found, tuple) else found)
        return found

    def _report(self, chunk: bytes) -> None:
        if chunk:
            self._call.received_decoded(chunk)
        if not chunk or self._inner.at_eof():
            self._call.ended()

    async def read(self, n: int = -1) -> bytes:
        chunk: bytes = await self._reading(self._inner.read, n)
        return chunk

    async def readany(self) -> bytes:
        chunk: bytes = await self._reading(self._inner.readany)
        return chunk

    async def readline(self, *args: Any, **kwargs: Any) -> bytes:
        chunk: bytes = await self._reading(self._inner.readline, *args, **kwargs)
        return chunk

    async def readuntil(self, *args: Any, **kwargs: Any) -> bytes:
        chunk: bytes = await self._reading(self._inner.readuntil, *args, **kwargs)
        return chunk

    async def readexactly(self, n: int) -> bytes:
        chunk: bytes = await self._reading(self._inner.readexactly, n)
        return chunk

    async def readchunk(self) -> tuple[bytes, bool]:
        found: tuple[bytes, bool] = await self._reading(self._inner.readchunk)
        return found

    def read_nowait(self, n: int = -1) -> bytes:
        chunk: bytes = self._inner.read_nowait(n)
        self._report(chunk)
        return chunk

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._each(self.readline)

    def iter_any(self) -> AsyncIterator[bytes]:
        return self._each(self.readany)

    def iter_chunked(self, n: int) -> AsyncIterator[bytes]:
        return self._each(lambda: self.read(n))

    async def iter_chunks(self) -> AsyncIterator[tuple[bytes, bool]]:
        while True:
            found = await self.readchunk()
            if found == (b"", False):
                return
            yield found

    async def _each(self, read: Callable[[], Any]) -> AsyncIterator[bytes]:
        while True:
            chunk: bytes = await read()
            if chunk == b"":
                return
            yield chunk
