from shared.openai_agents import openai_agent
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from weather import provider, run

traces = provider()
OpenAIAgentsInstrumentor().instrument(tracer_provider=traces)
run(openai_agent(), traces.shutdown)
