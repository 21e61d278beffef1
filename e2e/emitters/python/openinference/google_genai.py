from shared.google_genai import genai_loop
from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor
from weather import provider, run, within_root

traces = provider()
GoogleGenAIInstrumentor().instrument(tracer_provider=traces)
run(within_root(genai_loop()), traces.shutdown)
