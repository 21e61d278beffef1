"""The agent in Haystack, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from weather import GPT, MODEL, SYSTEM, get_weather


def haystack_agent() -> Callable[[str, bool], Any]:
    def ask(question: str, stream: bool) -> str:
        generator = OpenAIChatGenerator(
            model=GPT,
            api_key=Secret.from_token("none"),
            api_base_url=f"{MODEL}/v1",
            max_retries=0,
            streaming_callback=(lambda _: None) if stream else None,
            generation_kwargs={"stream_options": {"include_usage": True}} if stream else {},
        )
        agent = Agent(chat_generator=generator, tools=[create_tool_from_function(get_weather)], system_prompt=SYSTEM)
        return agent.run(messages=[ChatMessage.from_user(question)])["last_message"].text

    return ask
