"""The agent in CrewAI, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from weather import AGENT, GPT, MODEL, SYSTEM, get_weather


def crew() -> Callable[[str, bool], Any]:
    def ask(question: str, stream: bool) -> str:
        llm = LLM(model=f"openai/{GPT}", base_url=f"{MODEL}/v1", api_key="none", stream=stream, max_retries=0)
        tools = [tool("get_weather")(get_weather)]
        agent = Agent(role=AGENT, goal=SYSTEM, backstory="A meteorologist.", llm=llm, tools=tools, max_retry_limit=0)
        task = Task(description=question, expected_output="One sentence.", agent=agent)
        return Crew(agents=[agent], tasks=[task]).kickoff().raw

    return ask
