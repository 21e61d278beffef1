from anthropic import Anthropic
from openinference.instrumentation.anthropic import AnthropicInstrumentor
from weather import anthropic_loop, provider, run, within_root

traces = provider()
AnthropicInstrumentor().instrument(tracer_provider=traces)
run(within_root(anthropic_loop(Anthropic(max_retries=0))), traces.shutdown)
