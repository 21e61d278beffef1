"""Finds the failure that a returned result describes."""

from __future__ import annotations

import math
import re
from typing import Any, Optional

from ..format.json_text import write_scalar
from .previews import is_meaningful, preview_json

_ERROR_WORD = re.compile(r"error|errored|failure", re.IGNORECASE)
_EXIT_CODES = ("exitCode", "exit_code", "code", "returncode")
_WORDS = ("message", "error_message", "reason", "detail", "content")


def soft_error_of(result: Any) -> Optional[tuple[str, str]]:
    """The failure's type and message; None if the result describes no failure."""
    if not isinstance(result, dict):
        return None
    exit_code = _exit_code(result)
    if exit_code is not None and exit_code != 0:
        said = first_text(result.get("stderr"), result.get("stdout"))
        code = f"exit code {write_scalar(exit_code)}"
        return "ExitCode", code if said is None else said.strip().split("\n", 1)[0]
    status = result.get("status")
    is_failed = (
        result.get("isError") is True
        or result.get("is_error") is True
        or result.get("success") is False
        or result.get("ok") is False
        or (isinstance(status, str) and _ERROR_WORD.fullmatch(status) is not None)
        or _has_error(result.get("error"))
    )
    return (_type_of(result), _message_of(result)) if is_failed else None


def _has_error(error: Any) -> bool:
    if error is False or error in ("null", "None") or (error == 0 and type(error) is not bool):
        return False
    return is_meaningful(error)


def _exit_code(result: dict[str, Any]) -> Optional[float]:
    """An exit code counts only next to a program's output."""
    if "stdout" not in result and "stderr" not in result:
        return None
    given = next((result[key] for key in _EXIT_CODES if result.get(key) is not None), None)
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        return None
    try:
        number = float(given)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _type_of(result: dict[str, Any]) -> str:
    error = result.get("error")
    inner = (
        first_text(*(error.get(key) for key in ("type", "name", "code"))) if isinstance(error, dict) else None
    )
    named = first_text(*(result.get(key) for key in ("errorType", "error_type", "error_code")))
    return inner or named or "ToolError"


def _message_of(result: dict[str, Any]) -> str:
    error = result.get("error")
    if isinstance(error, dict):
        return first_text(error.get("message"), error.get("detail")) or preview_json(error)
    said = None if error is True else first_text(error)
    said = said or first_text(*(result.get(key) for key in _WORDS), _text_of_blocks(result.get("content")))
    return said or preview_json(result)


def _text_of_blocks(content: Any) -> Optional[str]:
    """MCP returns a list of blocks."""
    if isinstance(content, dict):
        return preview_json(content)
    if not isinstance(content, list):
        return None
    texts = ((first_text(block.get("text")) or "") if isinstance(block, dict) else "" for block in content)
    return "\n".join(texts)


def first_text(*values: Any) -> Optional[str]:
    """The first value that is text and not empty; numbers and booleans are converted."""
    for value in values:
        if isinstance(value, str):
            if value not in ("", "N/A", "<not specified>", "(merged tools)"):
                return value
        elif isinstance(value, (bool, int, float)) and value == value:
            return write_scalar(value)
    return None
