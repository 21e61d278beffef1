import os
import time

from weather import PLAYHEAD, provider, run

traces = provider()
os.environ["OTEL_EXPORTER"] = "otlp_http"
os.environ["OTEL_ENDPOINT"] = f"{PLAYHEAD}/v1/traces"
import litellm
from shared.litellm import litellm_loop

litellm.callbacks = ["otel"]


def finish():
    time.sleep(2)  # its callbacks run in a thread that can't be joined
    traces.shutdown()


run(litellm_loop(), finish)
