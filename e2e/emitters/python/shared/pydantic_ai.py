"""The agent in Pydantic AI, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from pydantic_ai import Agent, ModelRetry
from weather import AGENT, CLAUDE, GPT, MODEL, SYSTEM, get_weather


def tool(city: str, days: int) -> str:
    try:
        return get_weather(city, days)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


def model_of(api: str) -> Any:
    if api == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(CLAUDE, provider=AnthropicProvider(base_url=MODEL, api_key="none"))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(GPT, provider=OpenAIProvider(base_url=f"{MODEL}/v1", api_key="none"))


def pydantic_agent(api: str = "openai") -> Callable[[str, bool], Any]:
    from pydantic_ai import Tool

    agent = Agent(model_of(api), name=AGENT, system_prompt=SYSTEM, tools=[Tool(tool, name="get_weather")])

    async def ask(question: str, stream: bool) -> str:
        if not stream:
            return (await agent.run(question)).output
        async with agent.run_stream(question) as result:
            return [text async for text in result.stream_text()][-1]

    return ask
