import os

os.environ["SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS"] = "true"
os.environ["SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE"] = "true"
from weather import AGENT, GPT, SYSTEM, get_weather, provider, run

traces = provider()
from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function


class Weather:
    @kernel_function(name="get_weather", description="Tells the weather of a city.")
    def get_weather(self, city: str, days: int) -> str:
        return get_weather(city, days)


async def ask(question, stream):
    service = OpenAIChatCompletion(ai_model_id=GPT, async_client=AsyncOpenAI(max_retries=0))
    agent = ChatCompletionAgent(service=service, name=AGENT, instructions=SYSTEM, plugins=[Weather()])
    if not stream:
        return str(await agent.get_response(messages=question))
    return "".join([str(piece) async for piece in agent.invoke_stream(messages=question)])


run(ask, traces.shutdown)
