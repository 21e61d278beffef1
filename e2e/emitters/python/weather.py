"""What every program here shares: the questions, the tool, and an agent for clients without a framework."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from typing import Any, Callable

MODEL = os.environ["MODEL_URL"]
PLAYHEAD = os.environ["PLAYHEAD_URL"]
GPT = "gpt-4o-mini"
CLAUDE = "claude-haiku-4-5"
GEMINI = "gemini-2.5-flash"
AGENT = "weather_agent"
SYSTEM = "You answer questions about the weather."
QUESTIONS: dict[str, str] = json.loads(os.environ["QUESTIONS"])


def get_weather(city: str, days: int) -> str:
    """Tells the weather of a city.

    Args:
        city: The name of the city.
        days: How many days to look ahead.
    """
    if city == "Atlantis":
        raise ValueError("There is no city called Atlantis.")
    return f"sunny, 21C in {city}"


PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}


def provider() -> Any:
    """The global tracer provider, which sends to Playhead."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{PLAYHEAD}/v1/traces")))
    trace.set_tracer_provider(made)
    return made


def run(ask: Callable[[str, bool], Any], finish: Callable[[], Any] = lambda: None) -> None:
    """Asks every question, one after the other, and goes on after a failure, as a service would."""

    async def ask_all() -> None:
        for name, question in QUESTIONS.items():
            try:
                answer = ask(question, name == "stream")
                answer = await answer if inspect.isawaitable(answer) else answer
                print(f"{name}: {answer}")
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {str(error)[:300]}")

    if inspect.iscoroutinefunction(ask):
        asyncio.run(ask_all())
    else:
        for name, question in QUESTIONS.items():
            try:
                print(f"{name}: {ask(question, name == 'stream')}")
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
    finish()
    sys.stdout.flush()


def within_root(ask: Callable[[str, bool], Any]) -> Callable[[str, bool], Any]:
    """The agent in a span of the application, which joins its calls."""
    from opentelemetry import trace

    def asked(question: str, stream: bool) -> Any:
        with trace.get_tracer("weather").start_as_current_span("weather"):
            return ask(question, stream)

    return asked


def call_tool(name: str, given: dict[str, Any]) -> str:
    """What the model is told about a tool call."""
    try:
        return {"get_weather": get_weather}[name](**given)
    except ValueError as error:
        return f"Error: {error}"


def openai_loop(client: Any, tool: Callable[[str, dict[str, Any]], str] = call_tool) -> Callable[[str, bool], Any]:
    """An agent on OpenAI's chat completions, as people write it by hand."""
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]

    def answer(messages: list[Any], stream: bool) -> tuple[Any, list[Any]]:
        options: dict[str, Any] = {"model": GPT, "messages": messages, "tools": tools}
        if not stream:
            message = client.chat.completions.create(**options).choices[0].message
            calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
            return message.content, calls
        text, calls = "", {}
        options |= {"stream": True, "stream_options": {"include_usage": True}}
        for chunk in client.chat.completions.create(**options):
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for piece in choice.delta.tool_calls or []:
                    key, name, given = calls.get(piece.index, (piece.id, piece.function.name, ""))
                    calls[piece.index] = (key, name, given + (piece.function.arguments or ""))
        return text or None, list(calls.values())

    def ask(question: str, stream: bool) -> str:
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        while True:
            text, calls = answer(messages, stream)
            if not calls:
                return text
            asked = [
                {"id": key, "type": "function", "function": {"name": name, "arguments": given}}
                for key, name, given in calls
            ]
            messages.append({"role": "assistant", "content": text, "tool_calls": asked})
            for key, name, given in calls:
                result = tool(name, json.loads(given))
                messages.append({"role": "tool", "tool_call_id": key, "content": result})

    return ask


def anthropic_loop(client: Any, tool: Callable[[str, dict[str, Any]], str] = call_tool) -> Callable[[str, bool], Any]:
    """The same agent on Anthropic's messages."""
    tools = [{"name": "get_weather", "input_schema": PARAMETERS}]

    def ask(question: str, stream: bool) -> str:
        messages: list[Any] = [{"role": "user", "content": question}]
        while True:
            options = {
                "model": CLAUDE,
                "max_tokens": 500,
                "system": SYSTEM,
                "messages": messages,
                "tools": tools,
            }
            if stream:
                with client.messages.stream(**options) as events:
                    message = events.get_final_message()
            else:
                message = client.messages.create(**options)
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                return message.content[0].text
            messages.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
            results = []
            for call in calls:
                result = tool(call.name, call.input)
                failed = result.startswith("Error: ")
                results.append(
                    {"type": "tool_result", "tool_use_id": call.id, "content": result, "is_error": failed}
                )
            messages.append({"role": "user", "content": results})

    return ask
