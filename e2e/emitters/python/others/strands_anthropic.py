from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from weather import AGENT, CLAUDE, MODEL, SYSTEM, get_weather, provider, run

traces = provider()


def ask(question, stream):
    model = AnthropicModel(
        client_args={"base_url": MODEL, "api_key": "none", "max_retries": 0}, model_id=CLAUDE, max_tokens=500
    )
    agent = Agent(name=AGENT, model=model, system_prompt=SYSTEM, tools=[tool(get_weather)], callback_handler=None)
    return str(agent(question))


run(ask, traces.shutdown)
