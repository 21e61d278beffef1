"""Know which call a later one goes on from, outside of any session."""

from __future__ import annotations

from typing import Any, Optional

from ..span import Span
from .model_api import Message, ModelRequest, ModelResponse

# A bound for programs that never end: the oldest are forgotten.
MAX_KEYS = 2_000
# How much of the first message tells conversations apart whose tool calls have the same ids.
MAX_TEXT = 200


class Conversations:
    """A call that sends the results of tools continues the call that asked for them.

    Outside of any session each call is a trace of its own, and this is what makes one session of them.
    """

    def __init__(self) -> None:
        self._steps: dict[str, str] = {}

    def find(self, request: ModelRequest) -> Optional[str]:
        if not self._steps:
            return None
        found = (self._steps.get(key) for key in _keys_of_request(request))
        return next((step for step in found if step is not None), None)

    def remember(self, span: Span, request: ModelRequest, response: ModelResponse) -> None:
        step = f"{span.trace_id}-{span.id}"
        start = _start_of(request)
        keys = [start + call for call in _tool_calls(response.messages)]
        if response.id is not None:
            keys.append(f"response {response.id}")
        for key in keys:
            self._steps.pop(key, None)
            self._steps[key] = step
        for key in list(self._steps)[: max(0, len(self._steps) - MAX_KEYS)]:
            self._steps.pop(key, None)


def _keys_of_request(request: ModelRequest) -> list[str]:
    messages = request.messages
    answered = _last_with(messages, "tool_call_response", len(messages))
    # Without results it is a new turn of the user, not the same run.
    if answered is None:
        return []
    previous = request.attributes.get("gen_ai.request.previous_response_id")
    if isinstance(previous, str):
        return [f"response {previous}"]
    # Only what was just answered: earlier tool calls are those of earlier calls.
    asked = _last_with(messages, "tool_call", answered + 1)
    if asked is None:
        return []
    start = _start_of(request)
    return [start + call for call in _tool_calls([messages[asked]])]


def _last_with(messages: list[Message], kind: str, end: int) -> Optional[int]:
    indices = (index for index in range(end - 1, -1, -1) if _parts(messages[index], kind))
    return next(indices, None)


def _parts(message: Message, kind: str) -> list[Any]:
    parts = message.get("parts")
    return [part for part in parts if part.get("type") == kind] if isinstance(parts, list) else []


def _tool_calls(messages: list[Message]) -> list[str]:
    calls = (part for message in messages for part in _parts(message, "tool_call"))
    return [f"{call.get('name')} {call.get('id') or call.get('arguments')!r}" for call in calls]


def _start_of(request: ModelRequest) -> str:
    """Some servers count their tool calls, so ids alone would join strangers."""
    users = (message for message in request.messages if message.get("role") == "user")
    first = next(users, request.messages[0] if request.messages else {})
    return f"{str(first.get('parts'))[:MAX_TEXT]} "
