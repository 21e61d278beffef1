import os

from weather import PLAYHEAD, provider, run

os.environ |= {
    "LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true",
    "LANGSMITH_API_KEY": "none", "LANGSMITH_ENDPOINT": PLAYHEAD, "OTEL_EXPORTER_OTLP_ENDPOINT": PLAYHEAD,
}
traces = provider()
from shared.langchain import langchain_agent
from langchain_core.tracers.langchain import wait_for_all_tracers


def finish():
    wait_for_all_tracers()
    traces.shutdown()


run(langchain_agent({}), finish)
