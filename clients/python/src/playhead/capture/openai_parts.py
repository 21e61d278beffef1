"""Parts of messages that chat completions and responses share, and media of any provider."""

from __future__ import annotations

import re
from typing import Any, Optional

from .json_value import (
    JsonObject,
    parse_arguments,
    parse_result,
    to_object,
    to_objects,
    to_text,
    without_none,
)
from .model_api import Part

_TEXT_TYPES = ("text", "input_text", "output_text", "summary_text", "reasoning_text")
_DATA_URL = re.compile(r"data:([^;,]*)[^,]*,")


def parts_of_content(content: Any) -> list[Part]:
    """Content is text or a list of parts."""
    if isinstance(content, str):
        return text_parts("text", content)
    if not isinstance(content, list):
        return []
    parts: list[Part] = []
    for item in content:
        parts.extend(parts_of_content(item) if isinstance(item, str) else _parts_of(to_object(item)))
    return parts


def _parts_of(raw: JsonObject) -> list[Part]:
    kind = raw.get("type")
    if kind in _TEXT_TYPES:
        return text_parts("text", raw.get("text"))
    if kind == "refusal":
        return text_parts("refusal", raw.get("refusal"))
    if kind == "thinking":
        return text_parts("reasoning", join_texts(raw.get("thinking")))
    if kind in ("image_url", "input_image"):
        return [_image(raw)]
    if kind == "input_audio":
        audio = to_object(raw.get("input_audio"))
        return [media_of(str(audio.get("data")), "audio", f"audio/{audio.get('format')}")]
    if kind in ("file", "input_file"):
        return [_file(raw["file"] if isinstance(raw.get("file"), dict) else raw)]
    return [{"type": "other", "value": raw}]


def text_parts(kind: str, text: Any) -> list[Part]:
    """One part, or none when there is no text."""
    content = to_text(text)
    return [] if content is None else [{"type": kind, "content": content}]


def join_texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = (to_text(part.get("text")) for part in to_objects(content))
    return "\n".join(text for text in texts if text is not None)


def function_call_part(raw: JsonObject) -> Part:
    """Chat nests the call below `function`, responses do not."""
    call = to_object(raw.get("function") or raw.get("custom") or raw)
    call_id = to_text(raw.get("call_id")) or to_text(raw.get("id"))
    given = call.get("arguments", call.get("input"))
    part = {"id": call_id, "name": to_text(call.get("name")) or ""}
    return {"type": "tool_call", **without_none(part), "arguments": parse_arguments(given)}


def tool_result_part(call_id: Any, content: Any) -> Part:
    parts = parts_of_content(content)
    response: Any = parts
    if len(parts) == 1 and parts[0]["type"] == "text":
        response = parse_result(parts[0]["content"])
    elif not parts:
        response = "" if content is None else content
    part = {"type": "tool_call_response", "id": to_text(call_id)}
    return {**without_none(part), "response": response}


def media_at(address: str, modality: str, mime_type: Optional[str] = None) -> Part:
    """Media by its URL; a data URL holds the bytes."""
    inline = _DATA_URL.match(address)
    if inline is None:
        return without_none({"type": "uri", "modality": modality, "mime_type": mime_type, "uri": address})
    return media_of(address[inline.end() :], modality, inline.group(1) or mime_type)


def media_of(base64: str, modality: str, mime_type: Optional[str] = None) -> Part:
    return without_none({"type": "blob", "modality": modality, "mime_type": mime_type, "content": base64})


def media_in_file(file_id: str, modality: str) -> Part:
    return {"type": "file", "modality": modality, "file_id": file_id}


def _image(raw: JsonObject) -> Part:
    address = to_text(raw.get("image_url")) or to_text(to_object(raw.get("image_url")).get("url"))
    if address is not None:
        return media_at(address, "image")
    file_id = to_text(raw.get("file_id"))
    return {"type": "other", "value": raw} if file_id is None else media_in_file(file_id, "image")


def _file(raw: JsonObject) -> Part:
    file_id = to_text(raw.get("file_id"))
    if file_id is not None:
        return media_in_file(file_id, "file")
    data = to_text(raw.get("file_data")) or to_text(raw.get("file_url"))
    return {"type": "other", "value": raw} if data is None else media_at(data, "file")
