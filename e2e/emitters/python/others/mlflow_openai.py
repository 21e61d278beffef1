import os

from weather import PLAYHEAD, get_weather, openai_loop, run

os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{PLAYHEAD}/v1/traces"
os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"
os.environ["MLFLOW_TRACKING_URI"] = PLAYHEAD
import mlflow
from openai import OpenAI
from opentelemetry import trace

mlflow.openai.autolog()
traced = mlflow.trace(name="get_weather", span_type="TOOL")(get_weather)


def call(name, given):
    try:
        return traced(**given)
    except ValueError as error:
        return f"Error: {error}"


ask = mlflow.trace(name="weather_agent", span_type="AGENT")(openai_loop(OpenAI(max_retries=0), call))


def finish():
    mlflow.flush_trace_async_logging()
    getattr(trace.get_tracer_provider(), "force_flush", lambda: None)()


run(ask, finish)
