"""Reads values and rules as JSON, and prints a cassette that holds each value in every place that a cassette
has; `python.test.ts` looks for secrets in it."""

from __future__ import annotations

import json
import sys
from typing import Any

from playhead.redaction.redact import Redactor
from playhead.tape.cassette import write_cassette
from tests.keep_texts import to_rule


def entries_of(value: Any) -> list[dict[str, Any]]:
    text = value if isinstance(value, str) else json.dumps(value)
    asked = {
        "model": "gpt-4o",
        "parameters": {"stop_sequences": [text]},
        "tools": [{"name": "look", "description": text}],
        "messages": [
            {"role": "system", "parts": [{"type": "text", "text": text}]},
            {
                "role": "assistant",
                "parts": [{"type": "tool-call", "name": "look", "arguments": {"a": value}}],
            },
            {"role": "tool", "parts": [{"type": "tool-result", "result": value}]},
            {"role": "user", "parts": [{"type": "other", "raw": {"a": value}}]},
        ],
    }
    headers = {"content-type": "application/json", "x-request-id": text, "set-cookie": text}
    call = {"kind": "model", "api": "openai-chat", "path": f"/v1/{text}/chat", "asked": asked}
    calls = [{"id": "call_1", "function": {"name": "look", "arguments": json.dumps({"a": value})}}]
    message = {"role": "assistant", "content": text, "tool_calls": calls}
    body = {"id": "chatcmpl-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    action = {"kind": "action", "name": "look", "arguments": {"a": value}}
    return [
        {**call, "answer": {"status": 200, "headers": headers, "body": body}},
        {**call, "answer": {"status": 200, "headers": headers, "events": events_of(text)}},
        {**call, "answer": {"error": {"code": "ECONNRESET", "message": text}}},
        {**action, "shape": "value", "result": value},
        {**action, "shape": "generator", "result": pieces_of(text)},
        {**action, "shape": "value", "error": {"type": "ValueError", "message": text}},
    ]


def pieces_of(text: str) -> list[str]:
    """Pieces that look like nothing."""
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def events_of(text: str) -> list[list[Any]]:
    deltas = [{"index": 0, "delta": {"content": piece}} for piece in pieces_of(text)]
    return [[7, f"data: {json.dumps({'id': 'chatcmpl-2', 'choices': [delta]})}\n\n"] for delta in deltas]


given = json.load(sys.stdin.buffer)
meta = {
    "name": "secrets",
    "input": {"list": given["values"]},
    "recordedAt": "",
    "playhead": "",
    "sessions": [],
}
entries = [entry for value in given["values"] for entry in entries_of(value)]
sys.stdout.write(write_cassette(meta, entries, Redactor([to_rule(rule) for rule in given["rules"]])))
