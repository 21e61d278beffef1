"""Chat completions of OpenAI and of every host that is compatible with it, and embeddings."""

from __future__ import annotations

import re
from typing import Any

from .json_value import JsonObject, to_number, to_object, to_objects, to_text, without_none
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
from .openai_parts import (
    function_call_part,
    join_texts,
    media_of,
    parts_of_content,
    text_parts,
    tool_result_part,
)
from .usage import openai_usage

_PARAMETERS = {
    **request_attributes("temperature", "top_p", "top_k", "max_tokens", "frequency_penalty"),
    **request_attributes("presence_penalty", "seed", "stream", "reasoning_effort", "verbosity"),
    **request_attributes("response_format", "tool_choice", "parallel_tool_calls"),
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "n": "gen_ai.request.choice.count",
    "stop": "gen_ai.request.stop_sequences",
    "service_tier": "openai.request.service_tier",
}
# Azure names the model in the path: /openai/deployments/gpt-4o/chat/completions.
_DEPLOYMENT = re.compile(r"/deployments/([^/]+)/")


def chat_parameters(body: JsonObject) -> JsonObject:
    stop = body.get("stop")
    asked = {**body, "stop": [stop] if isinstance(stop, str) else stop}
    return {
        **attributes_from(asked, _PARAMETERS),
        **output_type(to_object(body.get("response_format")).get("type")),
    }


def openai_response(body: JsonObject, messages: list[Message], finish_reasons: list[str]) -> ModelResponse:
    """Adds the fields that responses of OpenAI's APIs share."""
    names = {
        "service_tier": "openai.response.service_tier",
        "system_fingerprint": "openai.response.system_fingerprint",
    }
    return ModelResponse(
        id=to_text(body.get("id")),
        model=to_text(body.get("model")),
        messages=messages,
        finish_reasons=finish_reasons,
        usage=openai_usage(body.get("usage")),
        attributes=attributes_from(body, names),
        error=provider_error(body) if body.get("error") else None,
    )


def _read_request(body: JsonObject, path: str) -> ModelRequest:
    deployment = _DEPLOYMENT.search(path)
    tools = []
    for raw in to_objects(body.get("tools") or body.get("functions")):
        definition = to_object(raw.get("function") or raw.get("custom") or raw)
        tools.append(define_tool(definition, to_text(raw.get("type"))))
    return ModelRequest(
        "chat",
        model=to_text(body.get("model")) or (deployment.group(1) if deployment else None),
        is_stream=body.get("stream") is True,
        messages=[read_chat_message(raw) for raw in to_objects(body.get("messages"))],
        tools=tools,
        attributes=chat_parameters(body),
    )


def read_chat_message(raw: JsonObject) -> Message:
    role = "system" if raw.get("role") == "developer" else to_text(raw.get("role")) or "user"
    if role in ("tool", "function"):
        parts = [tool_result_part(raw.get("tool_call_id") or raw.get("tool_name"), raw.get("content"))]
        role = "tool"
    else:
        parts = _message_parts(raw)
    return {**without_none({"role": role, "name": to_text(raw.get("name"))}), "parts": parts}


def _message_parts(raw: JsonObject) -> list[Part]:
    parts = [
        *text_parts("reasoning", raw.get("reasoning_content") or raw.get("reasoning") or raw.get("thinking")),
        *parts_of_content(raw.get("content")),
        *text_parts("refusal", raw.get("refusal")),
        *(function_call_part(call) for call in to_objects(raw.get("tool_calls"))),
    ]
    if isinstance(raw.get("function_call"), dict):
        parts.append(function_call_part(raw["function_call"]))
    audio = to_object(raw.get("audio"))
    parts.extend(text_parts("text", audio.get("transcript")))
    if to_text(audio.get("data")) is not None:
        parts.append(media_of(audio["data"], "audio"))
    return [*parts, *parts_of_content(to_objects(raw.get("images")))]


def _read_response(body: JsonObject) -> ModelResponse:
    choices = sorted(to_objects(body.get("choices")), key=lambda choice: to_number(choice.get("index")) or 0)
    messages: list[Message] = []
    for choice in choices:
        message = read_chat_message({"role": "assistant", **to_object(choice.get("message"))})
        reason = to_text(choice.get("finish_reason"))
        messages.append(message if reason is None else {**message, "finish_reason": reason})
    return openai_response(
        body,
        messages=[message for message in messages if message["parts"] or "finish_reason" in message],
        finish_reasons=[message["finish_reason"] for message in messages if "finish_reason" in message],
    )


