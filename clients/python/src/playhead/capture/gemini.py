"""Gemini's generateContent and streamGenerateContent, at Google AI and Vertex, and its embeddings."""

from __future__ import annotations

import re
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
    output_type,
    provider_error,
)
from .openai_parts import media_at, media_of, text_parts
from .usage import gemini_usage

_PARAMETERS = {
    "temperature": "gen_ai.request.temperature",
    "topP": "gen_ai.request.top_p",
    "topK": "gen_ai.request.top_k",
    "maxOutputTokens": "gen_ai.request.max_tokens",
    "stopSequences": "gen_ai.request.stop_sequences",
    "candidateCount": "gen_ai.request.choice.count",
    "frequencyPenalty": "gen_ai.request.frequency_penalty",
    "presencePenalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
    "responseSchema": "gen_ai.request.response_format",
    "responseJsonSchema": "gen_ai.request.response_format",
    "thinkingConfig": "gen_ai.request.thinking",
}
_MODEL_IN_PATH = re.compile(r"/models/([^/:]+):")


def _either(source: JsonObject, camel: str, snake: str) -> Any:
    return source[camel] if source.get(camel) is not None else source.get(snake)


def _model_in(path: str) -> Optional[str]:
    found = _MODEL_IN_PATH.search(path)
    return None if found is None else found[1]


def _read_request(body: JsonObject, path: str) -> ModelRequest:
    config = to_object(_either(body, "generationConfig", "generation_config"))
    is_stream = path.endswith(":streamGenerateContent")
    system = _read_contents(_either(body, "systemInstruction", "system_instruction"))
    attributes = attributes_from(config, _PARAMETERS)
    if config.get("responseMimeType") == "application/json":
        attributes.update(output_type("json"))
    if is_stream:
        attributes["gen_ai.request.stream"] = True
    attributes.update(attributes_from(body, {"toolConfig": "gen_ai.request.tool_choice"}))
    return ModelRequest(
        "generate_content",
        model=_model_in(path),
        is_stream=is_stream,
        system=system[0]["parts"] if system else [],
        messages=_read_contents(body.get("contents")),
        tools=[tool for raw in to_objects(body.get("tools")) for tool in _read_tool(raw)],
        attributes=attributes,
    )


def _read_tool(raw: JsonObject) -> list[JsonObject]:
    """One tool has several declarations. Google's own tools are named by their key."""
    declarations = _either(raw, "functionDeclarations", "function_declarations")
    if not isinstance(declarations, list):
        return [{"type": name, "name": name} for name in raw]
    tools = []
    for one in to_objects(declarations):
        parameters = one.get("parameters", _either(one, "parametersJsonSchema", "parameters_json_schema"))
        described = {"description": to_text(one.get("description")), "parameters": parameters}
        tools.append({"type": "function", "name": to_text(one.get("name")) or "", **without_none(described)})
    return tools


def _read_contents(contents: Any) -> list[Message]:
    """One content or several. Each may be a text, or a single part instead of a content."""
    messages: list[Message] = []
    for content in contents if isinstance(contents, list) else [contents]:
        if isinstance(content, str):
            messages.append({"role": "user", "parts": text_parts("text", content)})
        elif isinstance(content, dict):
            is_part = "parts" not in content and "role" not in content
            raw = {"parts": [content]} if is_part else content
            messages += _separate_results(_role_of(raw, "user"), _read_parts(raw.get("parts")))
    return messages


def _role_of(content: JsonObject, otherwise: str) -> str:
    role = to_text(content.get("role"))
    return "assistant" if role == "model" else role or otherwise


def _separate_results(role: str, parts: list[Part]) -> list[Message]:
    """Results of tools are messages of their own, in the same order."""
    if role in ("tool", "assistant") or not any(part["type"] == "tool_call_response" for part in parts):
        return [{"role": role, "parts": parts}]
    messages: list[Message] = []
    for part in parts:
        part_role = "tool" if part["type"] == "tool_call_response" else role
        if not messages or messages[-1]["role"] != part_role:
            messages.append({"role": part_role, "parts": []})
        messages[-1]["parts"].append(part)
    return messages


def _read_parts(parts: Any) -> list[Part]:
    found: list[Part] = []
    for raw in parts if isinstance(parts, list) else []:
        if isinstance(raw, str):
            found += text_parts("text", raw)
        elif isinstance(raw, dict):
            part = _read_part(raw)
            if part != {"type": "text", "content": ""}:
                found.append(part)
    return found


def _read_part(raw: JsonObject) -> Part:
    if isinstance(raw.get("text"), str):
        return {"type": "reasoning" if raw.get("thought") is True else "text", "content": raw["text"]}
    call = _either(raw, "functionCall", "function_call")
    if isinstance(call, dict):
        named = {"id": to_text(call.get("id")), "name": to_text(call.get("name")) or ""}
        return {"type": "tool_call", **without_none(named), "arguments": parse_arguments(call.get("args"))}
    result = _either(raw, "functionResponse", "function_response")
    if isinstance(result, dict):
        named = {"id": to_text(result.get("id")), "name": to_text(result.get("name"))}
        return {"type": "tool_call_response", **without_none(named), "response": result.get("response")}
    return _read_code(raw) or _read_media(raw) or {"type": "other", "value": raw}


