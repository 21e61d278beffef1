import os

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
from shared.google_genai import genai_loop
from opentelemetry.instrumentation.google_genai import GoogleGenAiSdkInstrumentor
from weather import provider, run, within_root

traces = provider()
GoogleGenAiSdkInstrumentor().instrument(tracer_provider=traces)
run(within_root(genai_loop()), traces.shutdown)
