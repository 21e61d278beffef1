"""The golden cases of providers read as they do in TypeScript."""

from __future__ import annotations

import json
import unittest
from typing import Any

from playhead.capture.anthropic_messages import anthropic_messages
from playhead.capture.event_stream import EventStream
from playhead.capture.gemini import gemini_embed, gemini_generate
from playhead.capture.json_value import parse_json
from playhead.capture.model_api import ModelApi, provider_error
from playhead.capture.ollama import ollama_chat, ollama_embed
from playhead.capture.openai_chat import openai_chat, openai_embeddings
from playhead.capture.openai_completions import openai_completions
from playhead.capture.openai_responses import openai_responses
from playhead.capture.recognize import recognize_request
from playhead.capture.usage import USAGE_ATTRIBUTES

from .support import ROOT

APIS = {
    "anthropic": anthropic_messages,
    "gemini": gemini_generate,
    "ollama": ollama_chat,
    "openai-chat": openai_chat,
    "openai-completions": openai_completions,
    "openai-embeddings": openai_embeddings,
    "openai-responses": openai_responses,
}
FIELDS = {attribute: field for field, attribute in USAGE_ATTRIBUTES.items()}


EMBEDDINGS = {"gemini": gemini_embed, "ollama": ollama_embed}


def read_exchange(api: ModelApi, case: dict[str, Any], chunk_bytes: int) -> dict[str, Any]:
    model_request = api.read_request(case["request"], case["url"].split("?")[0])
    request = {
        "operation": model_request.operation,
        "model": model_request.model,
        "isStream": model_request.is_stream,
        "system": model_request.system,
        "messages": model_request.messages,
        "tools": model_request.tools,
        "attributes": model_request.attributes,
    }
    if "status" in case:
        error = provider_error(case["response"])
        return {"request": request, "error": None if error is None else error._asdict()}
    if "events" not in case:
        return {"request": request, "response": read_response(api, case["response"])}
    assembler, text = api.create_assembler(), ""
    for event in stream_events(case["events"], chunk_bytes):
        text += assembler.add(event).text
    return {"request": request, "response": read_response(api, assembler.response()), "text": text}


def read_response(api: ModelApi, body: dict[str, Any]) -> dict[str, Any]:
    response = api.read_response(body)
    return {
        "id": response.id,
        "model": response.model,
        "messages": response.messages,
        "finishReasons": response.finish_reasons,
        "usage": {FIELDS[attribute]: count for attribute, count in response.usage.items()},
        "attributes": response.attributes,
        "error": None if response.error is None else response.error._asdict(),
    }


def stream_events(events: list[Any], chunk_bytes: int) -> list[Any]:
    """The events as they arrive in chunks of server-sent events."""
    text = "".join(f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n" for event in events)
    # Half of a surrogate pair is escaped, as providers do.
    data = text.encode("utf-8", "backslashreplace")
    stream, found = EventStream(), []
    for start in range(0, len(data), chunk_bytes):
        found.extend(stream.add(data[start : start + chunk_bytes]))
    found.extend(stream.add(b"", is_final=True))
    return [parse_json(event) for event in found]


def without_empty(side: dict[str, Any]) -> dict[str, Any]:
    kept = ("messages", "finishReasons", "isStream")
    return {name: value for name, value in side.items() if name in kept or value not in (None, {}, [])}


def comparable(read: dict[str, Any]) -> dict[str, Any]:
    return {name: without_empty(side) if isinstance(side, dict) else side for name, side in read.items()}


class ProvidersTest(unittest.TestCase):
    def test_every_golden_case_reads_as_in_typescript(self) -> None:
        for provider, api in APIS.items():
            cases = json.loads((ROOT / f"fixtures/providers/{provider}.json").read_text("utf-8"))
            self.assertGreaterEqual(len(cases), 6)
            for case in cases:
                for chunk_bytes in (1, 7, 1024):
                    with self.subTest(provider=provider, case=case["name"], chunk_bytes=chunk_bytes):
                        is_embedding = case["expected"]["request"]["operation"] == "embeddings"
                        one = EMBEDDINGS.get(provider, api) if is_embedding else api
                        self.assertIs(recognize_request(case["url"].split("?")[0], case["request"]), one)
                        read = json.loads(json.dumps(read_exchange(one, case, chunk_bytes)))
                        self.assertEqual(comparable(read), comparable(case["expected"]))
