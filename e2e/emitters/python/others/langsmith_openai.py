import os

from weather import PLAYHEAD, call_tool, get_weather, openai_loop, provider, run

os.environ |= {
    "LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true",
    "LANGSMITH_API_KEY": "none", "LANGSMITH_ENDPOINT": PLAYHEAD, "OTEL_EXPORTER_OTLP_ENDPOINT": PLAYHEAD,
}
traces = provider()
from langsmith import Client, traceable
from langsmith.wrappers import wrap_openai
from openai import OpenAI

client = Client()
traced = traceable(run_type="tool", name="get_weather", client=client)(get_weather)


def call(name, given):
    try:
        return traced(**given)
    except ValueError as error:
        return f"Error: {error}"


assert call_tool
ask = traceable(name="weather", client=client)(openai_loop(wrap_openai(OpenAI(max_retries=0)), call))


def finish():
    client.flush()
    traces.shutdown()


run(ask, finish)
