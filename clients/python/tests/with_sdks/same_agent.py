"""A small agent that fails; `same-agent.ts` is the same one, and its replay has to be the same."""

from __future__ import annotations

from typing import Any, Optional

import openai

import playhead

MESSAGE = "I was charged twice for my subscription"


def ask(system: str, message: str) -> str:
    messages: Any = [{"role": "system", "content": system}, {"role": "user", "content": message}]
    answer = openai.OpenAI().chat.completions.create(model="gpt-4o", messages=messages)
    return answer.choices[0].message.content or ""


@playhead.record_action("classify_intent")
def classify(message: str) -> str:
    return ask("Answer with one word: billing, refund or general.", message)


@playhead.record_tool("list_plans", effect="read")
def list_plans(limit: int) -> list[dict[str, Any]]:
    return [{"plan": "pro", "price": 12.5, "isOld": False}][:limit]


@playhead.record_action("fetch_customer_data", effect="read")
def fetch_customer(customer_id: Optional[str]) -> None:
    raise ValueError("customer_id is missing")


@playhead.agent("support")
def run(message: str) -> None:
    intent = classify(message)
    list_plans(1)
    playhead.record(playhead.ActionEvent("note", params={"intent": intent}, returns={"isNoted": True}))
    fetch_customer(None)


playhead.init()
playhead.start_session(name="support", tags=["support", "v2.1"], metadata={"plan": "pro"})
try:
    run(MESSAGE)
except ValueError as error:
    playhead.end_session("Fail", end_state_reason=f"ValueError: {error}")
print(playhead.get_session().url)
