import os

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
from openai import OpenAI
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from weather import PLAYHEAD, openai_loop, provider, run, within_root

traces = provider()
logs = LoggerProvider()
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{PLAYHEAD}/v1/logs")))
set_logger_provider(logs)
OpenAIInstrumentor().instrument(tracer_provider=traces)


def finish():
    traces.shutdown()
    logs.shutdown()


run(within_root(openai_loop(OpenAI(max_retries=0))), finish)
