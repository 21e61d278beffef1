"""Detects a failure that an action returned instead of raising."""

from __future__ import annotations

from typing import Any, Optional

from .serialize import write_json

_MAX_LENGTH = 200


def soft_error_of(result: Any) -> Optional[tuple[str, str]]:
    """The failure's type and message; None if the result describes no failure."""
    if not isinstance(result, dict):
        return None
    exit_code = _exit_code(result)
    if exit_code not in (None, 0):
        said = _first_text(result.get("stderr"), result.get("stdout"))
        return "ExitCode", f"exit code {exit_code}" if said is None else said.strip().split("\n", 1)[0]
    is_failed = (
        result.get("isError") is True
        or result.get("is_error") is True
        or result.get("success") is False
        or result.get("ok") is False
        or _has_error(result.get("error"))
    )
    return (_type_of(result), _message_of(result)) if is_failed else None


def _has_error(error: Any) -> bool:
    return error not in (None, False, 0, "", "null", "None") and error not in ({}, [])


def _exit_code(result: dict[str, Any]) -> Any:
    """An exit code counts only next to a program's output."""
    if "stdout" not in result and "stderr" not in result:
        return None
    for key in ("exitCode", "exit_code", "code", "returncode"):
        if isinstance(result.get(key), int):
            return result[key]
    return None


def _type_of(result: dict[str, Any]) -> str:
    error = result.get("error")
    inner = (
        _first_text(error.get("type"), error.get("name"), error.get("code"))
        if isinstance(error, dict)
        else None
    )
    return (
        inner
        or _first_text(result.get("errorType"), result.get("error_type"), result.get("error_code"))
        or "ToolError"
    )


def _message_of(result: dict[str, Any]) -> str:
    error = result.get("error")
    if isinstance(error, dict):
        return _first_text(error.get("message"), error.get("detail")) or write_json(error)[:_MAX_LENGTH]
    text = error if isinstance(error, str) else None
    said = text or _first_text(result.get("message"), result.get("reason"), result.get("content"))
    return said or write_json(result)[:_MAX_LENGTH]


def _first_text(*values: Any) -> Optional[str]:
    return next((value for value in values if isinstance(value, str) and value != ""), None)
