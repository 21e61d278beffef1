from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from weather import AGENT, GPT, MODEL, SYSTEM, get_weather, provider, run

traces = provider()
LlamaIndexInstrumentor().instrument(tracer_provider=traces)


async def ask(question, stream):
    llm = OpenAILike(
        model=GPT, api_base=f"{MODEL}/v1", api_key="none", is_chat_model=True, is_function_calling_model=True,
        max_retries=0, additional_kwargs={"stream_options": {"include_usage": True}} if stream else {},
    )
    agent = FunctionAgent(name=AGENT, tools=[get_weather], llm=llm, system_prompt=SYSTEM, streaming=stream)
    handler = agent.run(question)
    async for event in handler.stream_events():
        assert event is not None or AgentStream
    return str(await handler)


run(ask, traces.shutdown)
