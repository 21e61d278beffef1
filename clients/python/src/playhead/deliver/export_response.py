"""Reads OTLP's `ExportTraceServiceResponse`, as JSON or protobuf."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Optional, Union

_VARINT = 0
_LENGTH_DELIMITED = 2


def read_export_response(content_type: str, body: bytes) -> Optional[tuple[int, str]]:
    """How many steps were rejected, and the server's message. None if this is no such response: a proxy, a
    login page or another program also answers with 200, but it has not stored anything."""
    kind = content_type.split(";", 1)[0].strip().lower()
    if kind == "text/html":
        return None
    # An empty message of protobuf has no bytes, and some servers answer 204.
    if not body:
        return 0, ""
    try:
        if kind in ("application/x-protobuf", "application/protobuf"):
            return _read_protobuf(body)
        return _read_json(body) if kind in ("", "application/json") or kind.endswith("+json") else None
    except (ValueError, IndexError, RecursionError):
        return None


def _read_json(body: bytes) -> Optional[tuple[int, str]]:
    response = json.loads(body)
    if not isinstance(response, dict):
        return None
    partial = response.get("partialSuccess") or response.get("partial_success")
    if not isinstance(partial, dict):
        return (0, "") if set(response) <= {"partialSuccess", "partial_success"} else None
    rejected = partial.get("rejectedSpans") or partial.get("rejected_spans") or 0
    message = partial.get("errorMessage") or partial.get("error_message") or ""
    is_count = isinstance(rejected, (int, str)) and str(rejected).isdigit()
    return (int(rejected) if is_count else 0, message if isinstance(message, str) else "")


def _read_protobuf(body: bytes) -> tuple[int, str]:
    """`partial_success` is field 1; in it, `rejected_spans` is field 1 and `error_message` field 2."""
    rejected, message = 0, ""
    for field, partial in _fields(body):
        if field != 1 or isinstance(partial, int):
            continue
        for inner, value in _fields(partial):
            if inner == 1 and isinstance(value, int):
                rejected = value
            elif inner == 2 and isinstance(value, bytes):
                message = value.decode(errors="replace")
    return rejected, message


def _fields(body: bytes) -> Iterator[tuple[int, Union[int, bytes]]]:
    """Raises ValueError or IndexError if the bytes are no message that OTLP uses here."""
    offset = 0

    def varint() -> int:
        nonlocal offset
        value = shift = 0
        while True:
            byte = body[offset]
            offset += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while offset < len(body):
        tag, value = varint(), varint()
        if tag >> 3 == 0 or tag & 7 not in (_VARINT, _LENGTH_DELIMITED):
            raise ValueError("not a field of an export response")
        if tag & 7 == _VARINT:
            yield tag >> 3, value
            continue
        if offset + value > len(body):
            raise ValueError("a field is cut off")
        yield tag >> 3, body[offset : offset + value]
        offset += value
