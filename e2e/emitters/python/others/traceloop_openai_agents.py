from opentelemetry import trace
from traceloop.sdk import Traceloop
from weather import PLAYHEAD, run

Traceloop.init(app_name="weather", api_endpoint=PLAYHEAD, api_key="none", telemetry_enabled=False)
from shared.openai_agents import openai_agent

run(openai_agent(), lambda: trace.get_tracer_provider().force_flush())
