from weather import PLAYHEAD, openai_loop, provider, run, within_root

traces = provider()
import openlit
from openai import OpenAI

openlit.init(otlp_endpoint=PLAYHEAD, disable_metrics=True, application_name="weather")
run(within_root(openai_loop(OpenAI(max_retries=0))), traces.shutdown)
