"""Plain completions: a text in, a text out."""

from __future__ import annotations

from .json_value import JsonObject, to_number, to_objects, to_text
from .model_api import Answer, ModelApi, Piece, Question, provider_error
from .openai_chat import answer_attributes, append, chat_parameters
from .openai_parts import openai_usage


def _read_question(body: JsonObject, _path: str) -> Question:
    given = body.get("prompt")
    prompts = given if isinstance(given, list) else [given]
    return Question(
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


def _read_answer(body: JsonObject) -> Answer:
    answer = Answer(
        id=to_text(body.get("id")),
        model=to_text(body.get("model")),
        usage=openai_usage(body.get("usage")),
        attributes=answer_attributes(body),
        error=provider_error(body) if body.get("error") else None,
    )
    for choice in to_objects(body.get("choices")):
        message = {"role": "assistant", "parts": [{"type": "text", "content": choice.get("text") or ""}]}
        reason = to_text(choice.get("finish_reason"))
        if reason is not None:
            message["finish_reason"] = reason
            answer.finish_reasons.append(reason)
        answer.messages.append(message)
    return answer


class _CompletionAssembler:
    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._choices: dict[int, JsonObject] = {}

    def add(self, event: JsonObject) -> Piece:
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
                text += raw.get("text") or ""
        return Piece(text, text != "", "error" in self._fields)

    def whole(self) -> JsonObject:
        return {**self._fields, "choices": [self._choices[index] for index in sorted(self._choices)]}


openai_completions = ModelApi("openai.completions", _read_question, _read_answer, _CompletionAssembler)
