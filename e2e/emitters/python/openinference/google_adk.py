from weather import provider, run

traces = provider()
from openinference.instrumentation.google_adk import GoogleADKInstrumentor

GoogleADKInstrumentor().instrument(tracer_provider=traces)
from shared.google_adk import adk_agent

run(adk_agent(), traces.shutdown)
