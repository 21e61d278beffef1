"""Watches requests of httpx, which the SDKs of OpenAI and Anthropic and most others use.

It patches the classes instead of the clients, so that clients created before `init` are covered too.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any, Optional

from ..headers import session_headers
from ..runtime import active_runtime
from ..tape.active import active_tape
from .answer_httpx import create_answerer, hooks_of, is_in_process
from .exchange import Exchange, begin_exchange
from .recognize import is_in_own_network
from .wire import is_sending, sending

_MARK = "_playhead_watches"


def watch_httpx(module: ModuleType) -> None:
    client, async_client = getattr(module, "Client", None), getattr(module, "AsyncClient", None)
    if client is None or async_client is None or getattr(client.send, _MARK, False):
        return
    observe, answer = _create_observer(module), create_answerer(module)
    send, async_send = client.send, async_client.send

    @functools.wraps(send)
    def watched_send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        exchange = _begin(self, request)
        if exchange is None:
            return send(self, request, *args, **kwargs)
        try:
            if exchange.taped is None:
                with sending():
                    response = send(self, request, *args, **kwargs)
            else:
                for hook in hooks_of(self, "request"):
                    hook(request)
                response = answer(exchange.taped, request)
        except BaseException as error:
            exchange.failed(error)
            raise
        observe(response, exchange)
        if exchange.taped is not None:
            for hook in hooks_of(self, "response"):
                hook(response)
            if not kwargs.get("stream", False):
                response.read()
        return response

    @functools.wraps(async_send)
    async def watched_async_send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        exchange = _begin(self, request)
        if exchange is None:
            return await async_send(self, request, *args, **kwargs)
        try:
            if exchange.taped is None:
                with sending():
                    response = await async_send(self, request, *args, **kwargs)
            else:
                for hook in hooks_of(self, "request"):
                    await hook(request)
                response = answer(exchange.taped, request)
        except BaseException as error:
            exchange.failed(error)
            raise
        observe(response, exchange)
        if exchange.taped is not None:
            for hook in hooks_of(self, "response"):
                await hook(response)
            if not kwargs.get("stream", False):
                await response.aread()
        return response

    setattr(watched_send, _MARK, True)
    client.send = watched_send
    async_client.send = watched_async_send


def _begin(client: Any, request: Any) -> Optional[Exchange]:
    """None for a request that is neither a call to a model nor answered by a cassette."""
    runtime = active_runtime()
    if runtime is None or is_sending():
        return None
    exchange: Optional[Exchange] = None
    with runtime.guard():
        exchange = begin_exchange(
            request.method,
            request.url,
            getattr(request, "_content", None),
            retries=request.headers.get("x-stainless-retry-count"),
            is_in_process=active_tape() is not None and is_in_process(client, request.url),
        )
        if exchange is None or exchange.taped is None:
            _carry_session(request)
    return exchange


def _carry_session(request: Any) -> None:
    """Services in the same network continue the session."""
    if "traceparent" in request.headers or not is_in_own_network(request.url.host):
        return
    for name, value in session_headers().items():
        others = request.headers.get(name)
        request.headers[name] = value if others is None else f"{others},{value}"


class _Outcome:
    """Reports how reading a response ended. Closing the stream early is reported by the stream."""

    def __init__(self, call: Exchange) -> None:
        self._call = call

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: Any, error: Optional[BaseException], _traceback: Any) -> None:
        if error is None:
            self._call.ended()
        elif not isinstance(error, GeneratorExit):
            self._call.failed(error)


def _create_observer(module: ModuleType) -> Any:
    class ObservedStream(module.SyncByteStream, module.AsyncByteStream):  # type: ignore[misc,name-defined]
        """Passes chunks on and reports them to the call."""

        def __init__(self, inner: Any, call: Exchange) -> None:
            self._inner = inner
            self._call = call

        def __iter__(self) -> Any:
            __tracebackhide__ = True
            with _Outcome(self._call):
                for chunk in self._inner:
                    self._call.received(chunk)
                    yield chunk

        async def __aiter__(self) -> Any:
            __tracebackhide__ = True
            with _Outcome(self._call):
                async for chunk in self._inner:
                    self._call.received(chunk)
                    yield chunk

        def close(self) -> None:
            self._call.closed()
            self._inner.close()

        async def aclose(self) -> None:
            self._call.closed()
            await self._inner.aclose()

    def observe(response: Any, exchange: Exchange) -> None:
        runtime = active_runtime()
        if runtime is None:
            return
        with runtime.guard():
            exchange.response_began(response.status_code, response.headers)
            if isinstance(getattr(response, "_content", None), bytes):
                exchange.received_whole(response._content)
                exchange.ended()
            else:
                response.stream = ObservedStream(response.stream, exchange)

    return observe
