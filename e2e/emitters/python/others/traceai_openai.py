from openai import OpenAI
from traceai_openai import OpenAIInstrumentor
from weather import openai_loop, provider, run, within_root

traces = provider()
OpenAIInstrumentor().instrument(tracer_provider=traces)
run(within_root(openai_loop(OpenAI(max_retries=0))), traces.shutdown)
