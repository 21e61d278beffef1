"""Encodes steps as OTLP/JSON, and redacts every value before it leaves the process."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..host_value import to_name, to_text
from ..redaction import REDACTED
from ..redaction.redact import Redactor
from ..serialize import MAX_SAFE_INTEGER
from ..span import STATUS_UNSET, Span
from ..version import VERSION

OWN_SCOPE = "playhead"
# OTLP's flags for a remote parent.
REMOTE_PARENT_FLAGS = 0x300


def outgoing_attributes(span: Span, redactor: Redactor) -> dict[str, Any]:
    """The redacted attributes; computed once for an ended step."""
    if span.outgoing is not None:
        return span.outgoing
    outgoing = {key: _outgoing(key, value, redactor) for key, value in list(span.attributes.items())}
    if span.is_ended:
        span.outgoing = outgoing
    return outgoing


def _outgoing(key: str, value: Any, redactor: Redactor) -> Any:
    if type(value) is int and not _is_safe(value):
        # What reads it writes it too, and Python refuses to write integers of thousands of digits.
        return to_text(value)
    if type(value) in (bool, int, float) or value is None:
        return value
    if type(value) in (list, tuple):
        return [_outgoing(key, item, redactor) for item in value]
    text = to_text(value) or ""
    return REDACTED if text and redactor.is_secret_key(key) else redactor.text(text, key)


class FailedSpan(NamedTuple):
    span: Span
    error: Exception


class Encoded(NamedTuple):
    text: str
    failed: tuple[FailedSpan, ...]


def encode_spans(spans: Sequence[Span], resource: Mapping[str, Any], redactor: Redactor) -> Encoded:
    """Never raises: a span that can't be encoded is left out, and the others are not affected."""
    try:
        return Encoded(_encode_all(spans, resource, redactor), ())
    except Exception as error:
        if len(spans) == 1:
            return Encoded("", (FailedSpan(spans[0], error),))
        failed = [one for span in spans for one in encode_spans([span], resource, redactor).failed]
        if not failed:
            # Each alone but not together: there is no telling which one is to blame.
            return Encoded("", tuple(FailedSpan(span, error) for span in spans))
        broken = {id(one.span) for one in failed}
        healthy = [span for span in spans if id(span) not in broken]
        rest = encode_spans(healthy, resource, redactor) if healthy else Encoded("", ())
        return Encoded(rest.text, (*failed, *rest.failed))


def _encode_all(spans: Sequence[Span], resource: Mapping[str, Any], redactor: Redactor) -> str:
    body = {
        "resourceSpans": [
            {
                "resource": {"attributes": _encode_attributes(resource)},
                "scopeSpans": [
                    {
                        "scope": {"name": OWN_SCOPE, "version": VERSION},
                        "spans": [_encode_span(span, redactor) for span in spans],
                    }
                ],
            }
        ]
    }
    # Escape non-ASCII: a host string may contain a lone surrogate, which is not valid UTF-8.
    return json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _encode_span(span: Span, redactor: Redactor) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "traceId": span.trace_id,
        "spanId": span.id,
        "name": redactor.text(to_name(span.name) or "", "name"),
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_ns),
        "attributes": _encode_attributes(outgoing_attributes(span, redactor)),
    }
    if span.parent_id is not None:
        encoded["parentSpanId"] = span.parent_id
    if span.is_parent_remote:
        encoded["flags"] = REMOTE_PARENT_FLAGS
    if span.end_ns is not None:
        encoded["endTimeUnixNano"] = str(span.end_ns)
    if span.status_code != STATUS_UNSET:
        encoded["status"] = {
            "code": span.status_code,
            "message": redactor.text(to_text(span.status_message) or "", "message"),
        }
    return encoded


def _encode_attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _encode_value(value)} for key, value in attributes.items() if value is not None
    ]


def _encode_value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": value} if _is_safe(value) else {"stringValue": to_text(value) or ""}
    if isinstance(value, float):
        return {"doubleValue": value} if math.isfinite(value) else {"stringValue": str(value)}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_encode_value(item) for item in value]}}
    return {"stringValue": to_text(value) or ""}


def _is_safe(value: int) -> bool:
    return -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
