"""Answers customers: finds out what they want, looks up their account, and replies."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, Optional

import openai

import playhead
from playhead import ActionEvent, record_action

POLICY = """You answer for the support team of Tidewater, a company that sells a calendar by subscription.
- Call customers by their first name. Be brief, warm and exact; never promise what you cannot see in the data.
- A charge is a duplicate when two invoices have the same amount and are no more than three days apart.
- A duplicate charge is paid back in full. Say which invoice it is, and that it arrives within five days.
- Never name another customer, never repeat a card number, and never guess an account: ask for it."""

CLASSIFY = """Answer with one word: billing, refund or general.
Billing is anything about charges, also when it is said in passing: charged twice, billed double, two charges.
Refund is only for those who ask for money back."""
# The same without the examples: the `intent` fault.
CLASSIFY_VAGUELY = "Answer with one word: billing, refund or general."

CUSTOMERS: dict[str, dict[str, Any]] = {
    "c_42": {
        "id": "c_42",
        "name": "Ada Lovelace",
        "plan": "Pro",
        "invoices": [
            {"id": "INV-2291", "amount": 129.5, "charged_on": "2026-11-03"},
            {"id": "INV-2292", "amount": 129.5, "charged_on": "2026-11-04"},
        ],
    },
}


def ask_model(system: str, message: str) -> str:
    """An ordinary client: after `playhead.init()`, its calls are recorded."""
    client = openai.OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "none"))
    answer = client.chat.completions.create(
        model="gpt-4o",
        messages=[{"role": "system", "content": system}, {"role": "user", "content": message}],
    )
    return answer.choices[0].message.content or ""


@record_action("classify_intent")
def classify(message: str, instructions: str = CLASSIFY) -> str:
    return ask_model(instructions, message).strip().lower()


@record_action("extract_customer_id")
def extract_customer_id(message: str) -> Optional[str]:
    found = re.search(r"\bc_\d+\b", message)
    return None if found is None else found[0]


@record_action("find_account", effect="read")
def find_account() -> str:
    """The account that the message was sent from."""
    return "c_42"


@record_action("fetch_customer_data", effect="read")
def fetch_customer(customer_id: Optional[str]) -> dict[str, Any]:
    if customer_id is None:
        raise ValueError("customer_id cannot be None")
    return CUSTOMERS[customer_id]


@record_action("issue_refund", effect="write")
def issue_refund(invoice: str, amount: float) -> dict[str, Any]:
    return {"success": True, "refund_id": f"re_{invoice[-4:]}", "amount": amount}


@record_action("write_reply")
def write_reply(message: str, known: Optional[dict[str, Any]] = None) -> str:
    return ask_model(f"{POLICY}\nWhat you know: {json.dumps(known or {})}", message)


def run_support_agent(message: str) -> str:
    """Answers one message in a session of its own. SUPPORT_AGENT_FAULT plants a fault."""
    fault = os.environ.get("SUPPORT_AGENT_FAULT")
    with playhead.session(name="support", input=message, tags=["support", "v2.1"]):
        ask_model(f"{POLICY}\nTell the customer in one sentence that you are looking into it.", message)
        intent = classify(message, CLASSIFY_VAGUELY) if fault == "intent" else classify(message)
        reply = answer(message, intent, fault)
        playhead.record(
            ActionEvent("session_complete", params={"intent": intent}, returns={"length": len(reply)})
        )
        return reply


def answer(message: str, intent: str, fault: Optional[str]) -> str:
    if intent not in ("billing", "refund"):
        return write_reply(message)
    customer_id = extract_customer_id(message)
    if customer_id is None and fault != "customer_id":
        customer_id = find_account()
    customer = fetch_customer(customer_id)
    if intent == "refund":
        asked = re.search(r"INV-\d+", message)
        invoices = customer["invoices"]
        invoice = next((one for one in invoices if asked and one["id"] == asked[0]), invoices[-1])
        refund = issue_refund(invoice["id"], invoice["amount"])
        return write_reply(message, {"customer": customer, "refund": refund})
    reply = write_reply(message, {"customer": customer})
    for _ in range(8 if fault == "cost" else 0):
        reply = write_reply(
            f"{message}\nYour last draft was: {reply}\nMake it better.", {"customer": customer}
        )
    return reply


if __name__ == "__main__":
    from scripted_model import use_scripted_model

    playhead.init(service_name="support-agent")
    # Without an API key, a scripted local model answers.
    model = None if os.environ.get("OPENAI_API_KEY") else use_scripted_model()
    print(run_support_agent(" ".join(sys.argv[1:]) or "I was charged twice for my subscription"))
    playhead.flush()
