from shared.langchain import langchain_agent
from openinference.instrumentation.langchain import LangChainInstrumentor
from weather import provider, run

traces = provider()
LangChainInstrumentor().instrument(tracer_provider=traces)
run(langchain_agent({}), traces.shutdown)