def _read_code(raw: JsonObject) -> Optional[Part]:
    """Code that ran at Google."""
    code = _either(raw, "executableCode", "executable_code")
    if isinstance(code, dict):
        return {"type": "server_tool_call", "name": "code_execution", "arguments": code}
    result = _either(raw, "codeExecutionResult", "code_execution_result")
    if not isinstance(result, dict):
        return None
    return {"type": "server_tool_call_response", "name": "code_execution", "response": result}


def _read_media(raw: JsonObject) -> Optional[Part]:
    for holder in (_either(raw, "inlineData", "inline_data"), _either(raw, "fileData", "file_data")):
        if not isinstance(holder, dict):
            continue
        mime_type = to_text(_either(holder, "mimeType", "mime_type"))
        modality = next((one for one in ("image", "audio", "video") if one in (mime_type or "")), "file")
        address = to_text(_either(holder, "fileUri", "file_uri"))
        if address is not None:
            return media_at(address, modality, mime_type)
        data = to_text(holder.get("data"))
        if data is not None:
            return media_of(data, modality, mime_type)
    return None


def _read_response(body: JsonObject) -> ModelResponse:
    messages: list[Message] = []
    reasons: list[str] = []
    for candidate in to_objects(body.get("candidates")):
        content = to_object(candidate.get("content"))
        message: Message = {
            "role": _role_of(content, "assistant"),
            "parts": _read_parts(content.get("parts")),
        }
        reason = to_text(_either(candidate, "finishReason", "finish_reason"))
        if reason is not None:
            message["finish_reason"] = reason
            reasons.append(reason)
        if message["parts"]:
            messages.append(message)
    blocked = to_text(to_object(body.get("promptFeedback")).get("blockReason"))
    return ModelResponse(
        id=to_text(body.get("responseId")),
        model=to_text(body.get("modelVersion")),
        messages=messages,
        finish_reasons=reasons if blocked is None else [blocked],
        usage=gemini_usage(body.get("usageMetadata")),
        error=provider_error(body) if body.get("error") else None,
    )


class ContentAssembler:
    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._candidates: dict[int, JsonObject] = {}

    def add(self, event: JsonObject) -> StreamDelta:
        self._fields.update({name: value for name, value in event.items() if name != "candidates"})
        text, is_token = "", False
        for raw in to_objects(event.get("candidates")):
            visible, is_generated = self._add_candidate(raw)
            text += visible
            is_token = is_token or is_generated
        return StreamDelta(text, is_token, "error" in event)

    def response(self) -> JsonObject:
        return {**self._fields, "candidates": list(self._candidates.values())}

    def _add_candidate(self, raw: JsonObject) -> tuple[str, bool]:
        index = to_number(raw.get("index")) or 0
        empty = {"index": index, "content": {"role": "model", "parts": []}}
        candidate = self._candidates.setdefault(index, empty)
        if raw.get("finishReason") is not None:
            candidate["finishReason"] = raw["finishReason"]
        visible, is_token = "", False
        for part in to_objects(to_object(raw.get("content")).get("parts")):
            _add_part(candidate["content"]["parts"], part)
            text = to_text(part.get("text")) or ""
            is_token = is_token or text != "" or "text" not in part
            if index == 0 and part.get("thought") is not True:
                visible += text
        return visible, is_token


def _add_part(parts: list[JsonObject], part: JsonObject) -> None:
    """Joins consecutive chunks of text into one part."""
    last = parts[-1] if parts else {}
    are_texts = isinstance(last.get("text"), str) and isinstance(part.get("text"), str)
    if are_texts and (last.get("thought") is True) == (part.get("thought") is True):
        last["text"] += part["text"]
    else:
        parts.append(dict(part))


gemini_generate: ModelApi = ModelApi("gemini.generate", _read_request, _read_response, ContentAssembler)


def _read_embed_request(body: JsonObject, path: str) -> ModelRequest:
    contents = body.get("content")
    if contents is None:
        contents = [request.get("content") for request in to_objects(body.get("requests"))]
    dimensions = {"outputDimensionality": "gen_ai.embeddings.dimension.count"}
    return ModelRequest(
        "embeddings",
        model=_model_in(path),
        messages=_read_contents(contents),
        attributes=attributes_from(body, dimensions),
    )


def _read_embed_response(body: JsonObject) -> ModelResponse:
    return ModelResponse(usage=gemini_usage(body.get("usageMetadata")))


gemini_embed: ModelApi = ModelApi(
    "gemini.embeddings", _read_embed_request, _read_embed_response, ContentAssembler
)
