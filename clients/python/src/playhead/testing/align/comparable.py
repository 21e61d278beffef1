"""A step's input and result in the form in which they are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...reading.parse import parse_json
from ...serialize import write_json
from ..calls import MISSING, arguments_of

StepJson = Mapping[str, Any]


class ModelReply(NamedTuple):
    text: str
    calls: list[dict[str, Any]]


def name_of(step: StepJson) -> str:
    if step.get("kind") == "action":
        return str((step.get("tool") or {}).get("name", step["name"]))
    return str(step.get("agent", step["name"]) if step.get("kind") == "agent" else step["name"])


def has_failed(step: StepJson) -> bool:
    return step.get("status") in ("error", "soft-error")


def input_of(step: StepJson, has_payloads: bool) -> Any:
    """Without payloads only the preview."""
    preview = step.get("inputPreview", MISSING)
    if not has_payloads:
        return preview
    if step.get("messages") is not None:
        return [_message_text(message) for message in input_messages_of(step)]
    given = arguments_of(step)
    return given if given is not MISSING else (step.get("retrieval") or {}).get("query", preview)


def result_of(step: StepJson, has_payloads: bool) -> Any:
    """An error is a result too."""
    if has_failed(step):
        error = step.get("error") or {}
        return {"error": {name: error.get(name, MISSING) for name in ("type", "message")}}
    preview = step.get("outputPreview", MISSING)
    if not has_payloads:
        return preview
    if step.get("messages") is not None:
        text, calls = model_reply(step)
        return {"text": text, "calls": calls}
    result = (step.get("tool") or {}).get("result", step.get("output", MISSING))
    if result is MISSING:
        result = (step.get("retrieval") or {}).get("documents", preview)
    return parse_result(result)


def parse_result(value: Any) -> Any:
    """Parses null, which OpenTelemetry can only write as text, and JSON that was recorded as text."""
    return None if isinstance(value, str) and value in ("null", "None") else parse_json(value)


def input_messages_of(step: StepJson) -> list[Mapping[str, Any]]:
    return [message for message in step.get("messages") or [] if message.get("isOutput") is not True]


def model_reply(step: StepJson) -> ModelReply:
    """The text of a model's reply and the tools that it called."""
    text, calls = "", []
    for message in step.get("messages") or []:
        if message.get("isOutput") is not True:
            continue
        for part in message["parts"]:
            text += words_of(part)
            if part.get("type") == "tool-call":
                given = parse_result(part.get("arguments", MISSING))
                calls.append({"name": part["name"], "arguments": given})
    return ModelReply(text, calls)


def words_of(part: Mapping[str, Any]) -> str:
    return str(part["text"]) if part.get("type") in ("text", "refusal") else ""


def texts_of(step: StepJson, roles: Sequence[str]) -> list[str]:
    """The texts of the messages with these roles in a prompt."""
    messages = [message for message in input_messages_of(step) if message.get("role") in roles]
    texts = ["\n".join(words_of(part) for part in message["parts"]) for message in messages]
    return [text for text in texts if text != ""]


def _message_text(message: Mapping[str, Any]) -> str:
    """A message as one text, without call ids."""
    return f"{message.get('role')}: " + "\n".join(_part_text(part) for part in message["parts"])


def _part_text(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    if kind == "tool-call":
        return f"{part['name']}({write_json(part.get('arguments'))})"
    if kind == "tool-result":
        result = part.get("result")
        return result if isinstance(result, str) else write_json(result)
    if kind == "media":
        return str(part.get("uri") or part.get("fileId") or part.get("modality"))
    return words_of(part)
