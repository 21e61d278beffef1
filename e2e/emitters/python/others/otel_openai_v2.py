import os

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
from openai import OpenAI
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from weather import openai_loop, provider, run, within_root

traces = provider()
OpenAIInstrumentor().instrument(tracer_provider=traces)
run(within_root(openai_loop(OpenAI(max_retries=0))), traces.shutdown)
