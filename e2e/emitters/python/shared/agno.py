"""The agent in Agno, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from agno.agent import Agent
from weather import AGENT, CLAUDE, GPT, MODEL, SYSTEM, get_weather


def agno_agent(api: str = "openai") -> Callable[[str, bool], Any]:
    def model() -> Any:
        if api == "anthropic":
            from agno.models.anthropic import Claude

            return Claude(id=CLAUDE, api_key="none", client_params={"base_url": MODEL, "max_retries": 0})
        from agno.models.openai import OpenAIChat

        return OpenAIChat(id=GPT, base_url=f"{MODEL}/v1", api_key="none", max_retries=0)

    def ask(question: str, stream: bool) -> Any:
        agent = Agent(name=AGENT, model=model(), tools=[get_weather], instructions=SYSTEM)
        if stream:
            return [event for event in agent.run(question, stream=True)][-1].content
        return agent.run(question).content

    return ask
