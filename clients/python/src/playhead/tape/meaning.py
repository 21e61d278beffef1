"""What a model was asked, without what changes from run to run or does not change the answer.

Ids of calls, reasoning, headers, and whether it streamed are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Optional

from ..capture.content_writer import ContentWriter
from ..capture.json_value import JsonObject
from ..capture.model_api import ModelRequest
from .compare import parse_json_text, parse_result

_IRRELEVANT = frozenset(["stream", "previous_response_id", "service_tier", "user"])
_PARAMETER_PREFIX = "gen_ai.request."
# Parameters that have another name in their attribute.
_PARAMETER_NAMES = {
    "max_output_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "stop": "stop_sequences",
    "choice.count": "n",
    "encoding_formats": "encoding_format",
}
_TEXT_TYPES = ("text", "output_text", "input_text")


@dataclass
class Meaning:
    model: Optional[str] = None
    parameters: JsonObject = field(default_factory=dict)
    # The schema of each tool by its name.
    tools: JsonObject = field(default_factory=dict)
    # {"role", "parts"}; parts are texts, {"call", "arguments"}, {"name", "result"}, {"media"}.
    messages: list[JsonObject] = field(default_factory=list)


def read_question(request: ModelRequest, writer: ContentWriter) -> JsonObject:
    """A live request in the form of a cassette: {"model", "parameters", "tools", "messages"}.

    It is read as if it had been recorded, so both sides went through the same redaction and limits.
    """
    system = _parts(parse_json_text(writer.parts(request.system)))
    sent = parse_json_text(writer.messages(request.messages))
    messages = _separate_results([one for one in map(_to_message, sent) if one["parts"]])
    if system:
        first = {"role": "system", "parts": system}
        is_repeated = (
            bool(messages) and messages[0]["role"] == "system" and _words(messages[0]) == _words(first)
        )
        messages = [first, *messages[1:]] if is_repeated else [first, *messages]
    question: JsonObject = {} if request.model is None else {"model": request.model}
    parameters = _parameters(writer.parameters(request.attributes))
    if parameters:
        question["parameters"] = parameters
    if request.tools:
        question["tools"] = parse_json_text(writer.tools(request.tools))
    return {**question, "messages": messages}


def _words(message: JsonObject) -> str:
    return "".join(part.get("text", "") for part in message["parts"])


def _parameters(attributes: JsonObject) -> JsonObject:
    found: JsonObject = {}
    for key, value in attributes.items():
        if key.startswith(_PARAMETER_PREFIX) and value not in (None, "", [], {}):
            name = key[len(_PARAMETER_PREFIX) :]
            found.setdefault(_PARAMETER_NAMES.get(name, name), value)
    return found


def _to_message(written: JsonObject) -> JsonObject:
    message: JsonObject = {"role": written["role"], "parts": _parts(written["parts"])}
    if "name" in written:
        message["name"] = written["name"]
    return message


def _parts(written: list[JsonObject]) -> list[JsonObject]:
    parts = [_to_part(part) for part in written]
    return [part for part in parts if part != {"type": "text", "text": ""}]


def _to_part(part: JsonObject) -> JsonObject:
    """From OpenTelemetry's form to that of sessions and cassettes."""
    kind = part.get("type")
    if kind in ("text", "refusal"):
        return {"type": kind, "text": part["content"]}
    if kind == "reasoning":
        return {"type": "reasoning", "text": part["content"]} if part["content"] else {"type": "reasoning"}
    if kind == "redacted_thinking":
        return {"type": "reasoning", "isRedacted": True}
    if kind in ("tool_call", "server_tool_call"):
        given = part.get("arguments")
        read = {} if given in (None, "") else parse_json_text(given)
        call = {"type": "tool-call", **_pick(part, "id"), "name": part["name"], "arguments": read}
        return call if kind == "tool_call" else {**call, "isServerSide": True}
    if kind in ("tool_call_response", "server_tool_call_response"):
        given = part.get("response")
        result = {"type": "tool-result", "result": _unwrap_output(given), **_pick(part, "id", "name")}
        if part.get("is_error") is True:
            result["isError"] = True
        return result if kind == "tool_call_response" else {**result, "isServerSide": True}
    if kind in ("blob", "uri", "file"):
        media = {"type": "media", "modality": part["modality"]}
        names = {"mime_type": "mimeType", "uri": "uri", "file_id": "fileId", "content": "base64"}
        return {**media, **{name: part[key] for key, name in names.items() if part.get(key)}}
    return {"type": "other", "raw": part}


def _pick(part: JsonObject, *names: str) -> JsonObject:
    return {name: part[name] for name in names if part.get(name) not in (None, "")}


