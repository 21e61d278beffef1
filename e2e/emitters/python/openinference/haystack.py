from shared.haystack import haystack_agent
from openinference.instrumentation.haystack import HaystackInstrumentor
from weather import provider, run, within_root

traces = provider()
HaystackInstrumentor().instrument(tracer_provider=traces)
run(within_root(haystack_agent()), traces.shutdown)
