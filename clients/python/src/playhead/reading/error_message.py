"""Splits a message that also contains its type, its stack or JSON, as the server does."""

from __future__ import annotations

import re
from typing import Any, Optional

from ..step import StepError
from .parse import parse_json
from .soft_error import first_text

_TYPE_PREFIX = re.compile(
    r"((?:[A-Za-z_$][\w$.]*)?(?:Error|Exception|Warning|Interrupt|Triggered|Exceeded|Exit|Failure)): (?=\S)",
    re.ASCII,
)
_EMBEDDED = re.compile(r"(.*?): (\{.*\})", re.DOTALL)
# Python prints `{'error': '…'}`.
_PRINTED_ERROR = re.compile(r"\{(?:.*, )?'error': (['\"])(.*)\1\}", re.DOTALL)
_PRINTED_EXCEPTION = re.compile(
    r"([A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Failure))\((['\"])(.*)\2,?\)",
    re.ASCII | re.DOTALL,
)
_TRACE_START = re.compile(
    r"(?:^|\n|(?<=\)))(?=Traceback \(most recent call last\):|[ \t]*at \S[^\n]*(?:\(|:\d+))"
)
_HEADER = re.compile(r"\n[\w$.]*: (.*)\Z", re.ASCII | re.DOTALL)


def parse_error_message(message: str, kind: Optional[str], stack: Optional[str] = None) -> StepError:
    whole = parse_json(message) if message.startswith("{") else None
    if isinstance(whole, dict) and isinstance(whole.get("data"), dict):
        detail = first_text(whole["data"].get("error"))
        if detail is not None:
            return _describe_inner(first_text(whole.get("message")) or "", detail, kind, stack)
    json = _EMBEDDED.fullmatch(message)
    if json is not None:
        inner = parse_json(json[2])
        if isinstance(inner, dict) and isinstance(inner.get("error"), str):
            return _describe_inner(json[1], inner["error"], kind, stack)
        printed_inner = _PRINTED_ERROR.fullmatch(json[2])
        if printed_inner is not None:
            return _describe_inner(json[1], printed_inner[2], kind, stack)
    text, trace = _split_trace(message)
    printed = _PRINTED_EXCEPTION.fullmatch(text)
    if printed is not None and (kind is None or _is_general(kind) or kind.endswith(printed[1])):
        named = printed[1] if kind is None or _is_general(kind) else kind
        return StepError(named, _unescape(printed[3]), stack or trace)
    prefix = _TYPE_PREFIX.match(text)
    if prefix is not None and (kind is None or kind == "Error" or kind.endswith(prefix[1])):
        named = prefix[1] if kind is None or kind == "Error" else kind
        return StepError(named, text[prefix.end() :], stack or trace)
    return StepError(kind or "Error", text, stack or trace)


def _split_trace(message: str) -> tuple[str, Optional[str]]:
    """A message may have several lines; what looks like a stack trace is one."""
    start = _TRACE_START.search(message)
    if start is None:
        return message.rstrip(), None
    before = message[: start.start()].rstrip()
    # A stack of JavaScript begins with the error itself.
    header = _HEADER.search(before)
    shown = "" if header is None else before[: header.start()].rstrip()
    text = shown if header is not None and shown != "" and shown.endswith(header[1]) else before
    return (message, None) if text == "" else (text, message[start.start() :].strip())


def _is_general(kind: str) -> bool:
    return kind in ("Error", "Exception")


def _unescape(text: str) -> str:
    return re.sub(r"\\(['\"\\n])", lambda found: "\n" if found[1] == "n" else found[1], text)


def _describe_inner(outer: str, detail: str, kind: Optional[str], stack: Optional[str]) -> StepError:
    """The detail is better than what is around it, unless it is redacted."""
    if re.search("redacted", detail, re.IGNORECASE):
        return StepError(kind or "Error", f"{outer}: {detail}", stack)
    error = parse_error_message(detail, kind)
    error.stack = error.stack or stack
    return error


def parse_recorded_error(value: Any, depth: int = 0) -> Optional[StepError]:
    """An error that a client recorded, with its causes."""
    if not isinstance(value, dict):
        return parse_error_message(value, None) if isinstance(value, str) and value != "" else None
    return StepError(
        type=first_text(value.get("type"), value.get("name")) or "Error",
        message=first_text(value.get("message")) or "",
        stack=first_text(value.get("stack")),
        cause=parse_recorded_error(value.get("cause"), depth + 1) if depth < 10 else None,
        is_propagated=value.get("isPropagated") is True,
        is_handled=value.get("isHandled") is True,
    )
