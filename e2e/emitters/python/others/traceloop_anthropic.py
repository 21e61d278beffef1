from anthropic import Anthropic
from opentelemetry import trace
from traceloop.sdk import Traceloop
from traceloop.sdk.decorators import workflow
from weather import PLAYHEAD, anthropic_loop, run

Traceloop.init(app_name="weather", api_endpoint=PLAYHEAD, api_key="none", telemetry_enabled=False)
ask = workflow(name="weather")(anthropic_loop(Anthropic(max_retries=0)))
run(ask, lambda: trace.get_tracer_provider().force_flush())
