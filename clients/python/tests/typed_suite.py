"""A user's tests: scripts/check-python-package.mjs checks their types and runs them with the wheel."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any, Optional

import pytest

import playhead
from playhead import ActionEvent, ErrorEvent, LLMEvent, SessionView, Step, ToolEvent
from playhead.testing import (
    any_order,
    before,
    called,
    directly_before,
    expect,
    fetch_session,
    never_both,
    null_arguments,
    open_recording,
    variations,
    writes,
)


@playhead.record_action("fetch_customer_data", effect="read")
def fetch_customer(customer_id: str) -> dict[str, int]:
    return {customer_id: 2}


@playhead.record_action
def greet(name: str) -> str:
    return f"Hello {name}"


@playhead.record_tool(effect="write")
async def issue_refund(charge: str, amount: float = 20.0) -> bool:
    return charge != "" and amount > 0


@playhead.agent("researcher")
async def research(question: str) -> AsyncIterator[str]:
    for word in question.split():
        yield word


@playhead.record_action("list_orders")
def list_orders(count: int) -> Iterator[int]:
    yield from range(count)


class Desk:
    @playhead.record_action("look_up")
    def look_up(self, key: str) -> Optional[int]:
        return len(key) or None


async def run_agent(message: str) -> str:
    customer: dict[str, int] = fetch_customer("c_42")
    found: Optional[int] = Desk().look_up(message)
    words: list[str] = [word async for word in research(message)]
    orders: list[int] = list(list_orders(2))
    is_paid_back: bool = await issue_refund("ch_2", amount=10)
    playhead.record(
        LLMEvent(model="gpt-4o", prompt=message, completion="ok", prompt_tokens=100, completion_tokens=5)
    )
    playhead.record(ActionEvent(action_type="session_complete", params={"orders": orders}))
    text: str = greet("Ada")
    return f"{text}: {customer} {found} {len(words)} {is_paid_back}"


def test_a_session_is_read_and_matched(playhead_session: SessionView) -> None:
    reply = asyncio.run(run_agent("I was charged twice"))
    assert reply == "Hello Ada: {'c_42': 2} 19 4 True"
    cost: Optional[float] = playhead_session.cost
    tags: list[str] = playhead_session.tags
    steps: list[Step] = playhead_session.steps
    assert cost is not None and "test" in tags and steps[0].parent_id is None
    expect(playhead_session).to_have_called("fetch_customer_data", args=["c_42"], times=1)
    expect(playhead_session).to_have_called(
        "issue_refund", args={"charge": re.compile("^ch_"), "amount": float}
    )
    expect(playhead_session).to_satisfy_order(
        before("fetch_customer_data", "issue_refund"),
        directly_before("list_orders", "issue_refund"),
        never_both("issue_refund", "close_account"),
    )
    expect(playhead_session).to_have_called_in_order(
        ["fetch_customer_data", any_order(["look_up", {"agent": "researcher", "steps": []}]), "issue_refund"]
    )
    expect(playhead_session).to_have_effects(["issue_refund"])
    expect(playhead_session).to_cost_less_than(0.01, llm_calls=2)
    expect(playhead_session).to_finish_within(timedelta(minutes=1), per_tool={"issue_refund": "30s"})
    expect(playhead_session).not_.to_have_called("close_account")
    expect(playhead_session).to_have_no_errors(allow_handled=True)
    expect(playhead_session).to_have_no_loops(max=2)
    assert writes(playhead_session) == ["issue_refund"]
    assert null_arguments(playhead_session) == []
    verdict = called(playhead_session, "close_account")
    message: str = verdict.message
    assert not verdict.passed and "close_account" in message


@pytest.mark.agent(
    inputs=variations("I was charged twice.").case_and_punctuation(), concurrency=2, timeout="30s"
)
async def test_any_words(agent_input: str, playhead_session: SessionView) -> None:
    await run_agent(agent_input)
    expect(playhead_session).to_have_called("look_up", args={"key": agent_input})


def test_the_rest_of_the_interface(tmp_path: Any) -> None:
    playhead.init(dir=str(tmp_path), endpoint=False, tags=["typed"], redact=["iban", re.compile("secret")])
    with playhead.session("support", input={"text": "hello"}, tags=["v2"], user_id="u_1") as session:
        playhead.add_tags(["late"])
        playhead.set_metadata({"plan": "pro"})
        playhead.record(ToolEvent(name="search", params={"q": 1}, returns=[]))
        playhead.record(ErrorEvent(error_type="Odd", message="no"))
        headers: dict[str, str] = playhead.session_headers()
        environment: dict[str, str] = playhead.session_environment()
        with playhead.continue_session(headers):
            current: Optional[SessionView] = playhead.get_session()
        assert current is not None and environment
    errors: list[str] = [error.message for error in session.errors]
    assert errors == ["no"]
    other: SessionView = playhead.start_session(tags=["x"])
    playhead.end_session("Success", end_state_reason="done")
    assert other.end_state == "success"
    is_delivered: bool = playhead.flush(5)
    counts: dict[str, Any] = playhead.stats()
    assert is_delivered and counts["dropped"] == 0
    (path, *_others) = sorted(tmp_path.glob("*.jsonl"))
    expect(open_recording(path)).not_.to_have_called("nothing")
    with pytest.raises(OSError):
        fetch_session("s_00000000", endpoint="http://127.0.0.1:9")
