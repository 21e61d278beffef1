"""Reads JSON of unknown shape."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Optional

JsonObject = dict[str, Any]

# Numbers that JSON would not write back unchanged, such as long ids, stay text.
_SCALAR = re.compile(r"true|false|-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")


def to_object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def to_objects(value: Any) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def to_text(value: Any) -> Optional[str]:
    """Non-empty text."""
    return value if isinstance(value, str) and value != "" else None


def to_number(value: Any) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None


def parse_json(text: Any) -> Any:
    """None when the text is not JSON."""
    try:
        return json.loads(text, parse_constant=_reject)
    except (TypeError, ValueError, RecursionError):
        return None


def _reject(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def parse_arguments(given: Any) -> Any:
    """Models write a tool's arguments as JSON. Text that is not JSON stays text."""
    if given is None or given == "":
        return {}
    return _parse_text(given) if isinstance(given, str) else given


def parse_result(given: str) -> Any:
    """Like arguments, but numbers and booleans are parsed too."""
    return json.loads(given) if _SCALAR.fullmatch(given) else _parse_text(given)


def _parse_text(text: str) -> Any:
    """The value of a JSON object, list or string, which may itself be JSON."""
    value = _parse_once(text)
    return _parse_once(value) if isinstance(value, str) else value


def _parse_once(text: str) -> Any:
    value = parse_json(text) if text.lstrip()[:1] in ("{", "[", '"') else None
    return text if value is None else value


def without_none(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
