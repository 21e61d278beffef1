"""Agent tests as users write them. Run by `test_agent_mark.py`, in processes of pytest-xdist."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

import pytest

import playhead
from playhead.testing import expect, variations

runs = itertools.count()


@playhead.record_action("look_up")
def look_up(words: str) -> int:
    return len(words)


@pytest.fixture
def greeting() -> str:
    return "Hello"


@pytest.mark.agent(inputs=["one", "two", "three"], repeat=2, concurrency=3)
def test_every_run_has_a_session_of_its_own(
    agent_input: str, playhead_session: playhead.SessionView, greeting: str
) -> None:
    look_up(f"{greeting} {agent_input}")
    assert playhead.get_session().id == playhead_session.id
    expect(playhead_session).to_have_called("look_up", args=[f"Hello {agent_input}"], times=1)


# More runs than sessions that are kept in memory.
GOOD = [{"name": f"good {number}", "tool": "look_up"} for number in range(21)]


@pytest.mark.agent(inputs=[*GOOD, {"name": "bad", "tool": None}])
def test_fails_on_an_input(agent_run: Any) -> None:
    with playhead.session("part", input=agent_run.variant):
        if agent_run.input["tool"]:
            look_up("x")
    expect(agent_run.session).to_have_called("look_up")


@pytest.mark.agent(inputs=["a"], repeat={"max": 30, "stop": "sprt"})
def test_stops_once_it_is_certain(agent_input: str) -> None:
    look_up(agent_input)


@pytest.mark.agent(inputs=["a", "b"], repeat=5, pass_rate=0.5)
def test_may_fail_sometimes(agent_input: str) -> None:
    look_up(agent_input)
    assert next(runs) % 10 != 3


@pytest.mark.agent(repeat=4, budget={"usd": 0.005})
def test_stops_when_the_budget_is_spent(playhead_session: playhead.SessionView) -> None:
    playhead.record(playhead.LLMEvent(model="gpt-4o", prompt_tokens=1000, completion_tokens=100))
    assert playhead_session.cost


@pytest.mark.agent(inputs=variations("Help me. Please.").case_and_punctuation(), concurrency=2)
async def test_async_without_a_plugin(agent_input: str, playhead_session: playhead.SessionView) -> None:
    await asyncio.sleep(0)
    look_up(agent_input)
    expect(playhead_session).to_have_called("look_up", times=1)


started: list[str] = []


@pytest.mark.asyncio
@pytest.mark.agent(inputs=["a", "b"], concurrency=2)
async def test_async_with_pytest_asyncio(agent_input: str, playhead_session: playhead.SessionView) -> None:
    started.append(agent_input)
    while len(started) < 2:
        # Each run waits for the other one.
        await asyncio.sleep(0.01)
    await asyncio.gather(asyncio.sleep(0), asyncio.to_thread(look_up, agent_input))
    expect(playhead_session).to_have_called("look_up", args=[agent_input], times=1)


@pytest.mark.agent(inputs=["slow"], timeout="200ms")
def test_times_out(agent_input: str) -> None:
    look_up(agent_input)
    try:
        time.sleep(60)
    except Exception:
        look_up("again")


@pytest.mark.agent(inputs=["slow", "slower"], timeout="200ms", concurrency=2)
def test_times_out_in_threads(agent_input: str) -> None:
    look_up(agent_input)
    while True:
        time.sleep(0.01)


@pytest.mark.agent(inputs=["slow"], timeout="200ms")
async def test_times_out_in_a_loop(agent_input: str) -> None:
    look_up(agent_input)
    await asyncio.sleep(60)


@pytest.mark.flaky(reruns=2)
def test_passes_when_it_is_retried(playhead_session: playhead.SessionView, request: Any) -> None:
    look_up("x")
    assert request.node.execution_count == 2


@pytest.mark.agent(inputs=[])
def test_without_inputs(agent_input: str) -> None:
    look_up(agent_input)


@pytest.mark.agent(inputs=["a"], pass_rate=3)
def test_with_a_wrong_option(agent_input: str) -> None:
    look_up(agent_input)


def test_without_the_mark(agent_input: str) -> None:
    look_up(agent_input)
