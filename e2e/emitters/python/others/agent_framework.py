from weather import AGENT, GPT, MODEL, SYSTEM, get_weather, provider, run

traces = provider()
from agent_framework import Agent
from agent_framework.observability import enable_instrumentation, enable_sensitive_telemetry
from agent_framework.openai import OpenAIChatCompletionClient

enable_instrumentation()
enable_sensitive_telemetry()


async def ask(question, stream):
    client = OpenAIChatCompletionClient(GPT, base_url=f"{MODEL}/v1", api_key="none")
    agent = Agent(client, name=AGENT, instructions=SYSTEM, tools=[get_weather])
    if not stream:
        return (await agent.run(question)).text
    return "".join([piece.text async for piece in agent.run(question, stream=True)])


run(ask, traces.shutdown)
