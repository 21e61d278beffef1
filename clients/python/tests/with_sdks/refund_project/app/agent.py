"""Refunds double charges. Without SUPPORT_FIXED it can't find customers who write no id."""

from __future__ import annotations

import os
import re
from typing import Any, Optional

import openai

import playhead
from playhead import record_action

client = openai.OpenAI()


def ask(system: str, text: str) -> str:
    messages: Any = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message.content or ""


@record_action
def classify_intent(text: str) -> str:
    return ask(os.environ.get("SUPPORT_PROMPT", "Answer with one word: billing or general."), text)


@record_action
def extract_customer_id(text: str) -> Optional[str]:
    found = re.search(r"\bc_\d+\b", text)
    return found.group() if found else None


@record_action
def find_account(email: str) -> str:
    return "c_42"


@record_action(effect="read")
def fetch_customer(customer_id: Optional[str]) -> dict[str, Any]:
    if customer_id is None:
        raise ValueError("customer_id cannot be None")
    return {"id": customer_id, "invoice": "INV-2292"}


@record_action(effect="write")
def issue_refund(invoice: str) -> str:
    return f"refunded {invoice}"


def run(text: str) -> str:
    with playhead.session("support", input={"text": text}):
        if classify_intent(text) != "billing":
            return ask("You answer for the support team.", text)
        customer_id = extract_customer_id(text)
        if customer_id is None and os.environ.get("SUPPORT_FIXED"):
            customer_id = find_account(re.findall(r"\S+@\S+", text)[0])
        issue_refund(fetch_customer(customer_id)["invoice"])
        return ask("You answer for the billing team.", text)
