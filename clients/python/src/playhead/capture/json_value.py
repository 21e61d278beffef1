"""JSON of strangers, read without trust."""

from __future__ import annotations

import json
import math
from typing import Any, Optional

JsonObject = dict[str, Any]


def to_object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def to_objects(value: Any) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def to_text(value: Any) -> Optional[str]:
    """Text that says something."""
    return value if isinstance(value, str) and value != "" else None


def to_number(value: Any) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None


def parse_json(text: Any) -> Any:
    """The value of a JSON text; None when it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


def parse_arguments(given: Any) -> Any:
    """The arguments of a tool, which models write as JSON; what they got wrong stays the text it is."""
    if not isinstance(given, str):
        return {} if given is None else given
    if given == "":
        return {}
    parsed = parse_json(given)
    return given if parsed is None else parsed


def without_none(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
