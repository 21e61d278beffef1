"""What a user of agentops 0.2 writes; the endpoint comes from the environment."""
import agentops
from agentops import ActionEvent, ErrorEvent, ToolEvent, record_function
from openai import OpenAI

agentops.init(auto_start_session=False)
client = OpenAI()
agentops.start_session(tags=["live", "python-0.2"])


@record_function("classify")
def classify(text):
    return {"intent": "billing"}


client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "I was charged twice"}])
classify("I was charged twice")
tool = ToolEvent(name="refund", params={"customer": "c_42"})
try:
    raise ValueError("no money left")
except ValueError as error:
    agentops.record(ErrorEvent(trigger_event=tool, exception=error))
agentops.record(ActionEvent(action_type="note", params={"a": 1}, returns="ok"))
print(f"cost={agentops.end_session('Fail', end_state_reason='no refund')}")
