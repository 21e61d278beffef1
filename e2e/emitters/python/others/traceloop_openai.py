from openai import OpenAI
from traceloop.sdk import Traceloop
from traceloop.sdk.decorators import tool, workflow
from weather import PLAYHEAD, call_tool, get_weather, openai_loop, run
from opentelemetry import trace

Traceloop.init(app_name="weather", api_endpoint=PLAYHEAD, api_key="none", disable_batch=False, telemetry_enabled=False)
traced = tool(name="get_weather")(get_weather)


def call(name, given):
    try:
        return traced(**given)
    except ValueError as error:
        return f"Error: {error}"


assert call_tool
run(workflow(name="weather")(openai_loop(OpenAI(max_retries=0), call)), lambda: trace.get_tracer_provider().force_flush())
