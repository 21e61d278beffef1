"""A support agent. `SUPPORT_FAULT` plants the faults that its tests are to find."""

from __future__ import annotations

import os
import re
from typing import Any, Optional

import openai

import playhead
from playhead import ActionEvent, record_action

INVOICES = {"c_42": [{"id": "INV-2291", "amount": 129.5}, {"id": "INV-2292", "amount": 129.5}]}


def has_fault(name: str) -> bool:
    return name in os.environ.get("SUPPORT_FAULT", "").split()


client = openai.OpenAI()


def ask(system: str, message: str) -> str:
    answer = client.chat.completions.create(
        model="gpt-4o",
        messages=[{"role": "system", "content": system}, {"role": "user", "content": message}],
    )
    return answer.choices[0].message.content or ""


@record_action("classify_intent")
def classify(message: str) -> str:
    if has_fault("phrasing") and "double" in message.lower():
        return "general"
    return ask("Answer with one word: billing, refund or general.", f"Classify: {message}").strip().lower()


def extract_customer_id(message: str) -> Optional[str]:
    found = re.search(r"\bc_\d+\b", message)
    if found is None and not has_fault("no-customer"):
        return "c_42"
    return found.group(0) if found else None


@record_action("fetch_customer_data", effect="read")
def fetch_customer(customer_id: Optional[str]) -> dict[str, Any]:
    if customer_id is None:
        raise ValueError("customer_id cannot be None")
    return {"id": customer_id, "invoices": INVOICES[customer_id]}


@record_action("generate_billing_response")
def billing_response(customer: dict[str, Any], message: str) -> str:
    drafts = 10 if has_fault("expensive") else 1
    texts = [ask(f"You answer for the billing team. {customer}", message) for _ in range(drafts)]
    return texts[-1]


@record_action("generate_general_response")
def general_response(message: str) -> str:
    return ask("You answer for the support team.", message)


def run_support_agent(message: str) -> str:
    playhead.start_session(tags=["support", "v2.1"])
    try:
        intent = classify(message)
        if intent == "billing":
            reply = billing_response(fetch_customer(extract_customer_id(message)), message)
        else:
            reply = general_response(message)
        playhead.record(
            ActionEvent("session_complete", params={"intent": intent}, returns={"length": len(reply)})
        )
        playhead.end_session("Success")
        return reply
    except Exception as error:
        playhead.end_session("Fail", end_state_reason=str(error))
        raise
