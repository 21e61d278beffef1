import os

os.environ["HAYSTACK_CONTENT_TRACING_ENABLED"] = "true"
from haystack import tracing
from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer
from shared.haystack import haystack_agent
from opentelemetry import trace
from weather import provider, run, within_root

traces = provider()
tracing.enable_tracing(OpenTelemetryTracer(trace.get_tracer("haystack")))
tracing.tracer.is_content_tracing_enabled = True
run(within_root(haystack_agent()), traces.shutdown)
