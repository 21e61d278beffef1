from weather import AGENT, GPT, MODEL, SYSTEM, get_weather, provider, run

traces = provider()
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor

AutogenAgentChatInstrumentor().instrument(tracer_provider=traces)
OpenAIInstrumentor().instrument(tracer_provider=traces)


async def ask(question, stream):
    client = OpenAIChatCompletionClient(model=GPT, base_url=f"{MODEL}/v1", api_key="none", max_retries=0)
    agent = AssistantAgent(
        AGENT, model_client=client, tools=[get_weather], system_message=SYSTEM, reflect_on_tool_use=True,
        model_client_stream=stream,
    )
    if not stream:
        return (await agent.run(task=question)).messages[-1].content
    return [message async for message in agent.run_stream(task=question)][-1].messages[-1].content


run(ask, traces.shutdown)
