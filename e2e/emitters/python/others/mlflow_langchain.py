from shared.mlflow import finish, mlflow
from shared.langchain import langchain_agent
from weather import run

mlflow.langchain.autolog()
run(langchain_agent({}), finish)
