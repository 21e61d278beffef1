"""One short line of what a step was given and of what it gave."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Optional

from ..format.json_text import compact_json, utf16_length, utf16_slice
from ..format.lines import WHITE_CHARACTERS, WHITE_SPACE

JsonObject = dict[str, Any]
MAX_LENGTH = 200
# Text beyond this is ignored, however much white space comes before it.
_MAX_LOOK = 4000
_FIRST_LOOK = 260
_MAX_DEPTH = 6
_TEXT_KEYS = (
    "text",
    "content",
    "output_text",
    "output",
    "answer",
    "response",
    "result",
    "message",
    "input",
)
# Names under which agents get what the user said.
_QUESTION_KEYS = ("question", "task", "query", "user_input", "prompt", "topic", "goal")
# What else an agent is given besides the question.
_INSTRUCTION_KEYS = re.compile(r"system|instruction|backstory|model", re.IGNORECASE)


def one_line(text: str) -> Optional[str]:
    """At most 200 characters; None when it would be empty."""
    folded = _fold(text, _FIRST_LOOK)
    if utf16_length(folded) <= MAX_LENGTH and utf16_length(text) > _FIRST_LOOK:
        folded = _fold(text, _MAX_LOOK)
    if utf16_length(folded) > MAX_LENGTH:
        return f"{utf16_slice(folded, MAX_LENGTH - 1)}…"
    return folded or None


def _fold(text: str, look: int) -> str:
    start = utf16_slice(text, look)
    is_foldable = "\n" in start or "  " in start or "\t" in start or "\r" in start
    return (WHITE_SPACE.sub(" ", start) if is_foldable else start).strip(WHITE_CHARACTERS)


def preview_json(value: Any) -> str:
    return compact_json(value, MAX_LENGTH, _MAX_DEPTH)


def is_meaningful(value: Any) -> bool:
    """False for empty values: None, NaN, "", {}, []."""
    if value is None or value == "" or value != value:
        return False
    return not (isinstance(value, (dict, list)) and len(value) == 0)


def preview_of_input(messages: Sequence[JsonObject]) -> Optional[str]:
    """The last message of a user or a tool."""
    for message in reversed(messages):
        if message.get("isOutput") or message["role"] in ("system", "assistant"):
            continue
        preview = _preview_of_parts(message["parts"])
        if preview is not None:
            return preview
    return None


def preview_of_output(messages: Sequence[JsonObject]) -> Optional[str]:
    """The reply: its text or its tool calls."""
    calls: list[JsonObject] = []
    for message in reversed(messages):
        if not message.get("isOutput"):
            break
        text = text_of_parts(message["parts"])
        if text is not None and message["role"] != "tool":
            return one_line(text)
        calls = [*message["parts"], *calls]
    return _preview_of_parts(calls)


def preview_of_user(messages: Sequence[JsonObject]) -> Optional[str]:
    """What the user said last, if tools have answered since."""
    has_tool_result = False
    for message in reversed(messages):
        if message.get("isOutput"):
            continue
        text = text_of_parts(message["parts"]) if message["role"] == "user" else None
        if text is not None:
            return one_line(text) if has_tool_result else None
        is_result = any(part["type"] == "tool-result" for part in message["parts"])
        has_tool_result = has_tool_result or is_result or message["role"].startswith("tool")
    return None


def _preview_of_parts(parts: Sequence[JsonObject]) -> Optional[str]:
    text = text_of_parts(parts)
    if text is not None:
        return one_line(text)
    calls = [part for part in parts if part["type"] == "tool-call"]
    if calls:
        return one_line(f"→ {', '.join(map(_describe_call, calls))}")
    for part in parts:
        if part["type"] == "tool-result":
            return preview_of_value(part.get("result"))
        if part["type"] == "media":
            return f"[{part['modality']}]"
        if part["type"] == "reasoning" and part.get("text") is not None:
            return one_line(part["text"])
    return None


def text_of_parts(parts: Sequence[JsonObject]) -> Optional[str]:
    text = ""
    for part in parts:
        words = part.get("text") if part["type"] in ("text", "refusal") else ""
        if not words:
            continue
        text = words if text == "" else f"{text} {words}"
        if len(text) > _MAX_LOOK:
            break
    return text or None


def _describe_call(call: JsonObject) -> str:
    return f"{call['name']}({preview_of_arguments(call['arguments']) or ''})"


def preview_of_arguments(value: Any) -> Optional[str]:
    """`key=value, key=value`, or JSON for a single unnamed argument."""
    if not isinstance(value, dict):
        return one_line(preview_json(value))
    text = ""
    for key, item in value.items():
        written = (
            f"{key}={utf16_slice(item, MAX_LENGTH + 1) if isinstance(item, str) else preview_json(item)}"
        )
        text = written if text == "" else f"{text}, {written}"
        if utf16_length(text) > MAX_LENGTH:
            break
    return one_line(text)


def preview_of_question(value: Any) -> Optional[str]:
    """As `preview_of_value`, for what an agent was given."""
    message = None
    if isinstance(value, dict):
        if not isinstance(value.get("messages"), list):
            for key in _QUESTION_KEYS:
                text = one_line(value[key]) if isinstance(value.get(key), str) else None
                if text is not None:
                    return text
            sentences = _sentences_in(value)
            if len(sentences) == 1:
                return one_line(sentences[0])
        message = next((item for item in value.values() if _is_user_message(item)), None)
    return preview_of_value(value if message is None else message)


def _sentences_in(value: JsonObject) -> list[str]:
    """The texts of more than a word among the settings of a run."""
    return [
        text
        for key, text in value.items()
        if isinstance(text, str)
        and " " in text.strip(WHITE_CHARACTERS)
        and _INSTRUCTION_KEYS.search(key) is None
    ]


def _is_user_message(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("role") != "user":
        return False
    return value.get("parts", value.get("content")) is not None


def preview_of_value(value: Any) -> Optional[str]:
    """Its text, or JSON."""
    if not is_meaningful(value):
        return None
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, dict):
        for key in _TEXT_KEYS:
            text = value.get(key)
            if isinstance(text, str) and text != "":
                return one_line(text)
    return one_line(preview_json(value))
