"""What a user of agentops 0.2 and 0.3 writes; the endpoint comes from the environment."""
import sys

import agentops
from agentops import ActionEvent, LLMEvent, ToolEvent, record_action, record_tool, track_agent
from openai import OpenAI

agentops.init(auto_start_session=False)
client = OpenAI()
session = agentops.start_session(tags=["live"])


@track_agent(name="qa")
class Tester:
    def ask(self, text):
        return client.chat.completions.create(
            model="gpt-4o-mini", messages=[{"role": "user", "content": text}], temperature=0.2
        )

    @record_tool("search")
    def search(self, query):
        return [query, "found"]


@record_action("classify")
def classify(text):
    return {"intent": "billing"}


@record_action("refund")
def refund(customer):
    raise KeyError("customer")


tester = Tester()
tester.ask("I was charged twice")
tester.search("invoices")
classify("I was charged twice")
try:
    refund(None)
except KeyError:
    pass
agentops.add_tags(["python-0.3"])
agentops.record(ActionEvent(action_type="note", params={"a": 1}, returns="ok", logs="written by hand"))
agentops.record(
    LLMEvent(
        prompt=[{"role": "user", "content": "hi"}],
        completion={"role": "assistant", "content": "hello"},
        prompt_tokens=1000,
        completion_tokens=200,
        model="gpt-4o",
    )
)
agentops.record(ToolEvent(name="mail", params={"to": "x"}, returns=True))
cost = agentops.end_session("Success", end_state_reason="all done")
print(f"cost={cost}")
sys.stdout.flush()
