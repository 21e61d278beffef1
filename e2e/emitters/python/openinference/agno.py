from openinference.instrumentation.agno import AgnoInstrumentor
from shared.agno import agno_agent
from weather import provider, run

traces = provider()
AgnoInstrumentor().instrument(tracer_provider=traces)
run(agno_agent(), traces.shutdown)
