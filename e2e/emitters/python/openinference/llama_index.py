from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from shared.llama_index import llama_index_agent
from weather import provider, run

traces = provider()
LlamaIndexInstrumentor().instrument(tracer_provider=traces)
run(llama_index_agent(), traces.shutdown)