def _unwrap_output(given: Any) -> Any:
    """What a tool returned, without the blocks that providers put around a text."""
    if isinstance(given, dict) and isinstance(given.get("type"), str) and "value" in given:
        return given["value"]
    value = parse_json_text(given)
    is_list = isinstance(value, list)
    block = value[0] if is_list and len(value) == 1 else value
    if not isinstance(block, dict):
        return value
    text = block.get("text")
    is_text = block.get("type") in _TEXT_TYPES or (is_list and "type" not in block)
    if is_text and isinstance(text, str):
        return parse_json_text(text)
    return block["json"] if is_list and "type" not in block and "json" in block else value


def _separate_results(messages: list[JsonObject]) -> list[JsonObject]:
    """Tool results have the role `tool`, although Anthropic sends them as the user."""
    separated: list[JsonObject] = []
    for message in messages:
        is_result = [part["type"] == "tool-result" for part in message["parts"]]
        if message["role"] in ("tool", "assistant") or not any(is_result):
            separated.append(message)
            continue
        last: Optional[bool] = None
        for part, is_one in zip(message["parts"], is_result):
            if is_one is not last:
                separated.append({"role": "tool", "parts": []} if is_one else {**message, "parts": []})
                last = is_one
            separated[-1]["parts"].append(part)
    return separated


def read_meaning(question: JsonObject) -> Meaning:
    """Of a live request or of one on a cassette."""
    parameters = question.get("parameters") or {}
    tools = question.get("tools") or []
    return Meaning(
        question.get("model"),
        {name: value for name, value in parameters.items() if name not in _IRRELEVANT},
        {tool["name"]: _schema(tool) for tool in tools},
        _read_messages([one for one in question["messages"] if one.get("isOutput") is not True]),
    )


def _schema(tool: JsonObject) -> JsonObject:
    schema: JsonObject = {}
    if tool.get("description") is not None:
        schema["description"] = tool["description"]
    if tool.get("parameters") is not None:
        schema["parameters"] = parse_result(tool["parameters"])
    return schema


def _read_messages(messages: list[JsonObject]) -> list[JsonObject]:
    calls: dict[str, tuple[int, str]] = {}
    meanings: list[JsonObject] = []
    results: list[tuple[float, JsonObject]] = []
    for message in [*messages, {"role": "", "parts": []}]:
        found = [_read_result(part, calls) for part in message["parts"] if part["type"] == "tool-result"]
        results.extend(found)
        others = [one for part in message["parts"] for one in _read_part(part, calls)]
        if found and not others:
            continue
        # The results of parallel calls arrive in any order; that of the calls is the one that repeats.
        meanings.extend(meaning for _, meaning in sorted(results, key=lambda result: result[0]))
        results = []
        if others:
            meanings.append({"role": message["role"], "parts": _join_texts(others)})
    return meanings


def _read_result(part: JsonObject, calls: dict[str, tuple[int, str]]) -> tuple[float, JsonObject]:
    position, called = calls.get(part.get("id") or "", (float("inf"), None))
    name = part.get("name") or called
    content = {**({} if name is None else {"name": name}), "result": parse_result(part.get("result"))}
    return position, {"role": "tool", "parts": [content]}


def _read_part(part: JsonObject, calls: dict[str, tuple[int, str]]) -> list[Any]:
    kind = part["type"]
    if kind in ("text", "refusal"):
        return [part["text"]]
    if kind == "tool-call":
        if part.get("id") is not None:
            calls[part["id"]] = (len(calls), part["name"])
        return [{"call": part["name"], "arguments": parse_result(part.get("arguments"))}]
    if kind == "media":
        return [{"media": part.get("uri") or part.get("fileId") or part.get("base64") or part["modality"]}]
    return [part["raw"]] if kind == "other" else []


def _join_texts(parts: list[Any]) -> list[Any]:
    """Frameworks cut a text into parts as they like."""
    joined: list[Any] = []
    for part in parts:
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] = f"{joined[-1]}\n{part}"
        else:
            joined.append(part)
    return joined


def tool_of_message(message: JsonObject) -> Optional[str]:
    """The name of the tool whose result a message holds."""
    part = message["parts"][0] if message["parts"] else None
    name = part.get("name") if message["role"] == "tool" and isinstance(part, dict) else None
    return name if isinstance(name, str) else None


def settings_of(taped: Meaning, live: Meaning) -> tuple[JsonObject, JsonObject]:
    """Model, parameters and tools, as far as the tape has them: other instrumentations leave them out."""

    def pick(meaning: Meaning) -> JsonObject:
        settings: JsonObject = {}
        if taped.model is not None and live.model is not None:
            settings["model"] = meaning.model
        settings["parameters"] = {
            name: meaning.parameters[name] for name in taped.parameters if name in meaning.parameters
        }
        return {**settings, "tools": meaning.tools} if taped.tools else settings

    return pick(taped), pick(live)


_INNER = re.compile(r"^parts(?:\[\d+\])?(?:\.(?:result|arguments))?\.?")


def inside_message(path: str) -> str:
    """The field of a difference, without the places that every message has."""
    return _INNER.sub("", path)
