from shared.mlflow import finish, mlflow
from anthropic import Anthropic
from weather import anthropic_loop, run

mlflow.anthropic.autolog()
run(mlflow.trace(name="weather_agent", span_type="AGENT")(anthropic_loop(Anthropic(max_retries=0))), finish)
