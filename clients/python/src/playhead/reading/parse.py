"""Text that may be JSON."""

from __future__ import annotations

import json
from typing import Any


def parse_json_once(value: Any) -> Any:
    """A text in JSON stays text, whatever it says. What is not JSON is returned as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def parse_json(value: Any) -> Any:
    """As `parse_json_once`, and JSON in JSON is parsed too."""
    parsed = parse_json_once(value)
    return parse_json_once(parsed) if isinstance(parsed, str) and parsed != value else parsed
