"""Reads requests that call a model, and sees to it that each is seen only once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple, Optional

from ..runtime import Runtime
from .json_value import parse_json, to_object
from .model_api import ModelApi, ModelRequest
from .observed_call import Address, ObservedCall
from .recognize import provider_of_call, recognize_request

# Reading longer requests would cost the host too much.
MAX_REQUEST_BYTES = 64 * 1024 * 1024
# True while a client sends a request that is watched: it may use another client, or be wrapped twice.
_is_sending: ContextVar[bool] = ContextVar("playhead_is_sending", default=False)


def is_sending() -> bool:
    return _is_sending.get()


@contextlib.contextmanager
def sending() -> Iterator[None]:
    outer = _is_sending.get()
    _is_sending.set(True)
    try:
        yield
    finally:
        # Not by a token: an async generator may end in another context.
        _is_sending.set(outer)


class ReadCall(NamedTuple):
    """A request that calls a model."""

    api: ModelApi
    request: ModelRequest
    # Whether its stream is to end with the usage.
    has_usage: bool
    # Whether its stream is a JSON list, which is Gemini's form for those who do not ask for events.
    is_listed: bool


def read_call(url: Any, content: Any) -> Optional[ReadCall]:
    """None if no model is called."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    # A streamed body can only be read once.
    if not isinstance(content, (bytes, bytearray)) or len(content) > MAX_REQUEST_BYTES:
        return None
    body = parse_json(bytes(content))
    api = recognize_request(url.path, body) if isinstance(body, dict) else None
    if api is None:
        return None
    has_usage = to_object(body.get("stream_options")).get("include_usage") is True
    query = url.query.decode("latin-1") if isinstance(url.query, bytes) else str(url.query)
    is_listed = url.path.endswith(":streamGenerateContent") and "alt=sse" not in query
    return ReadCall(api, api.read_request(body, url.path), has_usage, is_listed)


def observe_call(runtime: Runtime, url: Any, retries: Optional[str], read: ReadCall) -> ObservedCall:
    """Starts the step. `url` has a host or hostname, a port and a scheme."""
    host = getattr(url, "host", None) or getattr(url, "hostname", None) or ""
    address = Address(
        host=host,
        port=url.port or (443 if url.scheme == "https" else 80),
        provider=provider_of_call(host, url.port, read.api, read.request.model),
        retries=int(retries) if retries is not None and retries.isdigit() else None,
    )
    return ObservedCall(runtime, read.api, read.request, address)
