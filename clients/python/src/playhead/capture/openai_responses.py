"""OpenAI's responses API."""

from __future__ import annotations

import copy
from typing import Any, Optional

from .json_value import JsonObject, parse_arguments, to_number, to_object, to_objects, to_text, without_none
from .model_api import (
    Message,
    ModelApi,
    ModelRequest,
    ModelResponse,
    Part,
    StreamDelta,
    attributes_from,
    define_tool,
    output_type,
    request_attributes,
)
from .openai_chat import append, openai_response
from .openai_parts import function_call_part, join_texts, parts_of_content, text_parts, tool_result_part

_PARAMETERS = {
    **request_attributes("temperature", "top_p", "stream", "reasoning", "tool_choice", "parallel_tool_calls"),
    **request_attributes("max_tool_calls", "previous_response_id", "truncation", "background"),
    "max_output_tokens": "gen_ai.request.max_tokens",
    "text": "gen_ai.request.response_format",
    "service_tier": "openai.request.service_tier",
}


def _read_request(body: JsonObject, _path: str) -> ModelRequest:
    conversation = to_text(body.get("conversation")) or to_text(to_object(body.get("conversation")).get("id"))
    response_format = to_object(to_object(body.get("text")).get("format"))
    kind = response_format.get("type")
    attributes = {
        **attributes_from({**body, "text": None if kind is None else response_format}, _PARAMETERS),
        **output_type(kind),
    }
    if conversation is not None:
        attributes["gen_ai.conversation.id"] = conversation
    return ModelRequest(
        "chat",
        model=to_text(body.get("model")),
        is_stream=body.get("stream") is True,
        system=parts_of_content(body.get("instructions")),
        messages=_messages_of(body.get("input")),
        tools=[define_tool(tool, to_text(tool.get("type"))) for tool in to_objects(body.get("tools"))],
        attributes=attributes,
    )


def _messages_of(items: Any) -> list[Message]:
    if isinstance(items, str):
        return [{"role": "user", "parts": parts_of_content(items)}]
    return [_message_of(item) for item in to_objects(items)]


def _message_of(item: JsonObject) -> Message:
    role = to_text(item.get("role"))
    if role is not None:
        return {
            "role": "system" if role == "developer" else role,
            "parts": parts_of_content(item.get("content")),
        }
    kind = to_text(item.get("type")) or ""
    if kind.endswith("_output"):
        return {"role": "tool", "parts": [tool_result_part(item.get("call_id"), item.get("output"))]}
    return {"role": "assistant", "parts": [_item_part(kind, item)]}


_ITEM_FIELDS = ("id", "call_id", "type", "status", "name", "arguments")


def _item_part(kind: str, item: JsonObject) -> Part:
    if kind == "reasoning":
        text = join_texts(item.get("summary")) or join_texts(item.get("content"))
        return next(iter(text_parts("reasoning", text)), {"type": "redacted_thinking"})
    if kind in ("function_call", "custom_tool_call"):
        return function_call_part(item)
    if not kind.endswith("_call"):
        return {"type": "other", "value": item}
    # A tool that ran at OpenAI. It is named by its type, and some have fields of their own as arguments.
    fields = {name: value for name, value in item.items() if name not in _ITEM_FIELDS}
    given = item.get("arguments")
    part = {
        "type": "server_tool_call",
        "id": to_text(item.get("call_id")) or to_text(item.get("id")),
        "name": to_text(item.get("name")) or kind[: -len("_call")],
        "arguments": fields.get("action", fields) if given is None else parse_arguments(given),
    }
    return without_none(part)


def _read_response(body: JsonObject) -> ModelResponse:
    """Joins the items of the output into one message."""
    parts: list[Part] = []
    for item in to_objects(body.get("output")):
        is_message = item.get("type") == "message"
        parts.extend(parts_of_content(item.get("content")) if is_message else _message_of(item)["parts"])
    reason = _finish_reason(body, parts)
    message = {"role": "assistant", "parts": parts, "finish_reason": reason or "error"}
    return openai_response(body, [message] if parts else [], [] if reason is None else [reason])


def _finish_reason(body: JsonObject, parts: list[Part]) -> Optional[str]:
    """Responses have a status instead of a finish reason."""
    status = body.get("status")
    if status == "incomplete":
        return to_text(to_object(body.get("incomplete_details")).get("reason")) or "length"
    if status != "completed":
        return None if status == "in_progress" else to_text(status)
    return "tool_calls" if any(part["type"] == "tool_call" for part in parts) else "stop"


_ENDS = ("response.completed", "response.incomplete", "response.failed", "error")
# Where each kind of delta is appended: the list of the item, the field and type of the part; and whether a
# user sees it.
_DELTAS = {
    "response.output_text.delta": ("content", "text", "output_text", True),
    "response.refusal.delta": ("content", "refusal", "refusal", True),
    "response.reasoning_summary_text.delta": ("summary", "text", "summary_text", False),
    "response.reasoning_text.delta": ("content", "text", "reasoning_text", False),
}
_ARGUMENT_DELTAS = {
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


class ResponseAssembler:
    """The last event holds the whole response; the others matter when the stream breaks off."""

    def __init__(self) -> None:
        self._response: JsonObject = {}
        self._items: dict[int, JsonObject] = {}

    def add(self, event: JsonObject) -> StreamDelta:
        kind = to_text(event.get("type")) or ""
        if isinstance(event.get("response"), dict):
            self._response = event["response"]
        if kind == "error":
            error = {"code": event.get("code"), "message": event.get("message")}
            self._response = {**self._response, "error": to_object(event.get("error")) or error}
        if kind in _ENDS:
            return StreamDelta(is_last=True)
        index = to_number(event.get("output_index")) or 0
        if isinstance(event.get("item"), dict):
            self._items[index] = copy.deepcopy(event["item"])
        return self._add_delta(kind, index, event)

    def response(self) -> JsonObject:
        output = self._response.get("output")
        if isinstance(output, list) and output:
            return self._response
        return {**self._response, "output": [self._items[index] for index in sorted(self._items)]}

    def _add_delta(self, kind: str, index: int, event: JsonObject) -> StreamDelta:
        text = to_text(event.get("delta"))
        if text is None or (kind not in _DELTAS and kind not in _ARGUMENT_DELTAS):
            return StreamDelta()
        item = self._items.setdefault(index, {"type": "message", "content": []})
        if kind in _ARGUMENT_DELTAS:
            append(item, _ARGUMENT_DELTAS[kind], text)
            return StreamDelta(is_token=True)
        list_name, field, part_type, is_visible = _DELTAS[kind]
        parts = item.setdefault(list_name, [])
        place = to_number(event.get("content_index"))
        place = place if place is not None else to_number(event.get("summary_index")) or 0
        while len(parts) <= place:
            parts.append({"type": part_type})
        append(parts[place], field, text)
        return StreamDelta(text if is_visible else "", True)


openai_responses: ModelApi = ModelApi("openai.responses", _read_request, _read_response, ResponseAssembler)
