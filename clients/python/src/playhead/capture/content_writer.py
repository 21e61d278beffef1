"""Writes messages as attribute values: redacted, truncated to the limit, or without content."""

from __future__ import annotations

from typing import Any, Callable

from ..serialize import write_json
from .json_value import JsonObject
from .model_api import Message, Part

NOT_RECORDED = "[not recorded]"
# No real message nests deeper.
MAX_DEPTH = 100
# Shorter texts, such as ids, names and roles, are never truncated.
MIN_CUT = 64
MARK = 40


class ContentWriter:
    def __init__(self, is_content_kept: bool, redact: Callable[[str, str], str], max_length: int) -> None:
        self._is_content_kept = is_content_kept
        self._redact_text = redact
        self._max_length = max_length
        # True once something was truncated.
        self.is_cut = False

    def messages(self, messages: list[Message]) -> str:
        return self._write(
            [{**one, "parts": [self._part(part) for part in one["parts"]]} for one in messages]
        )

    def parts(self, parts: list[Part]) -> str:
        return self._write([self._part(part) for part in parts])

    def tools(self, tools: list[JsonObject]) -> str:
        if self._is_content_kept:
            return self._write([self._redact(tool, 0) for tool in tools])
        return self._write([{"type": tool["type"], "name": tool["name"]} for tool in tools])

    def text(self, text: str) -> str:
        """Text outside the conversation: an error message, a parameter."""
        kept = self._redact_text(text, "text")
        if len(kept) <= self._max_length:
            return kept
        self.is_cut = True
        return _cut(kept, self._max_length - MARK)

    def _write(self, values: list[Any]) -> str:
        """Truncates the longest texts to one length. If that is not enough, leaves out the middle."""
        text = write_json(values)
        if len(text) <= self._max_length:
            return text
        self.is_cut = True
        limit = self._max_length
        while limit > MIN_CUT:
            limit //= 2
            shorter = [_cut_texts(value, limit) for value in values]
            text = write_json(shorter)
            if len(text) <= self._max_length:
                return text
        return self._leave_out_middle([_cut_texts(value, MIN_CUT) for value in values])

    def _leave_out_middle(self, values: list[Any]) -> str:
        kept = [write_json(value) for value in values]
        first, rest = kept[:1], kept[1:]
        left = 0
        while rest and sum(map(len, first + rest)) + 4 * MARK > self._max_length:
            rest.pop(0)
            left += 1
        note = {"role": "system", "parts": [{"type": "text", "content": f"… [{left} more left out]"}]}
        text = "[" + ",".join([*first, write_json(note), *rest]) + "]"
        return text if len(text) <= self._max_length else "[]"

    def _part(self, part: Part) -> Any:
        if part.get("type") == "blob":
            return self._blob(part)
        return self._redact(part, 0) if self._is_content_kept else _without_content(part)

    def _blob(self, part: Part) -> Part:
        """Large media is replaced by its size."""
        content = str(part.get("content") or "")
        is_large = len(content) > self._max_length / 4
        if self._is_content_kept and not is_large:
            return part
        self.is_cut = self.is_cut or is_large
        rest = {key: value for key, value in part.items() if key != "content"}
        return {**rest, "type": "uri", "uri": f"blob:not-recorded?bytes={len(content) * 3 // 4}"}

    def _redact(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._redact_text(value, "text")
        if depth > MAX_DEPTH:
            return NOT_RECORDED
        if isinstance(value, list):
            return [self._redact(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {key: self._redact(item, depth + 1) for key, item in value.items()}
        return value


def _without_content(part: Part) -> Part:
    """Keeps the roles and types, drops the content."""
    kind = part.get("type")
    if kind in ("text", "refusal", "reasoning"):
        return {"type": kind, "content": f"[{len(str(part.get('content') or ''))} characters]"}
    if kind in ("tool_call", "server_tool_call"):
        return {**part, "arguments": NOT_RECORDED}
    if kind in ("tool_call_response", "server_tool_call_response"):
        return {**part, "response": NOT_RECORDED}
    if kind == "uri":
        return {**part, "uri": "blob:not-recorded"}
    return {"type": "other", "value": NOT_RECORDED} if kind == "other" else part


def _cut_texts(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return _cut(value, limit)
    if isinstance(value, list):
        return [_cut_texts(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _cut_texts(item, limit) for key, item in value.items()}
    return value


def _cut(text: str, limit: int) -> str:
    return (
        text if len(text) <= max(limit, MIN_CUT) else f"{text[:limit]}… [{limit} of {len(text)} characters]"
    )
