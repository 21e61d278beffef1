"""One HTTP API of a provider: how to read its requests, its responses and its streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional, Protocol

from ..serialize import write_json
from .json_value import JsonObject, to_number

# Parts and messages as OpenTelemetry's conventions write them.
Part = JsonObject
Message = JsonObject


@dataclass
class ModelRequest:
    operation: str
    model: Optional[str] = None
    is_stream: bool = False
    system: list[Part] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    tools: list[JsonObject] = field(default_factory=list)
    # Parameters by the name of their attribute: `gen_ai.request.temperature`.
    attributes: JsonObject = field(default_factory=dict)


class ProviderError(NamedTuple):
    type: str
    message: str


@dataclass
class ModelResponse:
    id: Optional[str] = None
    model: Optional[str] = None
    messages: list[Message] = field(default_factory=list)
    finish_reasons: list[str] = field(default_factory=list)
    # Token counts by the name of their attribute.
    usage: JsonObject = field(default_factory=dict)
    attributes: JsonObject = field(default_factory=dict)
    # An error in a response with status 200.
    error: Optional[ProviderError] = None


class StreamDelta(NamedTuple):
    """What one event of a stream added."""

    # The text that a user sees appear.
    text: str = ""
    # True when the model generated it: text, reasoning, or a piece of a tool's arguments.
    is_token: bool = False
    # True when nothing can follow.
    is_last: bool = False


class StreamAssembler(Protocol):
    """Assembles the events of a stream into the response that a request without streaming would get."""

    def add(self, event: JsonObject) -> StreamDelta: ...

    def response(self) -> JsonObject: ...


class ModelApi(NamedTuple):
    name: str
    read_request: Callable[[JsonObject, str], ModelRequest]
    read_response: Callable[[JsonObject], ModelResponse]
    create_assembler: Callable[[], StreamAssembler]


def provider_error(body: Any) -> Optional[ProviderError]:
    """The error in the body of a failed response, whoever the provider is."""
    holder = body[0] if isinstance(body, list) and body else body
    if not isinstance(holder, dict):
        return None
    error = holder.get("error") or holder.get("detail") or holder.get("message")
    if isinstance(error, str):
        return ProviderError("", error)
    if not isinstance(error, dict):
        return None
    words = (error.get("code"), error.get("status"), error.get("type"))
    kind = next((word for word in words if isinstance(word, str) and word and not word.isdigit()), "")
    message = error.get("message")
    return ProviderError(kind, message if isinstance(message, str) else "")


def attributes_from(source: JsonObject, names: dict[str, str]) -> JsonObject:
    """Attributes by the field of a request or response that they come from."""
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


def request_attributes(*fields: str) -> dict[str, str]:
    """Parameters whose attribute has the same name."""
    return {field_name: f"gen_ai.request.{field_name}" for field_name in fields}


def output_type(word: Any) -> JsonObject:
    """The format that a request asks for: `json`, `text` or another word of the provider."""
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
