"""The agent in Pydantic AI, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from weather import AGENT, GPT, MODEL, SYSTEM, get_weather


def tool(city: str, days: int) -> str:
    try:
        return get_weather(city, days)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


def pydantic_agent() -> Callable[[str, bool], Any]:
    from pydantic_ai import Tool

    model = OpenAIChatModel(GPT, provider=OpenAIProvider(base_url=f"{MODEL}/v1", api_key="none"))
    agent = Agent(model, name=AGENT, system_prompt=SYSTEM, tools=[Tool(tool, name="get_weather")])

    async def ask(question: str, stream: bool) -> str:
        if not stream:
            return (await agent.run(question)).output
        async with agent.run_stream(question) as result:
            return [text async for text in result.stream_text()][-1]

    return ask
