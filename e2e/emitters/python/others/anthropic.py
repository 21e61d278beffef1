import os

os.environ["ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE"] = "content"
from anthropic import Anthropic
from weather import anthropic_loop, provider, run, within_root

traces = provider()
run(within_root(anthropic_loop(Anthropic(max_retries=0))), traces.shutdown)
