from shared.litellm import litellm_loop
from openinference.instrumentation.litellm import LiteLLMInstrumentor
from weather import provider, run, within_root

traces = provider()
LiteLLMInstrumentor().instrument(tracer_provider=traces)
run(within_root(litellm_loop()), traces.shutdown)
