"""The conversation of a model call in the format of the API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Optional

from .parse import parse_json

JsonObject = dict[str, Any]


def read_messages(attributes: dict[str, Any]) -> Optional[list[JsonObject]]:
    """System prompt, what was sent, and the reply; None if there is nothing of it."""
    system = parse_json(attributes.get("gen_ai.system_instructions"))
    sent = _to_messages(attributes.get("gen_ai.input.messages"), "user")
    answered = _to_messages(attributes.get("gen_ai.output.messages"), "assistant")
    messages = [*_separate_tool_results(sent), *({**one, "isOutput": True} for one in answered)]
    if system:
        first: JsonObject = {"role": "system", "parts": _read_parts(system)}
        is_repeated = bool(messages) and messages[0] == first
        messages = messages if is_repeated else [first, *messages]
    return messages or None


def _to_messages(text: Any, role: str) -> list[JsonObject]:
    given = parse_json(text)
    listed = given if isinstance(given, list) else [given] if isinstance(given, dict) else []
    messages = [_read_message(one, role) for one in listed if isinstance(one, dict)]
    return [message for message in messages if message["parts"]]


def _read_message(raw: JsonObject, role: str) -> JsonObject:
    message: JsonObject = {"role": raw.get("role") or role, "parts": _read_parts(raw.get("parts"))}
    if raw.get("name") is not None:
        message["name"] = raw["name"]
    if raw.get("finish_reason") is not None:
        message["finishReason"] = raw["finish_reason"]
    return message


def _read_parts(parts: Any) -> list[JsonObject]:
    listed = parts if isinstance(parts, list) else [parts]
    read = [_read_part(part) for part in listed if part is not None]
    return [part for part in read if part["type"] != "text" or part["text"] != ""]


def _read_part(part: Any) -> JsonObject:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        return {"type": "other", "raw": part}
    kind = part.get("type")
    if kind in ("text", "refusal"):
        return {"type": kind, "text": str(part.get("content") or "")}
    if kind in ("reasoning", "redacted_thinking"):
        return _read_reasoning(part)
    if kind in ("tool_call", "server_tool_call"):
        arguments = part.get("arguments")
        call = {"id": part.get("id"), "name": part.get("name") or ""}
        return {
            "type": "tool-call",
            **_known(call),
            "arguments": {} if arguments in (None, "") else parse_json(arguments),
            **({"isServerSide": True} if kind == "server_tool_call" else {}),
        }
    if kind in ("tool_call_response", "server_tool_call_response"):
        return {**_read_result(part), **({"isServerSide": True} if kind.startswith("server") else {})}
    if kind in ("blob", "uri", "file"):
        media = {
            "mimeType": part.get("mime_type"),
            "uri": part.get("uri"),
            "base64": part.get("content"),
            "fileId": part.get("file_id"),
        }
        return {"type": "media", "modality": part.get("modality") or "file", **_known(media)}
    return {"type": "other", "raw": part}


def _read_reasoning(part: JsonObject) -> JsonObject:
    signature = part.get("signature") or part.get("encrypted_content")
    read = {"type": "reasoning", **_known({"text": part.get("content") or None, "signature": signature})}
    is_hidden = part.get("type") == "redacted_thinking"
    return {**read, "isRedacted": True} if is_hidden else read


def _read_result(part: JsonObject) -> JsonObject:
    read = {"type": "tool-result", **_known({"id": part.get("id"), "name": part.get("name")})}
    read["result"] = unwrap_blocks(parse_json(part.get("response")))
    if part.get("is_error") is True:
        read["isError"] = True
    return read


def unwrap_blocks(value: Any) -> Any:
    """The content of a text block, or of a list that holds a single one; anything else as it is."""
    is_list = isinstance(value, list)
    block = value[0] if is_list and len(value) == 1 else value
    if not isinstance(block, dict):
        return value
    kind = block.get("type")
    is_text = kind in ("text", "output_text", "input_text") or (is_list and kind is None)
    if is_text and isinstance(block.get("text"), str):
        return parse_json(block["text"])
    return block["json"] if is_list and kind is None and "json" in block else value


def unwrap_function_response(value: Any) -> Any:
    """Gemini takes only objects, so any other value is put under `result` or `output`."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    inner = value.get("result", value.get("output"))
    return value if inner is None else inner


def _separate_tool_results(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """Tool results have the role `tool`, although Anthropic and Gemini send them as the user."""
    for message in messages:
        is_mixed = message["role"] not in ("tool", "assistant") and any(map(_is_result, message["parts"]))
        if not is_mixed:
            yield message
            continue
        last: Optional[JsonObject] = None
        for part in message["parts"]:
            role = "tool" if _is_result(part) else message["role"]
            if last is None or last["role"] != role:
                if last is not None:
                    yield last
                last = {"role": "tool", "parts": []} if role == "tool" else {**message, "parts": []}
            last["parts"].append(part)
        if last is not None:
            yield last


def _is_result(part: JsonObject) -> bool:
    return bool(part["type"] == "tool-result")


def _known(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
