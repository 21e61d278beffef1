from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from weather import AGENT, GPT, MODEL, get_weather, provider, run

traces = provider()
SmolagentsInstrumentor().instrument(tracer_provider=traces)


def ask(question, stream):
    model = OpenAIServerModel(model_id=GPT, api_base=f"{MODEL}/v1", api_key="none", client_kwargs={"max_retries": 0})
    agent = ToolCallingAgent(tools=[tool(get_weather)], model=model, name=AGENT, stream_outputs=stream, max_steps=4)
    return list(agent.run(question, stream=True))[-1] if stream else agent.run(question)


run(ask, traces.shutdown)
