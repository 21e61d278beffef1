"""Chat completions, as OpenAI and everybody who is compatible to it speaks them; plain completions and
embeddings."""

from __future__ import annotations

import re
from typing import Any

from .json_value import JsonObject, to_number, to_object, to_objects, to_text, without_none
from .model_api import Answer, Message, ModelApi, Part, Piece, Question, provider_error
from .openai_parts import (
    function_call_part,
    media_of,
    openai_usage,
    parts_of_content,
    said,
    text_of_parts,
    tool_result_part,
)
from .request_attributes import attributes_from, define_tool, output_type

_PARAMETERS = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
    "n": "gen_ai.request.choice.count",
    "stop": "gen_ai.request.stop_sequences",
    "stream": "gen_ai.request.stream",
    "reasoning_effort": "gen_ai.request.reasoning_effort",
    "verbosity": "gen_ai.request.verbosity",
    "response_format": "gen_ai.request.response_format",
    "tool_choice": "gen_ai.request.tool_choice",
    "parallel_tool_calls": "gen_ai.request.parallel_tool_calls",
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


def answer_attributes(body: JsonObject) -> JsonObject:
    names = {
        "service_tier": "openai.response.service_tier",
        "system_fingerprint": "openai.response.system_fingerprint",
    }
    return attributes_from(body, names)


def _read_question(body: JsonObject, path: str) -> Question:
    deployment = _DEPLOYMENT.search(path)
    tools = []
    for raw in to_objects(body.get("tools") or body.get("functions")):
        definition = to_object(raw.get("function") or raw.get("custom") or raw)
        tools.append(define_tool(definition, to_text(raw.get("type"))))
    return Question(
        "chat",
        model=to_text(body.get("model")) or (deployment.group(1) if deployment else None),
        is_stream=body.get("stream") is True,
        messages=[chat_message(raw) for raw in to_objects(body.get("messages"))],
        tools=tools,
        attributes=chat_parameters(body),
    )


def chat_message(raw: JsonObject) -> Message:
    role = "system" if raw.get("role") == "developer" else to_text(raw.get("role")) or "user"
    if role in ("tool", "function"):
        parts = [tool_result_part(raw.get("tool_call_id") or raw.get("tool_name"), raw.get("content"))]
        role = "tool"
    else:
        parts = _message_parts(raw)
    return {**without_none({"role": role, "name": to_text(raw.get("name"))}), "parts": parts}


def _message_parts(raw: JsonObject) -> list[Part]:
    parts = [
        *said("reasoning", raw.get("reasoning_content") or raw.get("reasoning") or raw.get("thinking")),
        *parts_of_content(raw.get("content")),
        *said("refusal", raw.get("refusal")),
        *(function_call_part(call) for call in to_objects(raw.get("tool_calls"))),
    ]
    if isinstance(raw.get("function_call"), dict):
        parts.append(function_call_part(raw["function_call"]))
    audio = to_object(raw.get("audio"))
    parts.extend(parts_of_content(text_of_parts(audio.get("transcript") or "")))
    sound = to_text(audio.get("data"))
    return parts if sound is None else [*parts, media_of(sound, "audio")]


def _read_answer(body: JsonObject) -> Answer:
    choices = sorted(to_objects(body.get("choices")), key=lambda choice: to_number(choice.get("index")) or 0)
    messages: list[Message] = []
    for choice in choices:
        message = chat_message({"role": "assistant", **to_object(choice.get("message"))})
        reason = to_text(choice.get("finish_reason"))
        messages.append(message if reason is None else {**message, "finish_reason": reason})
    return Answer(
        id=to_text(body.get("id")),
        model=to_text(body.get("model")),
        messages=[one for one in messages if one["parts"] or "finish_reason" in one],
        finish_reasons=[one["finish_reason"] for one in messages if "finish_reason" in one],
        usage=openai_usage(body.get("usage")),
        attributes=answer_attributes(body),
        error=provider_error(body) if body.get("error") else None,
    )


class ChatAssembler:
    """Chunks of chat completions into one."""

    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._choices: dict[int, JsonObject] = {}

    def add(self, event: JsonObject) -> Piece:
        for name in ("id", "model", "usage", "service_tier", "system_fingerprint", "error"):
            if event.get(name) not in (None, ""):
                self._fields[name] = event[name]
        text, is_token = "", False
        for raw in to_objects(event.get("choices")):
            shown, is_made = self._add_choice(raw)
            text += shown
            is_token = is_token or is_made
        return Piece(text, is_token, "error" in self._fields)

    def whole(self) -> JsonObject:
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
        delta, message = to_object(raw.get("delta")), choice["message"]
        text = text_of_parts(delta.get("content") or "")
        refusal = to_text(delta.get("refusal")) or ""
        thought = to_text(delta.get("reasoning_content")) or to_text(delta.get("reasoning")) or ""
        append(message, "content", text)
        append(message, "refusal", refusal)
        append(message, "reasoning_content", thought)
        for call in to_objects(delta.get("tool_calls")):
            _add_call(choice["calls"], call)
        if isinstance(delta.get("function_call"), dict):
            _add_call(choice["calls"], {"function": delta["function_call"]})
        is_call = bool(delta.get("tool_calls") or delta.get("function_call"))
        shown = text + refusal
        return shown if index == 0 else "", bool(shown or thought or is_call)


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


openai_chat = ModelApi("openai.chat", _read_question, _read_answer, ChatAssembler)


def _read_embedding_question(body: JsonObject, _path: str) -> Question:
    given = body.get("input")
    items = given if isinstance(given, list) else [given]
    parts = [{"type": "text", "content": item} for item in items if to_text(item) is not None]
    attributes = attributes_from(body, {"dimensions": "gen_ai.embeddings.dimension.count"})
    if to_text(body.get("encoding_format")) is not None:
        attributes["gen_ai.request.encoding_formats"] = [body["encoding_format"]]
    return Question(
        "embeddings",
        model=to_text(body.get("model")),
        messages=[{"role": "user", "parts": parts}] if parts else [],
        attributes=attributes,
    )


def _read_embedding_answer(body: JsonObject) -> Answer:
    usage = openai_usage(body.get("usage"))
    usage.pop("gen_ai.usage.output_tokens", None)
    return Answer(model=to_text(body.get("model")), usage=usage)


openai_embeddings = ModelApi(
    "openai.embeddings", _read_embedding_question, _read_embedding_answer, ChatAssembler
)
