"""What a request asks for, as attributes."""

from __future__ import annotations

from typing import Any, Optional

from ..serialize import write_json
from .json_value import JsonObject, to_number


def attributes_from(source: JsonObject, names: dict[str, str]) -> JsonObject:
    """Attributes by the field of the request that they come from."""
    attributes: JsonObject = {}
    for field_name, name in names.items():
        value = source.get(field_name)
        if (
            isinstance(value, (str, bool))
            or to_number(value) is not None
            or (isinstance(value, list) and all(isinstance(item, str) for item in value))
        ):
            attributes[name] = value
        elif isinstance(value, (dict, list)):
            attributes[name] = write_json(value)
    return attributes


def output_type(word: Any) -> JsonObject:
    """What the answer has to look like: `json`, `text` or another word of the provider."""
    if not isinstance(word, str):
        return {}
    return {"gen_ai.output.type": "json" if "json" in word else word}


def define_tool(raw: JsonObject, kind: Optional[str]) -> JsonObject:
    name = raw.get("name")
    tool: JsonObject = {
        "type": kind or "function",
        "name": name if isinstance(name, str) else kind or "function",
    }
    if isinstance(raw.get("description"), str):
        tool["description"] = raw["description"]
    parameters = raw.get("parameters", raw.get("input_schema"))
    if parameters is not None:
        tool["parameters"] = parameters
    return tool
