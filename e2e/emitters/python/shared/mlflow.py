"""MLflow, which sends to Playhead."""

from __future__ import annotations

import os

from weather import PLAYHEAD

os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{PLAYHEAD}/v1/traces"
os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"
os.environ["MLFLOW_TRACKING_URI"] = PLAYHEAD
import mlflow
from opentelemetry import trace


def finish() -> None:
    mlflow.flush_trace_async_logging()
    getattr(trace.get_tracer_provider(), "force_flush", lambda: None)()
