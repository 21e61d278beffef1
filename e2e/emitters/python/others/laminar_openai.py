from urllib.parse import urlparse

from lmnr import Laminar, observe
from openai import OpenAI
from weather import PLAYHEAD, get_weather, openai_loop, run

place = urlparse(PLAYHEAD)
Laminar.initialize(project_api_key="none", base_url=f"http://{place.hostname}", http_port=place.port, force_http=True)
traced = observe(name="get_weather", span_type="TOOL")(get_weather)


def call(name, given):
    try:
        return traced(**given)
    except ValueError as error:
        return f"Error: {error}"


run(observe(name="weather")(openai_loop(OpenAI(max_retries=0), call)), Laminar.shutdown)
