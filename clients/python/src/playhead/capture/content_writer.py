"""Turns what was said into the values of attributes: redacted, within the limit, or without its text."""

from __future__ import annotations

from typing import Any, Callable

from ..serialize import write_json
from .json_value import JsonObject
from .model_api import Message, Part

NOT_RECORDED = "[not recorded]"
# Deeper values are no message of a model.
MAX_DEPTH = 100
# Shorter texts are left whole: ids, names, roles.
MIN_CUT = 64
MARK = 40


class ContentWriter:
    def __init__(self, is_content_kept: bool, redact: Callable[[str, str], str], max_length: int) -> None:
        self._is_content_kept = is_content_kept
        self._redact_text = redact
        self._max_length = max_length
        # True once something was left out for its size.
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
        """A text that is no part of the conversation: a provider's message, a parameter."""
        kept = self._redact_text(text, "text")
        if len(kept) <= self._max_length:
            return kept
        self.is_cut = True
        return _cut(kept, self._max_length - MARK)

    def _write(self, values: list[Any]) -> str:
        """The longest texts are cut, all to the same length; when that is not enough, the middle is left
        out."""
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
        """Bytes that would fill the limit alone are named, not kept."""
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
    """Who said what kind of thing, without what was said."""
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
