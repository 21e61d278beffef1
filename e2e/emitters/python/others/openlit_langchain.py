from weather import PLAYHEAD, provider, run

traces = provider()
import openlit

openlit.init(otlp_endpoint=PLAYHEAD, disable_metrics=True, application_name="weather")
from shared.langchain import langchain_agent

run(langchain_agent({}), traces.shutdown)
