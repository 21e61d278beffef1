"""`@pytest.mark.agent`: a test that runs with many inputs, many times, and is judged by all runs together."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Generator
from typing import Any, Optional

import pytest

from .format.lines import safe_for_log
from .pytest_runs import Runs
from .pytest_sessions import identity_of, join_run, location_of, run_of
from .runtime import obtain_runtime
from .start import flush
from .testing.agent_runs import AgentTestOptions, FinishedRun, is_spent, read_agent_options
from .testing.divergence import describe_divergence
from .testing.judge_runs import judge_runs
from .testing.load_session import open_recording
from .testing.recorded_run import save_result
from .testing.subject import SessionJson

_ARRIVAL_S = 2.0
_IS_RUN = pytest.StashKey[bool]()
_IS_ASYNC = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "agent(inputs, repeat=1, pass_rate=None, inconclusive=None, concurrency=1, budget=None, "
        "timeout='60s'): run the test with every input as often as `repeat` says, each run in a session of "
        "its own, and judge all runs together. The fixture agent_input is the input of a run.",
    )


@pytest.fixture
def agent_input(request: pytest.FixtureRequest) -> Any:
    """The input of this run of a test that is marked with `@pytest.mark.agent(inputs=[…])`."""
    return _outside_of_runs(request, "agent_input")


@pytest.fixture
def agent_run(request: pytest.FixtureRequest) -> Any:
    """This run: `input`, `session`, `variant` and `attempt`."""
    return _outside_of_runs(request, "agent_run")


def _outside_of_runs(request: pytest.FixtureRequest, name: str) -> None:
    if request.node.get_closest_marker("agent") is None:
        pytest.fail(f"The fixture {name} needs @pytest.mark.agent(inputs=[…]) on the test.", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Optional[bool]:
    if pyfuncitem.get_closest_marker("agent") is None:
        return None
    if not pyfuncitem.stash.get(_IS_ASYNC, False):
        runs, options = _start_runs(pyfuncitem)
        runs.make(pyfuncitem.obj)
        _judge(pyfuncitem, runs, options)
    elif _has_other_loop(pyfuncitem):
        return None
    else:
        asyncio.run(pyfuncitem.obj())
    return True


def _has_other_loop(item: pytest.Function) -> bool:
    """True if another plugin calls the test in its loop: it has made it a plain function, or it is anyio."""
    return not inspect.iscoroutinefunction(item.obj) or "anyio_backend" in item.funcargs


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Whoever calls an async test calls all of its runs."""
    if item.get_closest_marker("agent") is None or not isinstance(item, pytest.Function):
        yield
        return
    test = item.obj
    item.stash[_IS_RUN] = False
    item.stash[_IS_ASYNC] = inspect.iscoroutinefunction(test)
    if item.stash[_IS_ASYNC]:

        @functools.wraps(test)
        async def all_runs(**_fixtures: Any) -> None:
            __tracebackhide__ = True
            runs, options = _start_runs(item)
            await runs.make_in_loop(test)
            _judge(item, runs, options)

        item.obj = all_runs
    outcome = yield
    if item.stash[_IS_ASYNC]:
        item.obj = test
    if outcome.excinfo is None and not item.stash[_IS_RUN]:
        pytest.fail("Another plugin ran this test, so @pytest.mark.agent has no effect on it.", pytrace=False)


def _start_runs(item: pytest.Function) -> tuple[Runs, AgentTestOptions]:
    item.stash[_IS_RUN] = True
    options = _read_options(item)
    if item.get_closest_marker("cassette") is not None and options.repeat != 1:
        pytest.fail(
            "A cassette gives the same answers in every run, so `repeat` proves nothing. Omit one.",
            pytrace=False,
        )
    runtime = join_run(item.config)
    if runtime is None:
        pytest.fail("@pytest.mark.agent needs recording, and playhead.shutdown() stopped it.", pytrace=False)
    return Runs(item, runtime, options), options


def _read_options(item: pytest.Function) -> AgentTestOptions:
    marker = item.get_closest_marker("agent")
    assert marker is not None
    try:
        return read_agent_options(*marker.args, **marker.kwargs)
    except (TypeError, ValueError) as error:
        problem = str(error)
    pytest.fail(f"@pytest.mark.agent: {problem}", pytrace=False)


def _judge(item: pytest.Function, runs: Runs, options: AgentTestOptions) -> None:
    __tracebackhide__ = True
    finished = runs.finished
    _add_divergences(finished)
    is_budget_spent = is_spent(finished, options)
    result, failure = judge_runs(identity_of(item), finished, len(runs.planned), options, is_budget_spent)
    save_result(run_of(item.config), {**result, "location": location_of(item)})
    if failure is not None:
        # So that the links work.
        flush(_ARRIVAL_S)
        pytest.fail(safe_for_log(failure), pytrace=False)


def _add_divergences(runs: list[FinishedRun]) -> None:
    """The first failed run of each input, compared with a passing run of the same or any input."""
    seen: set[str] = set()
    for failed in runs:
        if failed.is_passed or failed.variant in seen:
            continue
        seen.add(failed.variant)
        candidates = [*(run for run in runs if run.variant == failed.variant), *runs]
        passed = next((run for run in candidates if run.is_passed), None)
        if passed is None:
            continue
        with obtain_runtime().guard():
            sessions = [_session_of(run) for run in (passed, failed)]
            if sessions[0] is not None and sessions[1] is not None:
                failed.divergence = describe_divergence(sessions[0], sessions[1])


def _session_of(run: FinishedRun) -> Optional[SessionJson]:
    """Only the last sessions are kept in memory."""
    runtime = obtain_runtime()
    record = runtime.store.by_id(run.session_id)
    if record is not None:
        return runtime.read(record)
    return None if run.recording is None else open_recording(run.recording)
