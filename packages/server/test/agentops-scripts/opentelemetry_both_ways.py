"""The same spans and log records by OpenTelemetry's gRPC and HTTP exporters, each into a project of its own."""
import logging
import os

from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from grpc import Compression

http, grpc = os.environ["HTTP_URL"], os.environ["GRPC_URL"]
by_http = {"x-playhead-project": "by-http"}
by_grpc = {"x-playhead-project": "by-grpc"}
resource = Resource.create({"service.name": "shop", "deployment.environment.name": "test"})

spans = TracerProvider(resource=resource)
spans.add_span_processor(BatchSpanProcessor(HttpSpans(endpoint=f"{http}/v1/traces", headers=by_http)))
spans.add_span_processor(
    BatchSpanProcessor(GrpcSpans(endpoint=grpc, insecure=True, headers=by_grpc, compression=Compression.Gzip))
)
logs = LoggerProvider(resource=resource)
logs.add_log_record_processor(BatchLogRecordProcessor(HttpLogs(endpoint=f"{http}/v1/logs", headers=by_http)))
logs.add_log_record_processor(BatchLogRecordProcessor(GrpcLogs(endpoint=grpc, insecure=True, headers=by_grpc)))
set_logger_provider(logs)
log = logging.getLogger("shop")
log.addHandler(LoggingHandler(logger_provider=logs))

tracer = spans.get_tracer("shop", "1.2")
with tracer.start_as_current_span("handle", attributes={"session.id": "thread-1", "user.id": "u1"}):
    with tracer.start_as_current_span(
        "chat gpt-4o-mini",
        kind=trace.SpanKind.CLIENT,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.usage.input_tokens": 120,
            "gen_ai.usage.output_tokens": 35,
            "gen_ai.response.finish_reasons": ["stop"],
        },
    ):
        log.warning("the answer is late")
    try:
        with tracer.start_as_current_span("execute_tool refund", attributes={"gen_ai.tool.name": "refund"}):
            raise ValueError("customer is None")
    except ValueError:
        pass
spans.shutdown()
logs.shutdown()
