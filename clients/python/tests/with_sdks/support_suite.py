"""Behaviour of the support agent: routing, ambiguous input, phrasings, cost. Run by `test_plugin.py`, as
users run theirs."""

from __future__ import annotations

from typing import Any

import pytest
from support_agent import run_support_agent

import playhead

QUESTION = "There are two charges for my subscription"
PHRASINGS = [QUESTION, "You billed me twice", "A double charge on my account", "My bill is wrong"]


@pytest.fixture(autouse=True)
def recorded(request: Any) -> Any:
    playhead.init(api_key="test-key")
    playhead.start_session(tags=["test", request.node.name])
    yield
    playhead.end_session("Fail" if request.node.rep_call.failed else "Success")


def test_billing_questions_are_answered_from_customer_data() -> None:
    reply = run_support_agent(QUESTION)
    assert "charges" in reply
    names = [event.action_type for event in playhead.get_session().action_events]
    assert names.index("fetch_customer_data") < names.index("session_complete")


def test_an_unclear_message_is_answered() -> None:
    assert len(run_support_agent("hello")) > 10


def test_any_phrasing_of_a_billing_question_leads_to_customer_data() -> None:
    failures = []
    for phrasing in PHRASINGS:
        playhead.start_session(tags=["phrasing"])
        try:
            run_support_agent(phrasing)
            session = playhead.get_session()
            if "fetch_customer_data" not in [event.action_type for event in session.action_events]:
                failures.append(f"{phrasing}: wrong tools, see {session.url}")
            playhead.end_session("Success")
        except ValueError as error:
            failures.append(f"{phrasing}: {error}, see {playhead.get_session().url}")
            playhead.end_session("Fail")
    assert not failures, f"failed on {len(failures)}/{len(PHRASINGS)} phrasings:\n" + "\n".join(failures)


def test_a_billing_question_stays_cheap() -> None:
    playhead.start_session(tags=["cost"])
    run_support_agent(QUESTION)
    session = playhead.get_session()
    playhead.end_session("Success")
    assert session.cost < 0.01, f"cost ${session.cost:.4f}, see {session.url}"
