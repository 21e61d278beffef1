from agno.agent import Agent
from agno.models.openai import OpenAIChat
from openinference.instrumentation.agno import AgnoInstrumentor
from weather import AGENT, GPT, MODEL, SYSTEM, get_weather, provider, run

traces = provider()
AgnoInstrumentor().instrument(tracer_provider=traces)


def ask(question, stream):
    model = OpenAIChat(id=GPT, base_url=f"{MODEL}/v1", api_key="none", max_retries=0)
    agent = Agent(name=AGENT, model=model, tools=[get_weather], instructions=SYSTEM)
    if stream:
        return [event for event in agent.run(question, stream=True)][-1].content
    return agent.run(question).content


run(ask, traces.shutdown)
