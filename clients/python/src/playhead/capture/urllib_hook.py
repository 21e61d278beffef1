"""Watches requests of the standard library's `urllib.request`."""

from __future__ import annotations

import functools
import urllib.error
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ..tape.served import TapedError
from .answer_http import answer_http, connection_error
from .exchange import Exchange, Taped, begin_exchange, observe_response
from .wire import sending

_MARK = "_playhead_watches"
_READS = ("read", "read1", "readinto", "readline", "readlines")


def watch_urllib(module: ModuleType) -> None:
    handler: Any = module.AbstractHTTPHandler
    do_open = handler.do_open
    if getattr(do_open, _MARK, False):
        return

    @functools.wraps(do_open)
    def watched_open(self: Any, http_class: Any, request: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        exchange = begin_exchange(request.get_method(), urlsplit(request.full_url), request.data)
        if exchange is None:
            return do_open(self, http_class, request, **kwargs)
        try:
            if exchange.taped is None:
                with sending():
                    response = do_open(self, http_class, request, **kwargs)
            else:
                response = _answer(exchange.taped, request)
        except BaseException as error:
            exchange.failed(error)
            raise
        observe_response(_observe, response, exchange)
        return response

    setattr(watched_open, _MARK, True)
    handler.do_open = watched_open


def _answer(taped: Taped, request: Any) -> Any:
    if isinstance(taped, TapedError):
        raise urllib.error.URLError(connection_error(taped))
    response: Any = answer_http(taped, request.get_method())
    # As `do_open` leaves it.
    response.url, response.msg = request.get_full_url(), response.reason
    return response


def _observe(response: Any, call: Exchange) -> None:
    call.response_began(response.status, {name.lower(): value for name, value in response.headers.items()})
    reading = _Reading(response, call)
    for name in _READS:
        setattr(response, name, reading.wrap(getattr(response, name)))
    close = response.close

    def reporting_close() -> None:
        call.closed()
        close()

    response.close = reporting_close


class _Reading:
    """Reports what the host reads. Some ways to read use others, and only the outermost counts."""

    def __init__(self, response: Any, call: Exchange) -> None:
        self._response = response
        self._call = call
        self._is_inside = False

    def wrap(self, read: Any) -> Any:
        @functools.wraps(read)
        def reporting_read(*args: Any) -> Any:
            __tracebackhide__ = True
            if self._is_inside:
                return read(*args)
            self._is_inside = True
            try:
                found = read(*args)
            except BaseException as error:
                self._call.failed(error)
                raise
            finally:
                self._is_inside = False
            self._report(found, args)
            return found

        return reporting_read

    def _report(self, found: Any, args: tuple[Any, ...]) -> None:
        if isinstance(found, int):
            found = bytes(memoryview(args[0]).cast("B")[:found])
        chunk = b"".join(found) if isinstance(found, list) else found
        if chunk:
            self._call.received(chunk)
        if not chunk or self._response.isclosed():
            self._call.ended()
