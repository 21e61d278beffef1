"""The agent in OpenAI Agents, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
from weather import AGENT, GPT, SYSTEM, get_weather


def openai_agent(api: str = "responses") -> Callable[[str, bool], Any]:
    client = AsyncOpenAI(max_retries=0)
    model: Any = GPT if api == "responses" else OpenAIChatCompletionsModel(GPT, client)
    agent = Agent(name=AGENT, instructions=SYSTEM, model=model, tools=[function_tool(get_weather)], model_settings=ModelSettings(include_usage=True))

    async def ask(question: str, stream: bool) -> str:
        if not stream:
            return (await Runner.run(agent, question)).final_output
        result = Runner.run_streamed(agent, question)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return ask
