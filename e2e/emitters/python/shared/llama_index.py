"""The agent in LlamaIndex, for the programs that instrument it."""

from __future__ import annotations

from typing import Any, Callable

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from weather import AGENT, GPT, MODEL, SYSTEM, get_weather


def llama_index_agent() -> Callable[[str, bool], Any]:
    async def ask(question: str, stream: bool) -> str:
        llm = OpenAILike(
            model=GPT, api_base=f"{MODEL}/v1", api_key="none", is_chat_model=True, is_function_calling_model=True,
            max_retries=0, additional_kwargs={"stream_options": {"include_usage": True}} if stream else {},
        )
        agent = FunctionAgent(name=AGENT, tools=[get_weather], llm=llm, system_prompt=SYSTEM, streaming=stream)
        handler = agent.run(question)
        async for _ in handler.stream_events():
            pass
        return str(await handler)

    return ask
