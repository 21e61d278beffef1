"""Makes the runs of an agent test: one after the other, in threads, or as tasks of one event loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Optional

import pytest

from .pytest_sessions import close_test_session, open_test_session, plain_message, reason_of, save_attempt
from .runtime import Runtime
from .scope import SessionFrame, current_scope
from .session_view import SessionView
from .testing.agent_runs import NO_INPUT, AgentTestOptions, FinishedRun, PlannedRun, plan_runs, should_stop
from .testing.cost import is_cost_incomplete, total_tokens
from .testing.expect import failing_step_of
from .testing.run_timeout import await_within, call_within

# Fixtures that differ from run to run.
_PER_RUN = ("agent_input", "agent_run", "playhead_session")
_INTERRUPTIONS = (
    KeyboardInterrupt,
    SystemExit,
    GeneratorExit,
    pytest.skip.Exception,
    pytest.exit.Exception,
)


@dataclass
class AgentRun:
    """One run of an agent test."""

    input: Any
    session: SessionView
    # The input's name in reports.
    variant: str
    # The number of this run for its input, from 1.
    attempt: int


class Runs:
    """The runs of one test."""

    def __init__(self, item: pytest.Function, runtime: Runtime, options: AgentTestOptions) -> None:
        self.planned: list[PlannedRun] = plan_runs(options)
        self._item = item
        self._runtime = runtime
        self._options = options
        self._made: dict[int, FinishedRun] = {}
        self._is_stopped = False
        self._remaining: Iterator[tuple[int, PlannedRun]] = iter(list(enumerate(self.planned)))

    @property
    def finished(self) -> list[FinishedRun]:
        """In the order of the plan, so that the same failure always gives the same message."""
        return [self._made[index] for index in sorted(self._made)]

    @property
    def _workers(self) -> int:
        return min(self._options.concurrency, len(self.planned))

    def make(self, test: Callable[..., Any]) -> None:
        """In this thread, or in several."""
        if self._workers == 1:
            self._work(test)
            return
        with ThreadPoolExecutor(self._workers) as executor:
            for future in [executor.submit(self._work, test) for _ in range(self._workers)]:
                future.result()

    def _work(self, test: Callable[..., Any]) -> None:
        for index, planned in self._remaining:
            # Nothing that a run sets in its context reaches the next one.
            contextvars.copy_context().run(self._call, test, index, planned)
            if self._is_enough():
                return

    def _call(self, test: Callable[..., Any], index: int, planned: PlannedRun) -> None:
        with self._recorded(index, planned) as arguments:
            call_within(self._options.timeout_ms, lambda: _complete(test(**arguments)))

    async def make_in_loop(self, test: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        """As tasks of the running loop, so that all of them may use what is bound to it."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            # Another library's loop, such as trio's.
            await self._work_alone(test)
            return
        workers = [asyncio.ensure_future(self._work_in_loop(test)) for _ in range(self._workers)]
        try:
            done, _running = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            for worker in done:
                worker.result()
        finally:
            self._is_stopped = True
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work_alone(self, test: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        for index, planned in self._remaining:
            with self._recorded(index, planned) as arguments:
                await test(**arguments)
            if self._is_enough():
                return

    async def _work_in_loop(self, test: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        for index, planned in self._remaining:
            # A task has a context of its own.
            await asyncio.ensure_future(self._await(test, index, planned))
            if self._is_enough():
                return

    async def _await(
        self, test: Callable[..., Coroutine[Any, Any, Any]], index: int, planned: PlannedRun
    ) -> None:
        with self._recorded(index, planned) as arguments:
            await await_within(self._options.timeout_ms, test(**arguments))

    def _is_enough(self) -> bool:
        return should_stop(list(self._made.values()), self._options)

    @contextmanager
    def _recorded(self, index: int, planned: PlannedRun) -> Iterator[dict[str, Any]]:
        """Gives the arguments of a run, records what happens inside, and notes how it ended."""
        runtime = self._runtime
        variant = None if planned.input is NO_INPUT else planned.variant
        current_scope.set(None)
        frame = open_test_session(runtime, self._item, variant, planned.attempt)
        view = SessionView.empty() if frame is None else SessionView(runtime, frame.record)
        own_input = None if variant is None else planned.input
        run = AgentRun(own_input, view, planned.variant, planned.attempt)
        finished = FinishedRun(planned.variant, planned.attempt)
        try:
            yield _arguments_of(self._item, run)
        except BaseException as error:
            if self._is_interruption(error):
                if frame is not None:
                    close_test_session(runtime, frame, "Indeterminate", reason_of(error))
                raise
            finished.is_passed, finished.message = False, plain_message(error)
            self._close(finished, frame, variant, error)
        else:
            self._close(finished, frame, variant, None)
        self._made[index] = finished

    def _is_interruption(self, error: BaseException) -> bool:
        # An agent may cancel itself, which is a result. A run that is stopped with all others has none.
        is_cancelled = isinstance(error, asyncio.CancelledError) and self._is_stopped
        return is_cancelled or isinstance(error, _INTERRUPTIONS)

    def _close(
        self,
        finished: FinishedRun,
        frame: Optional[SessionFrame],
        variant: Optional[str],
        error: Optional[BaseException],
    ) -> None:
        runtime = self._runtime
        if frame is None:
            return
        with runtime.guard():
            state, reason = ("Success", None) if error is None else ("Fail", reason_of(error))
            close_test_session(runtime, frame, state, reason, error)
            _fill_in(finished, runtime.read(frame.record)["session"])
            finished.step_id = None if error is None else failing_step_of(frame.record.id)
            finished.url, finished.recording = save_attempt(
                runtime,
                self._item,
                frame.record,
                variant=variant,
                attempt=finished.attempt,
                error=error,
                is_failed=error is not None,
            )


def _complete(result: Any) -> None:
    """A plain function may return a coroutine."""
    if inspect.iscoroutine(result):
        asyncio.run(result)


def _arguments_of(item: pytest.Function, run: AgentRun) -> dict[str, Any]:
    own = {"agent_input": run.input, "agent_run": run, "playhead_session": run.session}
    names = item._fixtureinfo.argnames
    return {name: own[name] if name in _PER_RUN else item.funcargs[name] for name in names}


def _fill_in(finished: FinishedRun, summary: Mapping[str, Any]) -> None:
    finished.session_id = summary["id"]
    finished.cost = summary.get("cost")
    finished.is_cost_incomplete = is_cost_incomplete(summary)
    finished.tokens = total_tokens(summary.get("usage") or {}) or 0
