"""Anthropic's messages API, at Anthropic, Bedrock and Vertex."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from ..serialize import write_json
from .json_value import (
    JsonObject,
    parse_arguments,
    parse_result,
    to_number,
    to_object,
    to_objects,
    to_text,
    without_none,
)
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
    provider_error,
    request_attributes,
)
from .openai_chat import append
from .openai_parts import media_at, media_in_file, media_of, text_parts
from .usage import anthropic_usage

_PARAMETERS = {
    **request_attributes("temperature", "top_p", "top_k", "max_tokens", "stop_sequences", "stream"),
    **request_attributes("tool_choice", "thinking", "service_tier"),
}
# On Bedrock and Vertex the path names the model, and whether the response streams.
_MODEL_IN_PATH = re.compile(r"/(?:model|models)/([^/:]+(?::\d+)?)(?:/invoke|:(?:stream)?[rR]awPredict)")
_STREAM_IN_PATH = re.compile(r"/invoke-with-response-stream$|:streamRawPredict$")


def _read_request(body: JsonObject, path: str) -> ModelRequest:
    in_path = _MODEL_IN_PATH.search(unquote(path))
    is_stream = body.get("stream") is True or _STREAM_IN_PATH.search(path) is not None
    attributes = attributes_from({**body, "stream": is_stream or None}, _PARAMETERS)
    wanted = body.get("output_format") or to_object(body.get("output_config")).get("format")
    if isinstance(wanted, dict):
        attributes["gen_ai.request.response_format"] = write_json(wanted)
        attributes.update(output_type(wanted.get("type")))
    return ModelRequest(
        "chat",
        model=to_text(body.get("model")) or (in_path.group(1) if in_path else None),
        is_stream=is_stream,
        system=_parts_of(body.get("system")),
        messages=[message for raw in to_objects(body.get("messages")) for message in _messages_of(raw)],
        tools=[define_tool(tool, to_text(tool.get("type"))) for tool in to_objects(body.get("tools"))],
        attributes=attributes,
    )


def _messages_of(raw: JsonObject) -> list[Message]:
    """Anthropic sends tool results in user messages; here they are messages of their own, in that order."""
    role = to_text(raw.get("role")) or "user"
    messages: list[Message] = []
    for part in _parts_of(raw.get("content")):
        part_role = "tool" if part["type"] == "tool_call_response" else role
        if not messages or messages[-1]["role"] != part_role:
            messages.append({"role": part_role, "parts": []})
        messages[-1]["parts"].append(part)
    return messages or [{"role": role, "parts": []}]


def _parts_of(content: Any) -> list[Part]:
    """Content is text or a list of blocks. Empty text is left out."""
    if isinstance(content, str):
        return text_parts("text", content)
    parts = [_part_of(block) for block in to_objects(content)]
    return [part for part in parts if part != {"type": "text", "content": ""}]


def _part_of(block: JsonObject) -> Part:
    kind = to_text(block.get("type")) or ""
    if kind == "text":
        return {"type": "text", "content": to_text(block.get("text")) or ""}
    if kind == "thinking":
        return {"type": "reasoning", "content": to_text(block.get("thinking")) or ""}
    if kind == "redacted_thinking":
        return {"type": "redacted_thinking"}
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        call = {"id": to_text(block.get("id")), "name": to_text(block.get("name")) or ""}
        call_type = "tool_call" if kind == "tool_use" else "server_tool_call"
        return {"type": call_type, **without_none(call), "arguments": parse_arguments(block.get("input"))}
    if kind.endswith("tool_result"):
        return _result_part(
            block, "tool_call_response" if kind == "tool_result" else "server_tool_call_response"
        )
    if kind in ("image", "document"):
        return _media_part(kind, to_object(block.get("source")), block)
    return {"type": "other", "value": block}


def _result_part(block: JsonObject, kind: str) -> Part:
    content = block.get("content")
    response: Any = "" if content is None else content
    if isinstance(content, list):
        response = _parts_of(content)
        if len(response) == 1 and response[0]["type"] == "text":
            response = response[0]["content"]
    if isinstance(response, str):
        response = parse_result(response)
    part = without_none({"type": kind, "id": to_text(block.get("tool_use_id"))})
    return {**part, "response": response, **({"is_error": True} if block.get("is_error") is True else {})}


def _media_part(kind: str, source: JsonObject, block: JsonObject) -> Part:
    mime_type = to_text(source.get("media_type"))
    family = (mime_type or "").split("/", 1)[0]
    modality = "image" if kind == "image" else family if family in ("image", "audio", "video") else "file"
    url, file_id, data = (to_text(source.get(name)) for name in ("url", "file_id", "data"))
    if url is not None:
        return media_at(url, modality)
    if file_id is not None:
        return media_in_file(file_id, modality)
    if data is None:
        return {"type": "other", "value": block}
    is_text = source.get("type") == "text"
    return {"type": "text", "content": data} if is_text else media_of(data, modality, mime_type)


def _read_response(body: JsonObject) -> ModelResponse:
    parts = _parts_of(body.get("content"))
    reason = to_text(body.get("stop_reason"))
    message = without_none({"role": "assistant", "parts": parts, "finish_reason": reason})
    usage = to_object(body.get("usage"))
    return ModelResponse(
        id=to_text(body.get("id")),
        model=to_text(body.get("model")),
        messages=[message] if parts else [],
        finish_reasons=[] if reason is None else [reason],
        usage=anthropic_usage(usage),
        attributes=attributes_from(usage, {"service_tier": "gen_ai.response.service_tier"}),
        error=provider_error(body) if body.get("error") else None,
    )


class MessageAssembler:
    def __init__(self) -> None:
        self._message: JsonObject = {}
        self._blocks: dict[int, JsonObject] = {}
        self._partial_inputs: dict[int, str] = {}

    def add(self, event: JsonObject) -> StreamDelta:
        kind = event.get("type")
        index = to_number(event.get("index")) or 0
        if kind == "message_start":
            self._message = dict(to_object(event.get("message")))
        elif kind == "content_block_start":
            self._blocks[index] = dict(to_object(event.get("content_block")))
        elif kind == "content_block_delta":
            return self._add_delta(index, to_object(event.get("delta")))
        elif kind == "message_delta":
            self._finish(to_object(event.get("delta")), to_object(event.get("usage")))
        elif kind == "error":
            self._message["error"] = event.get("error")
            return StreamDelta(is_last=True)
        return StreamDelta(is_last=kind == "message_stop")

    def response(self) -> JsonObject:
        blocks = []
        for index in sorted(self._blocks):
            block = self._blocks[index]
            partial = self._partial_inputs.get(index)
            blocks.append(block if not partial else {**block, "input": parse_arguments(partial)})
        return {**self._message, "content": blocks}

    def _add_delta(self, index: int, delta: JsonObject) -> StreamDelta:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        text = to_text(delta.get("text"))
        if text is not None:
            append(block, "text", text)
            return StreamDelta(text, True)
        thinking, partial = to_text(delta.get("thinking")), to_text(delta.get("partial_json"))
        append(block, "thinking", thinking)
        if partial is not None:
            self._partial_inputs[index] = self._partial_inputs.get(index, "") + partial
        return StreamDelta(is_token=thinking is not None or partial is not None)

    def _finish(self, delta: JsonObject, usage: JsonObject) -> None:
        """Merges the usage into that of the start; a repeated count replaces the earlier one."""
        for name in ("stop_reason", "stop_sequence"):
            if name in delta:
                self._message[name] = delta[name]
        self._message["usage"] = {**to_object(self._message.get("usage")), **without_none(usage)}


anthropic_messages: ModelApi = ModelApi("anthropic.messages", _read_request, _read_response, MessageAssembler)
