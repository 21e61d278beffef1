"""What the support agent does: which tools it calls, in which order, with which effects and at what cost."""

from __future__ import annotations

import pytest
from support_agent import run_support_agent

import playhead
from playhead import SessionView
from playhead.testing import before, expect

CHARGED_TWICE = "I was charged twice for my subscription"
BILLING_VARIANTS = [
    "I was charged twice for my subscription",
    "There's a duplicate charge on my account",
    "You billed me twice this month",
    "Double billing issue on account",
    "I see two charges from you",
    "Charged me double",
]


def test_answers_a_billing_question_from_customer_data(playhead_session: SessionView) -> None:
    reply = run_support_agent(CHARGED_TWICE)

    assert "two charges" in reply
    expect(playhead_session).to_have_called_in_order(
        ["classify_intent", "fetch_customer_data", "session_complete"]
    )
    expect(playhead_session).to_have_called("fetch_customer_data", args=["c_42"], times=1)
    expect(playhead_session).to_have_called("session_complete", args={"intent": "billing"})
    expect(playhead_session).to_have_no_errors()
    expect(playhead_session).to_have_no_loops()


def test_changes_nothing_for_a_billing_question(playhead_session: SessionView) -> None:
    run_support_agent(CHARGED_TWICE)

    expect(playhead_session).to_have_effects([])
    expect(playhead_session).not_.to_have_called("issue_refund")


def test_issues_one_refund_after_looking_up_the_customer(playhead_session: SessionView) -> None:
    run_support_agent("Please refund INV-2292, account c_42")

    expect(playhead_session).to_satisfy_order(before("fetch_customer_data", "issue_refund"))
    refund = {"tool": "issue_refund", "args": {"invoice": "INV-2292", "amount": 129.5}}
    expect(playhead_session).to_have_effects([refund])


def test_answers_a_greeting_without_looking_up_a_customer(playhead_session: SessionView) -> None:
    reply = run_support_agent("hello")

    assert len(reply) > 10
    expect(playhead_session).to_match_trajectory(["classify_intent", "write_reply", "session_complete"])


def test_answers_in_three_model_calls_for_less_than_a_cent(playhead_session: SessionView) -> None:
    run_support_agent(CHARGED_TWICE)

    expect(playhead_session).to_cost_less_than(0.01, llm_calls=4)
    expect(playhead_session).to_finish_within("8s", per_tool={"fetch_customer_data": "2s"})


@pytest.mark.usefixtures("playhead_session")
def test_a_session_can_also_be_read_without_matchers() -> None:
    run_support_agent(CHARGED_TWICE)

    session = playhead.get_session()
    actions = [event.action_type for event in session.action_events]
    assert actions.index("fetch_customer_data") < actions.index("session_complete")
    assert session.cost is not None and session.cost < 0.01, f"see {session.url}"


@pytest.mark.agent(inputs=BILLING_VARIANTS, concurrency=3)
def test_billing_in_any_words(agent_input: str, playhead_session: SessionView) -> None:
    run_support_agent(agent_input)

    expect(playhead_session).to_have_called_in_order(
        ["classify_intent", "fetch_customer_data", "session_complete"]
    )
