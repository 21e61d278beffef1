"""Watches requests of urllib3, which `requests` and botocore use."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ..runtime import active_runtime
from ..tape.active import active_tape
from ..tape.served import TapedError
from .answer_http import answer_http
from .exchange import Exchange, Taped, begin_exchange, observe_response
from .wire import sending

_MARK = "_playhead_watches"


def watch_urllib3(module: ModuleType) -> None:
    """`urllib3.connectionpool`. Each attempt is one request, whoever retries it."""
    pool: Any = module.HTTPConnectionPool
    if sys.modules["urllib3"].__version__.startswith("1."):
        _say_old()
        return
    make_request = pool._make_request
    if getattr(make_request, _MARK, False):
        return

    @functools.wraps(make_request)
    def watched_request(self: Any, conn: Any, method: Any, url: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        body = args[0] if args and "body" not in kwargs else kwargs.get("body")
        address = f"{self.scheme}://{_host_of(self)}{url}" if url.startswith("/") else url
        exchange = begin_exchange(method, urlsplit(address), body)
        if exchange is None:
            return make_request(self, conn, method, url, *args, **kwargs)
        try:
            if exchange.taped is None:
                with sending():
                    response = make_request(self, conn, method, url, *args, **kwargs)
            else:
                response = _answer(exchange.taped, self, conn, method, url, kwargs)
        except BaseException as error:
            exchange.failed(error)
            raise
        observe_response(_observe, response, exchange)
        return response

    setattr(watched_request, _MARK, True)
    pool._make_request = watched_request
    _skip_proxies(pool)
    _skip_proxies(module.HTTPSConnectionPool)


def _skip_proxies(pool: Any) -> None:
    """A tunnel through a proxy is dug before the request is made, and a strict cassette needs none."""
    prepare = pool.__dict__.get("_prepare_proxy")
    if prepare is None:
        return

    @functools.wraps(prepare)
    def watched_prepare(self: Any, conn: Any) -> Any:
        tape = active_tape()
        return None if tape is not None and tape.is_strict else prepare(self, conn)

    pool._prepare_proxy = watched_prepare


def _answer(taped: Taped, pool: Any, conn: Any, method: str, url: str, options: dict[str, Any]) -> Any:
    if isinstance(taped, TapedError):
        if taped.code == "ETIMEDOUT":
            raise _exceptions().ConnectTimeoutError(conn, taped.message or taped.code)
        raise _exceptions().NewConnectionError(conn, taped.message or taped.code)
    inner = answer_http(taped, method)
    response: Any = sys.modules["urllib3"].HTTPResponse(
        body=inner,
        headers=dict(inner.getheaders()),
        status=inner.status,
        version=inner.version,
        reason=inner.reason,
        preload_content=options.get("preload_content", True),
        decode_content=options.get("decode_content", True),
        original_response=inner,
        request_method=method,
        request_url=url,
    )
    # As `_make_request` leaves it: the connection goes back to the pool when the response was read.
    response.retries = options.get("retries")
    response._connection, response._pool = options.get("response_conn"), pool
    return response


def _exceptions() -> Any:
    return sys.modules["urllib3.exceptions"]


def _say_old() -> None:
    runtime = active_runtime()
    if runtime is not None and runtime.settings.is_llm_captured:
        runtime.reporter.once(
            "urllib3",
            "Playhead sees requests of urllib3 2 and newer, and this is version 1. If they call a model, "
            "update it, or record the calls as LLMEvent.",
        )


def _host_of(pool: Any) -> str:
    host = f"[{pool.host}]" if ":" in pool.host and not pool.host.startswith("[") else pool.host
    return host if pool.port is None else f"{host}:{pool.port}"


def _observe(response: Any, call: Exchange) -> None:
    headers = {name.lower(): value for name, value in dict(response.headers).items()}
    call.response_began(response.status, headers)
    if isinstance(getattr(response, "_body", None), bytes):
        call.received_whole(response._body)
        call.ended()
        return
    # Both give the bytes as they arrived: of a body with a length, and of one in chunks.
    for name in ("_fp_read", "_handle_chunk"):
        read = getattr(response, name, None)
        if read is not None:
            setattr(response, name, _reporting(read, call))
    for name, report in (("release_conn", call.ended), ("close", call.closed)):
        setattr(response, name, _reporting_end(getattr(response, name), report))


def _reporting(read: Any, call: Exchange) -> Any:
    @functools.wraps(read)
    def reporting_read(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            chunk = read(*args, **kwargs)
        except BaseException as error:
            call.failed(error)
            raise
        if isinstance(chunk, bytes):
            call.received(chunk)
        return chunk

    return reporting_read


def _reporting_end(end: Any, report: Any) -> Any:
    @functools.wraps(end)
    def reporting_end(*args: Any, **kwargs: Any) -> Any:
        report()
        return end(*args, **kwargs)

    return reporting_end
