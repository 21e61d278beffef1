"""Encodes steps as OTLP/JSON, and redacts every value before it leaves the process."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

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
    if isinstance(value, str):
        return REDACTED if value and redactor.is_secret_key(key) else redactor.text(value, key)
    if isinstance(value, (list, tuple)):
        return [_outgoing(key, item, redactor) for item in value]
    return value


def encode_spans(spans: Iterable[Span], resource: Mapping[str, Any], redactor: Redactor) -> str:
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
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"))


def _encode_span(span: Span, redactor: Redactor) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "traceId": span.trace_id,
        "spanId": span.id,
        "name": redactor.text(span.name, "name"),
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
            "message": redactor.text(span.status_message, "message"),
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
        is_safe = -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
        return {"intValue": value} if is_safe else {"stringValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value} if math.isfinite(value) else {"stringValue": str(value)}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_encode_value(item) for item in value]}}
    return {"stringValue": str(value)}
