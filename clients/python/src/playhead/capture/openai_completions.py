"""Plain completions: text in, text out."""

from __future__ import annotations

from .json_value import JsonObject, to_number, to_objects, to_text
from .model_api import Message, ModelApi, ModelRequest, ModelResponse, StreamDelta
from .openai_chat import append, chat_parameters, openai_response


def _read_request(body: JsonObject, _path: str) -> ModelRequest:
    given = body.get("prompt")
    prompts = given if isinstance(given, list) else [given]
    return ModelRequest(
        "text_completion",
        model=to_text(body.get("model")),
        is_stream=body.get("stream") is True,
        messages=[
            {"role": "user", "parts": [{"type": "text", "content": prompt}]}
            for prompt in prompts
            if isinstance(prompt, str)
        ],
        attributes=chat_parameters(body),
    )


def _read_response(body: JsonObject) -> ModelResponse:
    messages: list[Message] = []
    for choice in to_objects(body.get("choices")):
        text, reason = to_text(choice.get("text")) or "", to_text(choice.get("finish_reason"))
        message: Message = {"role": "assistant", "parts": [{"type": "text", "content": text}]}
        messages.append(message if reason is None else {**message, "finish_reason": reason})
    reasons = [message["finish_reason"] for message in messages if "finish_reason" in message]
    return openai_response(body, messages, reasons)


class _CompletionAssembler:
    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._choices: dict[int, JsonObject] = {}

    def add(self, event: JsonObject) -> StreamDelta:
        for name, value in event.items():
            if name != "choices" and value is not None:
                self._fields[name] = value
        text = ""
        for raw in to_objects(event.get("choices")):
            index = to_number(raw.get("index")) or 0
            choice = self._choices.setdefault(index, {"index": index, "text": ""})
            append(choice, "text", raw.get("text"))
            if to_text(raw.get("finish_reason")) is not None:
                choice["finish_reason"] = raw["finish_reason"]
            if index == 0:
                text += to_text(raw.get("text")) or ""
        return StreamDelta(text, text != "", "error" in self._fields)

    def response(self) -> JsonObject:
        return {**self._fields, "choices": [self._choices[index] for index in sorted(self._choices)]}


openai_completions: ModelApi = ModelApi(
    "openai.completions", _read_request, _read_response, _CompletionAssembler
)