class ChatAssembler:
    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._choices: dict[int, JsonObject] = {}

    def add(self, event: JsonObject) -> StreamDelta:
        for name in ("id", "model", "usage", "service_tier", "system_fingerprint", "error"):
            if event.get(name) not in (None, ""):
                self._fields[name] = event[name]
        text, is_token = "", False
        for raw in to_objects(event.get("choices")):
            visible, is_generated = self._add_choice(raw)
            text += visible
            is_token = is_token or is_generated
        return StreamDelta(text, is_token, "error" in self._fields)

    def response(self) -> JsonObject:
        choices = []
        for choice in self._choices.values():
            message = dict(choice["message"])
            if choice["calls"]:
                message["tool_calls"] = list(choice["calls"].values())
            choices.append({"index": choice["index"], "message": message, "finish_reason": choice["reason"]})
        return {**self._fields, "choices": choices}

    def _add_choice(self, raw: JsonObject) -> tuple[str, bool]:
        index = to_number(raw.get("index")) or 0
        choice = self._choices.setdefault(index, {"index": index, "message": {}, "calls": {}, "reason": None})
        choice["reason"] = to_text(raw.get("finish_reason")) or choice["reason"]
        delta = to_object(raw.get("delta"))
        visible, is_hidden = _add_text(choice["message"], delta)
        for call in to_objects(delta.get("tool_calls")):
            _add_call(choice["calls"], call)
        if isinstance(delta.get("function_call"), dict):
            _add_call(choice["calls"], {"function": delta["function_call"]})
        is_call = bool(delta.get("tool_calls") or delta.get("function_call"))
        return visible if index == 0 else "", bool(visible or is_hidden or is_call)


def _add_text(message: JsonObject, delta: JsonObject) -> tuple[str, bool]:
    """The text that a user sees, and whether there is anything that a user does not see."""
    content, thinking = _content_of(delta.get("content"))
    refusal = to_text(delta.get("refusal")) or ""
    thought = to_text(delta.get("reasoning_content")) or to_text(delta.get("reasoning")) or thinking
    append(message, "content", content)
    append(message, "refusal", refusal)
    append(message, "reasoning_content", thought)
    audio = to_object(delta.get("audio"))
    if audio:
        sound = message.setdefault("audio", {})
        append(sound, "transcript", audio.get("transcript"))
        append(sound, "data", audio.get("data"))
    return content + refusal + (to_text(audio.get("transcript")) or ""), bool(thought or audio)


def _content_of(content: Any) -> tuple[str, str]:
    """Text and thinking. Mistral streams lists of parts."""
    if isinstance(content, str):
        return content, ""
    parts = to_objects(content)
    is_thinking = [part.get("type") == "thinking" for part in parts]
    texts = [to_text(part.get("text")) or "" for part, is_hidden in zip(parts, is_thinking) if not is_hidden]
    thoughts = [join_texts(part.get("thinking")) for part, is_hidden in zip(parts, is_thinking) if is_hidden]
    return "".join(texts), "".join(thoughts)


def append(target: JsonObject, name: str, text: Any) -> None:
    if isinstance(text, str) and text:
        target[name] = (target.get(name) or "") + text


def _add_call(calls: dict[int, JsonObject], raw: JsonObject) -> None:
    """Hosts that leave the index out send whole calls, one after the other."""
    given = to_number(raw.get("index"))
    is_new = given is None and raw.get("id") is not None
    index = given if given is not None else len(calls) if is_new else max(0, len(calls) - 1)
    call = calls.setdefault(index, {"function": {"name": "", "arguments": ""}})
    delta = to_object(raw.get("function"))
    if raw.get("id") is not None:
        call["id"] = raw["id"]
    append(call["function"], "name", delta.get("name"))
    append(call["function"], "arguments", delta.get("arguments"))


openai_chat: ModelApi = ModelApi("openai.chat", _read_request, _read_response, ChatAssembler)


def _read_embeddings_request(body: JsonObject, _path: str) -> ModelRequest:
    given = body.get("input")
    items = given if isinstance(given, list) else [given]
    parts: list[Part] = []
    for item in items:
        parts.extend(text_parts("text", item.get("text") if isinstance(item, dict) else item))
    attributes = attributes_from(body, {"dimensions": "gen_ai.embeddings.dimension.count"})
    if to_text(body.get("encoding_format")) is not None:
        attributes["gen_ai.request.encoding_formats"] = [body["encoding_format"]]
    return ModelRequest(
        "embeddings",
        model=to_text(body.get("model")),
        messages=[{"role": "user", "parts": parts}] if parts else [],
        attributes=attributes,
    )


def _read_embeddings_response(body: JsonObject) -> ModelResponse:
    usage = openai_usage(body.get("usage"))
    usage.pop("gen_ai.usage.output_tokens", None)
    return ModelResponse(model=to_text(body.get("model")), usage=usage)


openai_embeddings: ModelApi = ModelApi(
    "openai.embeddings", _read_embeddings_request, _read_embeddings_response, ChatAssembler
)
