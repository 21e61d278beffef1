import dspy
from openinference.instrumentation.dspy import DSPyInstrumentor
from openinference.instrumentation.litellm import LiteLLMInstrumentor
from weather import GPT, MODEL, get_weather, provider, run

traces = provider()
DSPyInstrumentor().instrument(tracer_provider=traces)
LiteLLMInstrumentor().instrument(tracer_provider=traces)
dspy.configure(lm=dspy.LM(f"openai/{GPT}", api_base=f"{MODEL}/v1", api_key="none", cache=False, num_retries=0))


def ask(question, stream):
    return dspy.ReAct("question -> answer", tools=[get_weather], max_iters=3)(question=question).answer


run(ask, traces.shutdown)
