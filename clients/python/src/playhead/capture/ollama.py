"""Ollama's own chat, generate and embeddings. Its OpenAI-compatible API is read as OpenAI's."""

from __future__ import annotations

from .json_value import JsonObject, to_object, to_objects, to_text
from .model_api import (
    Message,
    ModelApi,
    ModelRequest,
    ModelResponse,
    StreamDelta,
    attributes_from,
    define_tool,
    output_type,
    provider_error,
    request_attributes,
)
from .openai_chat import append, read_chat_message
from .openai_parts import media_of, text_parts
from .usage import ollama_usage

_OPTIONS = {
    **request_attributes("temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty"),
    "num_predict": "gen_ai.request.max_tokens",
    "stop": "gen_ai.request.stop_sequences",
}


def _read_request(body: JsonObject, _path: str) -> ModelRequest:
    is_generate = to_text(body.get("prompt")) is not None
    prompt = {"role": "user", "content": body.get("prompt"), "images": body.get("images")}
    is_stream = body.get("stream") is not False
    asked = {"format": "gen_ai.request.response_format", "think": "gen_ai.request.thinking"}
    # The client sends an empty format if none was asked for.
    given = {name: value for name, value in body.items() if value != ""}
    tools = [
        define_tool(to_object(raw.get("function") or raw), to_text(raw.get("type")))
        for raw in to_objects(body.get("tools"))
    ]
    return ModelRequest(
        "text_completion" if is_generate else "chat",
        model=to_text(body.get("model")),
        is_stream=is_stream,
        system=text_parts("text", body.get("system")),
        messages=[
            _read_message(raw) for raw in ([prompt] if is_generate else to_objects(body.get("messages")))
        ],
        tools=tools,
        attributes={
            **attributes_from(to_object(body.get("options")), _OPTIONS),
            **attributes_from(given, asked),
            **output_type("json" if given.get("format") is not None else None),
            "gen_ai.request.stream": is_stream,
        },
    )


def _read_message(raw: JsonObject) -> Message:
    images = raw.get("images")
    message = read_chat_message({name: value for name, value in raw.items() if name != "images"})
    for image in images if isinstance(images, list) else []:
        if isinstance(image, str):
            message["parts"].append(media_of(image, "image"))
    return message


def _read_response(body: JsonObject) -> ModelResponse:
    own = {"content": body.get("response"), "thinking": body.get("thinking")}
    answer = read_chat_message({"role": "assistant", **own, **to_object(body.get("message"))})
    reason = to_text(body.get("done_reason"))
    if reason is not None:
        answer["finish_reason"] = reason
    return ModelResponse(
        model=to_text(body.get("model")),
        messages=[answer] if answer["parts"] else [],
        finish_reasons=[] if reason is None else [reason],
        usage=ollama_usage(body),
        error=provider_error(body) if body.get("error") else None,
    )


class OllamaAssembler:
    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._message: JsonObject = {}
        self._calls: list[JsonObject] = []
        self._is_generate = False

    def add(self, event: JsonObject) -> StreamDelta:
        parts = ("message", "response", "thinking")
        self._fields.update({name: value for name, value in event.items() if name not in parts})
        self._is_generate = self._is_generate or isinstance(event.get("response"), str)
        part = to_object(event.get("message"))
        text = to_text(part.get("content")) or to_text(event.get("response")) or ""
        thought = to_text(part.get("thinking")) or to_text(event.get("thinking")) or ""
        calls = to_objects(part.get("tool_calls"))
        append(self._message, "content", text)
        append(self._message, "thinking", thought)
        self._calls += calls
        is_last = event.get("done") is True or "error" in event
        return StreamDelta(text, bool(text or thought or calls), is_last)

    def response(self) -> JsonObject:
        rest = dict(self._message)
        content = rest.pop("content", "")
        if self._is_generate:
            return {**self._fields, "response": content, **rest}
        calls = {"tool_calls": self._calls} if self._calls else {}
        return {**self._fields, "message": {"role": "assistant", "content": content, **rest, **calls}}


ollama_chat: ModelApi = ModelApi("ollama.chat", _read_request, _read_response, OllamaAssembler)


def _read_embed_request(body: JsonObject, _path: str) -> ModelRequest:
    given = body["input"] if body.get("input") is not None else body.get("prompt")
    parts = [
        part for text in (given if isinstance(given, list) else [given]) for part in text_parts("text", text)
    ]
    messages: list[Message] = [{"role": "user", "parts": parts}] if parts else []
    return ModelRequest("embeddings", model=to_text(body.get("model")), messages=messages)


def _read_embed_response(body: JsonObject) -> ModelResponse:
    return ModelResponse(model=to_text(body.get("model")), usage=ollama_usage(body))


ollama_embed: ModelApi = ModelApi(
    "ollama.embeddings", _read_embed_request, _read_embed_response, OllamaAssembler
)
