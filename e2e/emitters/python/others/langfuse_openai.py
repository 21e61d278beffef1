import os

from weather import PLAYHEAD, get_weather, openai_loop, run

os.environ |= {"LANGFUSE_HOST": PLAYHEAD, "LANGFUSE_BASE_URL": PLAYHEAD, "LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}
from langfuse import get_client, observe
from langfuse.openai import OpenAI

traced = observe(name="get_weather", as_type="tool")(get_weather)


def call(name, given):
    try:
        return traced(**given)
    except ValueError as error:
        return f"Error: {error}"


loop = openai_loop(OpenAI(max_retries=0), call)


@observe(name="weather_agent", as_type="agent")
def ask(question, stream):
    return loop(question, stream)


run(ask, lambda: get_client().flush())
