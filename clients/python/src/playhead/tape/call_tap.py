"""Watches a live model call for a cassette: status, headers, and the body or its events with their times."""

from __future__ import annotations

import codecs
import errno
import re
import time
from collections.abc import Mapping
from functools import wraps
from typing import Any, Callable, Optional

from ..capture.event_stream import BodyDecoder
from ..capture.json_value import JsonObject, parse_json

_END_OF_EVENT = re.compile(r"\r?\n\r?\n")
_END_OF_LINE = re.compile(r"\n")
_JSON_LINES = re.compile(r"ndjson|jsonl|json-?lines")
_NO_TEXT = re.compile(r"eventstream|octet-stream")


def _guarded(method: Callable[..., None]) -> Callable[..., None]:
    @wraps(method)
    def guarded(self: CallTap, *args: Any) -> None:
        if self.is_over:
            return
        try:
            method(self, *args)
        except Exception as fault:
            self.is_over = True
            self.on_fault(fault)

    return guarded


class CallTap:
    def __init__(
        self,
        on_answer: Callable[[JsonObject], None],
        on_fault: Callable[[BaseException], None],
        is_complete: Callable[[list[list[Any]]], bool],
    ) -> None:
        self.is_over: bool = False
        self.on_fault = on_fault
        self._on_answer = on_answer
        # Whether these events are a whole answer.
        self._is_complete = is_complete
        self._started = time.perf_counter()
        self._answer: JsonObject = {}
        self._is_events = False
        # A cassette can't hold other bytes.
        self._is_text = True
        self._end_of_event = _END_OF_EVENT
        self._decoder = BodyDecoder(None)
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._events: list[list[Any]] = []
        self._body: list[bytes] = []

    @_guarded
    def response_began(self, status: int, headers: Mapping[str, str]) -> None:
        self._answer = {"status": status, "headers": {name.lower(): value for name, value in headers.items()}}
        content_type = self._answer["headers"].get("content-type", "")
        self._end_of_event = _END_OF_LINE if _JSON_LINES.search(content_type) else _END_OF_EVENT
        self._is_events = "event-stream" in content_type or self._end_of_event is _END_OF_LINE
        self._is_text = _NO_TEXT.search(content_type) is None
        self._decoder = BodyDecoder(self._answer["headers"].get("content-encoding"))

    @_guarded
    def received(self, chunk: bytes) -> None:
        if chunk:
            self._add(self._decoder.decode(chunk))

    @_guarded
    def received_whole(self, content: bytes) -> None:
        self._add(content)

    @_guarded
    def received_decoded(self, chunk: bytes) -> None:
        self._add(chunk)

    @_guarded
    def ended(self) -> None:
        self._finish(is_aborted=False)

    @_guarded
    def closed(self) -> None:
        """The client stopped reading."""
        self._finish(is_aborted=True)

    @_guarded
    def failed(self, error: BaseException) -> None:
        if self._answer:
            self._finish(is_aborted=True)
        else:
            self.is_over = True
            self._on_answer({"error": {"code": _code_of(error), "message": str(error)}})

    def give_up(self, fault: Exception) -> None:
        self.is_over = True
        self.on_fault(fault)

    def _add(self, decoded: bytes) -> None:
        if not self._is_events:
            self._body.append(decoded)
            return
        at_ms = round((time.perf_counter() - self._started) * 1000)
        self._rest += self._text.decode(decoded)
        while True:
            end = self._end_of_event.search(self._rest)
            if end is None:
                return
            self._events.append([at_ms, self._rest[: end.end()]])
            self._rest = self._rest[end.end() :]

    def _finish(self, *, is_aborted: bool) -> None:
        self.is_over = True
        if not self._decoder.is_readable or not self._is_text:
            return
        if not self._is_events:
            # Few read the body of a response that they retry.
            if not is_aborted or self._answer["status"] >= 400:
                content = b"".join(self._body)
                body = parse_json(content)
                text = content.decode("utf-8", "replace")
                self._on_answer({**self._answer, "body": text if body is None else body})
            return
        if self._rest.strip():
            self._events.append([round((time.perf_counter() - self._started) * 1000), self._rest])
        # Clients stop reading after the last event, which is no abort.
        is_cut = is_aborted and not self._is_complete(self._events)
        self._on_answer({**self._answer, "events": self._events, **({"isAborted": True} if is_cut else {})})


def _code_of(error: BaseException) -> str:
    """The system's word for a failed connection."""
    if "timeout" in type(error).__name__.lower():
        return "ETIMEDOUT"
    cause: Optional[BaseException] = error
    while cause is not None:
        number = getattr(cause, "errno", None)
        if isinstance(number, int) and number in errno.errorcode:
            return errno.errorcode[number]
        cause = cause.__cause__ or cause.__context__
    return "ECONNRESET"
