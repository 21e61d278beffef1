import os

from weather import PLAYHEAD, openai_loop, run

os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = PLAYHEAD
os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf"
import logfire
from openai import OpenAI

logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
logfire.instrument_openai()
ask = openai_loop(OpenAI(max_retries=0))


def asked(question, stream):
    with logfire.span("weather"):
        return ask(question, stream)


run(asked, logfire.shutdown)
