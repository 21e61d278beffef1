"""One way to talk to a model over HTTP: what a request asks for, what a response says, how a stream becomes
one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional, Protocol

from .json_value import JsonObject, to_number

# Parts and messages as OpenTelemetry's conventions write them.
Part = JsonObject
Message = JsonObject


@dataclass
class Question:
    operation: str
    model: Optional[str] = None
    is_stream: bool = False
    system: list[Part] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    tools: list[JsonObject] = field(default_factory=list)
    # Further attributes: `gen_ai.request.temperature` and the like.
    attributes: JsonObject = field(default_factory=dict)


class ProviderError(NamedTuple):
    type: str
    message: str


@dataclass
class Answer:
    id: Optional[str] = None
    model: Optional[str] = None
    messages: list[Message] = field(default_factory=list)
    finish_reasons: list[str] = field(default_factory=list)
    # Attributes of tokens: the cache inside the input, reasoning inside the output, whoever reports them.
    usage: JsonObject = field(default_factory=dict)
    attributes: JsonObject = field(default_factory=dict)
    # A failure that came as a success.
    error: Optional[ProviderError] = None


class Piece(NamedTuple):
    """What one streamed event brought."""

    # What the reader of the answer sees appear.
    text: str = ""
    # True when the model made it: text, reasoning, or a piece of a tool's arguments.
    is_token: bool = False
    # True when nothing can follow.
    is_last: bool = False


class Assembler(Protocol):
    def add(self, event: JsonObject) -> Piece: ...

    def whole(self) -> JsonObject: ...


class ModelApi(NamedTuple):
    name: str
    read_question: Callable[[JsonObject, str], Question]
    read_answer: Callable[[JsonObject], Answer]
    create_assembler: Callable[[], Any]


_USAGE_NAMES = {
    "input": "gen_ai.usage.input_tokens",
    "output": "gen_ai.usage.output_tokens",
    "cacheRead": "gen_ai.usage.cache_read.input_tokens",
    "cacheWrite": "gen_ai.usage.cache_write.input_tokens",
    "cacheWrite5m": "gen_ai.usage.cache_creation.5m_input_tokens",
    "cacheWrite1h": "gen_ai.usage.cache_creation.1h_input_tokens",
    "reasoning": "gen_ai.usage.reasoning.output_tokens",
    "audioInput": "gen_ai.usage.audio.input_tokens",
    "audioOutput": "gen_ai.usage.audio.output_tokens",
    "imageInput": "gen_ai.usage.image.input_tokens",
    "cost": "gen_ai.usage.cost",
}


def usage_attributes(**usage: Any) -> JsonObject:
    """Without what is absent; parts that count nothing are left out too."""
    attributes: JsonObject = {}
    for field_name, value in usage.items():
        count = to_number(value)
        if count is not None and (count > 0 or field_name in ("input", "output")):
            attributes[_USAGE_NAMES[field_name]] = count
    return attributes


def provider_error(body: Any) -> Optional[ProviderError]:
    """What a failed response says, in any provider's words."""
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
