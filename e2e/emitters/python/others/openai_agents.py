from agents import set_trace_processors
from agents.tracing.processors import BackendSpanExporter, BatchTraceProcessor
from shared.openai_agents import openai_agent
from weather import PLAYHEAD, run

processor = BatchTraceProcessor(BackendSpanExporter(api_key="none", endpoint=f"{PLAYHEAD}/v1/traces/ingest"))
set_trace_processors([processor])
run(openai_agent("chat"), processor.shutdown)
