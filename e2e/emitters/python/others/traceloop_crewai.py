from opentelemetry import trace
from traceloop.sdk import Traceloop
from weather import PLAYHEAD, run

Traceloop.init(app_name="weather", api_endpoint=PLAYHEAD, api_key="none", telemetry_enabled=False)
from shared.crewai import crew

run(crew(), lambda: trace.get_tracer_provider().force_flush())
