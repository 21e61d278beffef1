"""The agent in LangChain, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from weather import AGENT, GPT, SYSTEM, get_weather


@wrap_tool_call
def tell_the_model(request: Any, handler: Callable[[Any], Any]) -> Any:
    """A tool that fails does not end the run."""
    try:
        return handler(request)
    except ValueError as error:
        return ToolMessage(f"Error: {error}", tool_call_id=request.tool_call["id"], status="error")


def langchain_agent(config: dict[str, Any]) -> Callable[[str, bool], Any]:
    agent = create_agent(
        ChatOpenAI(model=GPT, max_retries=0, stream_usage=True),
        tools=[StructuredTool.from_function(get_weather)],
        system_prompt=SYSTEM,
        middleware=[tell_the_model],
        name=AGENT,
    )

    def ask(question: str, stream: bool) -> Any:
        given = {"messages": [{"role": "user", "content": question}]}
        if not stream:
            return agent.invoke(given, config=config)["messages"][-1].content
        pieces = agent.stream(given, config=config, stream_mode="messages")
        return "".join(piece.content for piece, _ in pieces if piece.type == "AIMessageChunk")

    return ask
