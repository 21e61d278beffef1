import os

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
from shared.openai_agents import openai_agent
from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from weather import provider, run

traces = provider()
OpenAIAgentsInstrumentor().instrument(tracer_provider=traces)
run(openai_agent(), traces.shutdown)
