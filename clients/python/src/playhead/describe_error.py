"""Describes an error in the recorded format, which the server parses."""

from __future__ import annotations

import os
import traceback
from typing import Any, Optional

MAX_CAUSES = 8
MAX_ERRORS = 10
MAX_STACK_LENGTH = 8000
MAX_MESSAGE_LENGTH = 20_000
_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describe_error(error: Any, is_content_kept: bool, depth: int = 0) -> dict[str, Any]:
    """Describe an exception or an error message."""
    if not issubclass(type(error), BaseException):
        return {
            "type": "str" if type(error) is str else type(error).__name__,
            "message": _shown(_text_of(error), is_content_kept),
        }
    described: dict[str, Any] = {
        "type": type(error).__name__,
        "message": _shown(_text_of(error), is_content_kept),
    }
    stack = _stack_of(error, is_content_kept)
    if stack:
        described["stack"] = stack
    cause = _cause_of(error)
    if cause is not None and depth < MAX_CAUSES:
        described["cause"] = describe_error(cause, is_content_kept, depth + 1)
    inner = _inner_errors(error)
    if inner and depth < MAX_CAUSES:
        errors = [describe_error(one, is_content_kept, depth + 1) for one in inner[:MAX_ERRORS]]
        described["errors"] = errors
        described.setdefault("cause", errors[0])
    return described


def _inner_errors(error: BaseException) -> Any:
    """The errors of an exception group."""
    try:
        inner = getattr(error, "exceptions", None)
    except Exception:
        return ()
    return inner if type(inner) in (tuple, list) else ()


def message_of(error: Any) -> str:
    """One line: type and message."""
    if issubclass(type(error), BaseException):
        text = _text_of(error)
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
    return _text_of(error)


# What ends code from outside: it has not failed, and nobody knows how it would have ended.
_INTERRUPTIONS = {
    "KeyboardInterrupt": "Interrupted",
    "GeneratorExit": "Interrupted",
    "CancelledError": "Cancelled",
    # Trio and AnyIO.
    "Cancelled": "Cancelled",
    # pytest
    "Skipped": "Skipped",
}


def describe_interruption(error: BaseException) -> Optional[str]:
    """For example `Interrupted (KeyboardInterrupt)`; None for errors, `SystemExit` included."""
    if issubclass(type(error), Exception):
        return None
    for kind in type(error).__mro__:
        word = _INTERRUPTIONS.get(kind.__name__)
        if word is not None:
            return f"{word} ({type(error).__name__})"
    return None


def raise_site(error: BaseException) -> tuple[Any, ...]:
    """Where the error was raised, which tells it from a later object with the same id."""
    trace = error.__traceback__
    if trace is None:
        return (type(error),)
    while trace.tb_next is not None:
        trace = trace.tb_next
    return (type(error), trace.tb_frame.f_code, trace.tb_lineno)


def _text_of(error: Any) -> str:
    try:
        return str.__str__(str(error))
    except Exception:
        return "an error that can not be read"


def _shown(text: str, is_content_kept: bool) -> str:
    """A message may be content; that there was one is not."""
    return text[:MAX_MESSAGE_LENGTH] if is_content_kept else f"[{len(text)} characters]"


def _cause_of(error: BaseException) -> Optional[BaseException]:
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def _stack_of(error: BaseException, is_content_kept: bool) -> str:
    """The traceback without our own frames, innermost frame last."""
    try:
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if not frame.filename.startswith(_OWN_FOLDER)
        ]
        lines = traceback.format_list(frames)
        if not lines:
            return ""
        last = (
            traceback.format_exception_only(type(error), error) if is_content_kept else [type(error).__name__]
        )
        text = "".join(["Traceback (most recent call last):\n", *lines, *last]).rstrip()
    except Exception:
        return ""
    # The innermost frame is at the end.
    return text if len(text) <= MAX_STACK_LENGTH else "…" + text[-MAX_STACK_LENGTH:]
