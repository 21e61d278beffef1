"""Answers of Gemini and Ollama as streams, and how any text is cut for one."""

from __future__ import annotations

from typing import Any

from ..capture.json_value import JsonObject, to_object, to_objects, to_text
from ..serialize import write_json


def stream_gemini(body: JsonObject, *, is_listed: bool) -> list[str]:
    head, chunks = without(body, "candidates", "usageMetadata"), []
    for candidate in to_objects(body.get("candidates")):
        parts = to_objects(to_object(candidate.get("content")).get("parts")) or [{"text": ""}]
        rest = without(candidate, "content", "finishReason")
        chunks += [{"content": {"role": "model", "parts": [part]}, **rest} for part in _cut_texts(parts)]
        chunks[-1]["finishReason"] = candidate.get("finishReason")
    events: list[JsonObject] = [{"candidates": [chunk], **head} for chunk in chunks] or [head]
    if body.get("usageMetadata") is not None:
        events[-1]["usageMetadata"] = body["usageMetadata"]
    return [write_json(events)] if is_listed else [f"data: {write_json(event)}\r\n\r\n" for event in events]


def _cut_texts(parts: list[JsonObject]) -> list[JsonObject]:
    return [
        {**part, "text": piece} if piece else part
        for part in parts
        for piece in (halves(part.get("text")) or [""])
    ]


def stream_ollama(body: JsonObject) -> list[str]:
    """Chat has a message, generate a response."""
    head = {name: body[name] for name in ("model", "created_at") if name in body}
    end = without(body, "model", "created_at", "message", "response", "thinking")
    message = to_object(body.get("message"))
    is_chat = "message" in body

    def line(**fields: Any) -> str:
        return f"{write_json({**head, **fields})}\n"

    def part(**fields: Any) -> JsonObject:
        return {"message": {"role": "assistant", "content": "", **fields}} if is_chat else fields

    thoughts = halves(message.get("thinking") or body.get("thinking"))
    texts = halves(message.get("content") if is_chat else body.get("response"))
    word = "content" if is_chat else "response"
    lines = [line(**part(thinking=thought), done=False) for thought in thoughts]
    lines += [line(**part(**{word: text}), done=False) for text in texts]
    lines += [line(**part(tool_calls=[call]), done=False) for call in to_objects(message.get("tool_calls"))]
    return [*lines, line(**({} if is_chat else {"response": ""}), **part(), **end)]


def halves(text: Any) -> list[str]:
    """Cuts a text in two, so that clients have to put it together again."""
    whole = to_text(text) or ""
    middle = len(whole) // 2
    return [half for half in (whole[:middle], whole[middle:]) if half]


def without(source: JsonObject, *names: str) -> JsonObject:
    return {name: value for name, value in source.items() if name not in names}
