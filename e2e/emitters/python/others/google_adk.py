from weather import provider, run

traces = provider()
from shared.google_adk import adk_agent

run(adk_agent(), traces.shutdown)
