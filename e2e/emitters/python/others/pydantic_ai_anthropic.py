from shared.pydantic_ai import pydantic_agent
from pydantic_ai import Agent
from weather import provider, run

traces = provider()
Agent.instrument_all()
run(pydantic_agent("anthropic"), traces.shutdown)
