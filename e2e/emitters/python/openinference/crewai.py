from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from shared.crewai import crew
from weather import provider, run

traces = provider()
CrewAIInstrumentor().instrument(tracer_provider=traces)
OpenAIInstrumentor().instrument(tracer_provider=traces)
run(crew(), traces.shutdown)
