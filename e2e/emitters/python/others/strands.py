from strands import Agent, tool
from strands.models.openai import OpenAIModel
from weather import AGENT, GPT, MODEL, SYSTEM, get_weather, provider, run

traces = provider()


def ask(question, stream):
    model = OpenAIModel(client_args={"base_url": f"{MODEL}/v1", "api_key": "none", "max_retries": 0}, model_id=GPT)
    agent = Agent(name=AGENT, model=model, system_prompt=SYSTEM, tools=[tool(get_weather)], callback_handler=None)
    return str(agent(question))


run(ask, traces.shutdown)
