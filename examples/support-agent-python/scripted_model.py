"""A local stand-in for the OpenAI API that answers customers by rules, so that tests need no key."""

from __future__ import annotations

import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def use_scripted_model() -> ThreadingHTTPServer:
    """Starts the model and points this process's OpenAI clients at it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{server.server_port}/v1"
    os.environ.setdefault("OPENAI_API_KEY", "none")
    return server


def answer(instructions: str, text: str) -> str:
    if "one word" in instructions:
        return classify(instructions, text)
    if "looking into it" in instructions:
        return "I'll look into it and get back to you in a moment."
    if '"success": true' in instructions:
        return "I have paid back INV-2292, Ada: 129.50 dollars, reference re_2292."
    if "INV-2292" in instructions:
        return "I see two charges of 129.50 dollars, Ada: one is a duplicate, and you have it back soon."
    return "Thank you for writing to us. There are three plans: Solo, Pro and Team. Which one would fit you?"


def classify(instructions: str, text: str) -> str:
    """With examples in its instructions the model understands indirect phrasings, else only plain ones."""
    if re.search("refund|money back", text, re.IGNORECASE):
        return "refund"
    plain, indirect = "billed|billing|invoice|subscription|duplicate", "charge|bill|invoice|subscription"
    understood = indirect if "in passing" in instructions else plain
    return "billing" if re.search(understood, text, re.IGNORECASE) else "general"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = {message["role"]: message["content"] for message in request["messages"]}
        text = answer(texts.get("system", ""), texts.get("user", ""))
        asked = sum(len(content) for content in texts.values())
        body = json.dumps(_completion(request["model"], text, asked // 4)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        pass


def _completion(model: str, text: str, input_tokens: int) -> dict[str, Any]:
    output_tokens = max(1, len(text) // 4)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {
            "prompt_tokens": input_tokens,
            "completion_tokens": output_tokens,
            "total_tokens": input_tokens + output_tokens,
        },
    }
