"""What a user of agentops 0.4 writes; every endpoint comes from the environment."""
import agentops
from openai import OpenAI

agentops.init(auto_start_session=False)
client = OpenAI()


@agentops.tool(name="lookup", cost=0.05)
def lookup(customer):
    print("looking up", customer)
    return {"customer": customer, "invoices": 2}


@agentops.tool
def refund(customer):
    raise ValueError("customer is None")


@agentops.guardrail(spec="input")
def polite(text):
    return {"tripwire_triggered": False}


@agentops.operation(name="plan")
def plan(text):
    answer = client.chat.completions.create(
        model="gpt-4o-mini", messages=[{"role": "user", "content": text}], temperature=0.2
    )
    return answer.choices[0].message.content


@agentops.agent(name="billing")
class Billing:
    def run(self, text):
        polite(text)
        plan(text)
        lookup("c_42")
        try:
            refund(None)
        except ValueError:
            print("the refund failed")


trace = agentops.start_trace("support", tags=["live", "python-0.4"])
Billing().run("I was charged twice")
agentops.update_trace_metadata({"plan": "pro"})
agentops.end_trace(trace, "Fail")
