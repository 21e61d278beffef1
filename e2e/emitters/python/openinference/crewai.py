from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from weather import AGENT, GPT, MODEL, SYSTEM, get_weather, provider, run

traces = provider()
CrewAIInstrumentor().instrument(tracer_provider=traces)
OpenAIInstrumentor().instrument(tracer_provider=traces)


def ask(question, stream):
    llm = LLM(model=f"openai/{GPT}", base_url=f"{MODEL}/v1", api_key="none", stream=stream, max_retries=0)
    agent = Agent(role=AGENT, goal=SYSTEM, backstory="A meteorologist.", llm=llm, tools=[tool("get_weather")(get_weather)], max_retry_limit=0)
    task = Task(description=question, expected_output="One sentence.", agent=agent)
    return Crew(agents=[agent], tasks=[task]).kickoff().raw


run(ask, traces.shutdown)
