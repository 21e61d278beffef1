from weather import PLAYHEAD, anthropic_loop, provider, run, within_root

traces = provider()
import openlit
from anthropic import Anthropic

openlit.init(otlp_endpoint=PLAYHEAD, disable_metrics=True, application_name="weather")
run(within_root(anthropic_loop(Anthropic(max_retries=0))), traces.shutdown)
