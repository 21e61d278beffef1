"""Writes messages as attribute values: redacted, truncated to the limit, or without content."""

from __future__ import annotations

from typing import Any, Optional

from ..redaction.redact import Redactor
from ..redaction.redact_json import redact_response
from ..serialize import write_json
from .json_value import JsonObject
from .model_api import Message, Part

NOT_RECORDED = "[not recorded]"
# No real message nests deeper.
MAX_DEPTH = 100
# Shorter texts, such as ids, names and roles, are never truncated.
MIN_CUT = 64
MARK = 40
_TEXT_ATTRIBUTES = ("gen_ai.request.stop_sequences", "gen_ai.request.response_format")
# What responses repeat from their request.
_REPEATED_FIELDS = frozenset(["tools", "instructions", "text", "input", "prompt"])


class ContentWriter:
    def __init__(self, is_content_kept: bool, redactor: Redactor, max_length: int) -> None:
        self._is_content_kept = is_content_kept
        self._redactor = redactor
        self._redact_text = redactor.text
        self._max_length = max_length
        # True once something was truncated.
        self.is_cut: bool = False

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

    def parameters(self, given: JsonObject) -> JsonObject:
        """Parameters by the name of their attribute; some hold text of the user or the developer."""
        parameters = dict(given)
        for name in _TEXT_ATTRIBUTES:
            value = parameters.pop(name, None)
            if value is None or not self._is_content_kept:
                continue
            is_list = isinstance(value, list)
            parameters[name] = [self.text(item) for item in value] if is_list else self.text(value)
        return parameters

    def response(self, body: JsonObject) -> Optional[str]:
        """The provider's own response. None if content is off or it is too long: half of it is of no use."""
        if not self._is_content_kept:
            return None
        kept = {name: value for name, value in body.items() if name not in _REPEATED_FIELDS}
        text = write_json(redact_response(kept, self._redactor))
        return text if len(text) <= self._max_length else None

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
        shortest = [_cut_texts(value, MIN_CUT) for value in values]
        if len(write_json(shortest)) > self._max_length:
            return self._leave_out_middle(shortest)
        limit = self._max_length
        while len(text) > self._max_length:
            limit //= 2
            text = write_json([_cut_texts(value, limit) for value in values])
        return text

    def _leave_out_middle(self, values: list[Any]) -> str:
        kept = [write_json(value) for value in values]
        # Each takes a comma or a bracket too.
        length = sum(map(len, kept)) + len(kept) + 4 * MARK
        left = 0
        while left < len(kept) - 1 and length > self._max_length:
            left += 1
            length -= len(kept[left]) + 1
        first, rest = kept[:1], kept[left + 1 :]
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
