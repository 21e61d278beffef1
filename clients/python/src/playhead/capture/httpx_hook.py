"""Watches requests of httpx, which the SDKs of OpenAI and Anthropic and most others use.

It patches the classes instead of the clients, so that clients created before `init` are covered too.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any, Optional

from ..headers import session_headers
from ..runtime import active_runtime
from .json_value import parse_json
from .observed_call import Address, ObservedCall
from .recognize import is_in_own_network, may_be_call, provider_of_call, recognize_request

# Reading longer requests would cost the host too much.
MAX_REQUEST_BYTES = 64 * 1024 * 1024
_MARK = "_playhead_watches"


def watch_httpx(module: ModuleType) -> None:
    client, async_client = getattr(module, "Client", None), getattr(module, "AsyncClient", None)
    if client is None or async_client is None or getattr(client.send, _MARK, False):
        return
    observe = _create_observer(module)
    send, async_send = client.send, async_client.send

    @functools.wraps(send)
    def watched_send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        call = _begin(request)
        if call is None:
            return send(self, request, *args, **kwargs)
        try:
            response = send(self, request, *args, **kwargs)
        except BaseException as error:
            call.failed(error)
            raise
        observe(response, call)
        return response

    @functools.wraps(async_send)
    async def watched_async_send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        call = _begin(request)
        if call is None:
            return await async_send(self, request, *args, **kwargs)
        try:
            response = await async_send(self, request, *args, **kwargs)
        except BaseException as error:
            call.failed(error)
            raise
        observe(response, call)
        return response

    setattr(watched_send, _MARK, True)
    client.send = watched_send
    async_client.send = watched_async_send


def _begin(request: Any) -> Optional[ObservedCall]:
    """None for anything but a call to a model."""
    runtime = active_runtime()
    if runtime is None:
        return None
    with runtime.guard():
        url = request.url
        call = None
        if runtime.settings.is_llm_captured and may_be_call(request.method, url.path):
            call = _recognize(runtime, request)
        _carry_session(request)
        return call
    return None


def _recognize(runtime: Any, request: Any) -> Optional[ObservedCall]:
    # A streamed body can only be read once.
    content = getattr(request, "_content", None)
    if not isinstance(content, bytes) or len(content) > MAX_REQUEST_BYTES:
        return None
    body, url = parse_json(content), request.url
    api = recognize_request(url.path, body) if isinstance(body, dict) else None
    if api is None:
        return None
    model_request = api.read_request(body, url.path)
    retries = request.headers.get("x-stainless-retry-count")
    address = Address(
        host=url.host,
        port=url.port or (443 if url.scheme == "https" else 80),
        provider=provider_of_call(url.host, url.port, api, model_request.model),
        retries=int(retries) if retries is not None and retries.isdigit() else None,
    )
    return ObservedCall(runtime, api, model_request, address)


def _carry_session(request: Any) -> None:
    """Services in the same network continue the session."""
    if "traceparent" in request.headers or not is_in_own_network(request.url.host):
        return
    for name, value in session_headers().items():
        others = request.headers.get(name)
        request.headers[name] = value if others is None else f"{others},{value}"


class _Outcome:
    """Reports how reading a response ended. Closing the stream early is reported by the stream."""

    def __init__(self, call: ObservedCall) -> None:
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

        def __init__(self, inner: Any, call: ObservedCall) -> None:
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

    def observe(response: Any, call: ObservedCall) -> None:
        try:
            call.response_began(response.status_code, response.headers)
            if isinstance(getattr(response, "_content", None), bytes):
                call.received_whole(response._content)
                call.ended()
            else:
                response.stream = ObservedStream(response.stream, call)
        except Exception as fault:
            call.give_up(fault)

    return observe
