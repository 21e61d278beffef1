from groq import Groq
from openinference.instrumentation.groq import GroqInstrumentor
from weather import MODEL, openai_loop, provider, run, within_root

traces = provider()
GroqInstrumentor().instrument(tracer_provider=traces)
client = Groq(api_key="none", base_url=MODEL, max_retries=0)
run(within_root(openai_loop(client)), traces.shutdown)
