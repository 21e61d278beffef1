from shared.mlflow import finish, mlflow
from openai import OpenAI
from weather import get_weather, openai_loop, run

mlflow.openai.autolog()
traced = mlflow.trace(name="get_weather", span_type="TOOL")(get_weather)


def call(name, given):
    try:
        return traced(**given)
    except ValueError as error:
        return f"Error: {error}"


run(mlflow.trace(name="weather_agent", span_type="AGENT")(openai_loop(OpenAI(max_retries=0), call)), finish)
