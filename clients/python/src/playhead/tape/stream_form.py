"""Turns an answer into the form that a request asks for: events into one body, one body into events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Callable, Optional

from ..capture.anthropic_messages import anthropic_messages
from ..capture.gemini import gemini_embed, gemini_generate
from ..capture.json_value import JsonObject, parse_json, to_object, to_objects, to_text
from ..capture.model_api import ModelApi
from ..capture.ollama import ollama_chat, ollama_embed
from ..capture.openai_chat import openai_chat, openai_embeddings
from ..capture.openai_completions import openai_completions
from ..capture.openai_responses import openai_responses
from ..capture.wire import ReadCall
from ..serialize import write_json
from .other_streams import halves, stream_gemini, stream_ollama, without

# The APIs by their names in cassettes.
APIS: dict[str, ModelApi] = {
    "openai-chat": openai_chat,
    "openai-completions": openai_completions,
    "openai-responses": openai_responses,
    "openai-embeddings": openai_embeddings,
    "anthropic-messages": anthropic_messages,
    "gemini-generate": gemini_generate,
    "gemini-embed": gemini_embed,
    "ollama-chat": ollama_chat,
    "ollama-embed": ollama_embed,
}


def name_of_api(api: ModelApi) -> str:
    return next(name for name, known in APIS.items() if known is api)


def assemble_events(events: Sequence[Any], api: str) -> Optional[JsonObject]:
    """The answer that a request without streaming would have got; None if the events hold none."""
    if api not in APIS:
        return None
    assembler, is_empty = APIS[api].create_assembler(), True
    for _at_ms, text in events:
        for event in _data_of(text):
            assembler.add(event)
            is_empty = False
    return None if is_empty else assembler.response()


def _data_of(text: str) -> list[JsonObject]:
    """The JSON of an event: its data, a line of JSON, or a list of both."""
    lines = text.splitlines()
    data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
    found: list[Any] = []
    for value in map(parse_json, ["\n".join(data)] if data else lines):
        found += value if isinstance(value, list) else [value]
    return [event for event in found if isinstance(event, dict)]


def stream_body(body: JsonObject, api: str, call: Optional[ReadCall] = None) -> Optional[list[str]]:
    """The events of a streamed answer; None for an API that does not stream. Without a call they are those
    that a cassette keeps."""
    if api == "gemini-generate":
        return stream_gemini(body, is_listed=call is not None and call.is_listed)
    if api == "ollama-chat":
        return stream_ollama(body)
    stream = _STREAMERS.get(api)
    return None if stream is None else stream(body, call is None or call.has_usage)


def stream_type(api: str, call: ReadCall) -> str:
    if api == "ollama-chat":
        return "application/x-ndjson"
    return "application/json" if call.is_listed else "text/event-stream"


def _sse(data: Any, event: Optional[str] = None) -> str:
    name = "" if event is None else f"event: {event}\n"
    return f"{name}data: {data if isinstance(data, str) else write_json(data)}\n\n"


def _stream_chat(body: JsonObject, has_usage: bool) -> list[str]:
    head = {**without(body, "choices", "usage"), "object": "chat.completion.chunk"}
    events = [
        _sse({**head, "choices": [delta]})
        for choice in to_objects(body.get("choices"))
        for delta in _stream_choice(choice)
    ]
    if has_usage and body.get("usage") is not None:
        events.append(_sse({**head, "choices": [], "usage": body["usage"]}))
    return [*events, _sse("[DONE]")]


def _stream_choice(choice: JsonObject) -> list[JsonObject]:
    message, index = to_object(choice.get("message")), choice.get("index", 0)
    calls = to_objects(message.get("tool_calls"))
    rest = without(message, "content", "refusal", "tool_calls", "reasoning_content")
    fields: list[JsonObject] = [{**rest, "role": "assistant", "content": None if calls else ""}]
    for name in ("reasoning_content", "content", "refusal"):
        if to_text(message.get(name)) is not None:
            fields.append({name: message[name]})
    for position, call in enumerate(calls):
        called = to_object(call.get("function"))
        start = {**call, "index": position, "function": {**called, "arguments": ""}}
        fields.append({"tool_calls": [start if "function" in call else {**call, "index": position}]})
        for half in halves(called.get("arguments")):
            fields.append({"tool_calls": [{"index": position, "function": {"arguments": half}}]})
    deltas = [{"index": index, "delta": delta, "finish_reason": None} for delta in fields]
    return [*deltas, {"index": index, "delta": {}, "finish_reason": choice.get("finish_reason") or "stop"}]


def _stream_completions(body: JsonObject, has_usage: bool) -> list[str]:
    head = without(body, "choices", "usage")
    events = [_sse({**head, "choices": [choice]}) for choice in to_objects(body.get("choices"))]
    if has_usage and body.get("usage") is not None:
        events.append(_sse({**head, "choices": [], "usage": body["usage"]}))
    return [*events, _sse("[DONE]")]


def _stream_messages(body: JsonObject, _has_usage: bool) -> list[str]:
    def event(kind: str, **fields: Any) -> str:
        return _sse({"type": kind, **fields}, kind)

    usage = to_object(body.get("usage"))
    start = {
        **body,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    events = [event("message_start", message=start)]
    for index, block in enumerate(to_objects(body.get("content"))):
        begun, deltas = _stream_block(block)
        events.append(event("content_block_start", index=index, content_block=begun))
        events.extend(event("content_block_delta", index=index, delta=delta) for delta in deltas)
        events.append(event("content_block_stop", index=index))
    end = {"stop_reason": body.get("stop_reason"), "stop_sequence": body.get("stop_sequence")}
    counted = {"output_tokens": usage.get("output_tokens", 0)}
    return [*events, event("message_delta", delta=end, usage=counted), event("message_stop")]


def _stream_block(block: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    kind = block.get("type")
    if kind == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}] if block["text"] else []
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": half} for half in halves(block.get("thinking"))]
        if to_text(block.get("signature")) is not None:
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        given = json.dumps(block.get("input") or {}, ensure_ascii=False)
        return {**block, "input": {}}, [
            {"type": "input_json_delta", "partial_json": half} for half in halves(given)
        ]
    return block, []


def _stream_responses(body: JsonObject, _has_usage: bool) -> list[str]:
    events: list[str] = []

    def add(kind: str, **fields: Any) -> None:
        events.append(_sse({"type": kind, **fields, "sequence_number": len(events)}, kind))

    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    add("response.created", response=begun)
    add("response.in_progress", response=begun)
    for index, item in enumerate(to_objects(body.get("output"))):
        place = {"output_index": index, "item_id": item.get("id")}
        empty = _EMPTIED.get(str(item.get("type")), {})
        add("response.output_item.added", output_index=index, item={**item, **empty})
        for kind, fields in _stream_item(item):
            add(kind, **place, **fields)
        add("response.output_item.done", output_index=index, item=item)
    status = body.get("status")
    add(f"response.{status if status in ('failed', 'incomplete') else 'completed'}", response=body)
    return events


_EMPTIED: dict[str, JsonObject] = {
    "message": {"content": [], "status": "in_progress"},
    "function_call": {"arguments": "", "status": "in_progress"},
    "custom_tool_call": {"input": ""},
    "reasoning": {"summary": []},
}


def _stream_item(item: JsonObject) -> list[tuple[str, JsonObject]]:
    kind = item.get("type")
    events: list[tuple[str, JsonObject]] = []
    if kind == "message":
        for index, part in enumerate(to_objects(item.get("content"))):
            name, field = ("refusal", "refusal") if part.get("type") == "refusal" else ("output_text", "text")
            events.extend(_stream_part(part, "content", index, name, field))
    elif kind == "reasoning":
        for index, part in enumerate(to_objects(item.get("summary"))):
            events.extend(_stream_part(part, "summary", index, "reasoning_summary_text", "text"))
    elif kind in ("function_call", "custom_tool_call"):
        name, field = (
            ("function_call_arguments", "arguments")
            if kind == "function_call"
            else ("custom_tool_call_input", "input")
        )
        whole = to_text(item.get(field)) or ""
        events = [(f"response.{name}.delta", {"delta": half}) for half in halves(whole)]
        events.append((f"response.{name}.done", {"name": item.get("name"), field: whole}))
    return events


def _stream_part(
    part: JsonObject, where: str, index: int, name: str, field: str
) -> list[tuple[str, JsonObject]]:
    text = to_text(part.get(field)) or ""
    place = {f"{where}_index": index}
    logprobs: JsonObject = {"logprobs": []} if name == "output_text" else {}
    container = "content_part" if where == "content" else "reasoning_summary_part"
    deltas = [(f"response.{name}.delta", {**place, "delta": text, **logprobs})] if text else []
    return [
        (f"response.{container}.added", {**place, "part": {**part, field: ""}}),
        *deltas,
        (f"response.{name}.done", {**place, field: text, **logprobs}),
        (f"response.{container}.done", {**place, "part": part}),
    ]


_STREAMERS: dict[str, Callable[[JsonObject, bool], list[str]]] = {
    "openai-chat": _stream_chat,
    "openai-completions": _stream_completions,
    "openai-responses": _stream_responses,
    "anthropic-messages": _stream_messages,
}


def write_error(api: str, kind: str, message: str, status: int) -> JsonObject:
    """An error as the provider of the API writes it."""
    if api == "anthropic-messages":
        word = "rate_limit_error" if status == 429 else "invalid_request_error" if status == 400 else kind
        return {"type": "error", "error": {"type": word, "message": message}}
    if api.startswith("ollama"):
        return {"error": message}
    if api.startswith("gemini"):
        word = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED"}.get(status, "INTERNAL")
        return {"error": {"code": status, "message": message, "status": word}}
    family = (
        "rate_limit_error" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
    )
    return {"error": {"message": message, "type": family, "param": None, "code": kind}}
