from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from shared.pydantic_ai import pydantic_agent
from pydantic_ai import Agent
from weather import PLAYHEAD, run

traces = TracerProvider()
trace.set_tracer_provider(traces)
traces.add_span_processor(OpenInferenceSpanProcessor())
traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{PLAYHEAD}/v1/traces")))
Agent.instrument_all()
run(pydantic_agent(), traces.shutdown)
