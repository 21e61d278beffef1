"""The agent in Google's ADK, for the programs that instrument it."""

from __future__ import annotations

import os
from typing import Any, Callable

os.environ["GOOGLE_GEMINI_BASE_URL"] = os.environ["MODEL_URL"]
os.environ["GOOGLE_GENAI_USE_VERTEXAI"] = "false"
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types
from weather import AGENT, GEMINI, SYSTEM, get_weather


def on_tool_error(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
    return {"error": str(error)}


def adk_agent() -> Callable[[str, bool], Any]:
    agent = Agent(
        name=AGENT, model=GEMINI, instruction=SYSTEM, tools=[get_weather], on_tool_error_callback=on_tool_error
    )
    runner = InMemoryRunner(agent=agent, app_name="weather")

    async def ask(question: str, stream: bool) -> str:
        session = await runner.session_service.create_session(app_name="weather", user_id="u_7")
        message = types.Content(role="user", parts=[types.Part(text=question)])
        config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
        answer = ""
        async for event in runner.run_async(
            user_id="u_7", session_id=session.id, new_message=message, run_config=config
        ):
            if event.is_final_response() and event.content:
                answer = "".join(part.text or "" for part in event.content.parts)
        return answer

    return ask
