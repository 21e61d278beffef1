"""How long a recorded function takes longer, against OpenTelemetry's SDK with the same attributes.

    pip install opentelemetry-sdk && PYTHONPATH=src python tests/overhead.py

Processor time of the thread that runs the function; what background threads do is reported apart.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import Any, Callable

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import playhead

CALLS = 2_000
ROUNDS = 15


class Nowhere(SpanExporter):
    def export(self, spans: Any) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def plain(customer_id: str, plan: str) -> dict[str, Any]:
    return {"id": customer_id, "plan": plan, "invoices": [1, 2, 3]}


def with_opentelemetry() -> Callable[..., Any]:
    provider = TracerProvider()
    # As large as ours, so that nothing is dropped.
    provider.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=200_000))
    tracer = provider.get_tracer("overhead")

    def traced(customer_id: str, plan: str) -> dict[str, Any]:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "fetch_customer",
            "playhead.step.kind": "action",
            "gen_ai.tool.call.arguments": json.dumps({"customer_id": customer_id, "plan": plan}),
        }
        with tracer.start_as_current_span("fetch_customer", attributes=attributes) as span:
            result = plain(customer_id, plan)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
            return result

    def run() -> None:
        with tracer.start_as_current_span("session"):
            for index in range(CALLS):
                traced(f"c_{index}", "pro")

    return run


def with_playhead() -> Callable[..., Any]:
    playhead.init(endpoint=False, silent=True, keep_sessions=0)
    recorded = playhead.record_action("fetch_customer")(plain)

    def run() -> None:
        with playhead.session("session"):
            for index in range(CALLS):
                recorded(f"c_{index}", "pro")

    return run


def measure(run: Callable[[], None]) -> tuple[float, float]:
    """Microseconds for each call: in this thread, and in all."""
    before, before_all = time.thread_time(), time.process_time()
    run()
    here = time.thread_time() - before
    return here / CALLS * 1e6, (time.process_time() - before_all) / CALLS * 1e6


def main() -> None:
    ways = {"OpenTelemetry": with_opentelemetry(), "Playhead": with_playhead()}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    # By turns, so that both see the same machine.
    for _ in range(ROUNDS):
        for name, run in ways.items():
            found[name].append(measure(run))
    for name, rounds in found.items():
        here, everywhere = (statistics.median(column) for column in zip(*rounds))
        print(f"{name:14} {here:6.1f} µs in the thread, {everywhere:6.1f} µs in the process")


if __name__ == "__main__":
    main()
