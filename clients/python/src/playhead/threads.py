"""Propagates the session into threads: work that a step hands to a thread belongs to that step.

New threads have an empty context, unlike asyncio tasks. Only our own variable is handed over.
"""

from __future__ import annotations

import functools
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable

from .runtime import active_runtime
from .scope import Scope, current_scope

_is_installed = False


def carry_into_threads() -> None:
    global _is_installed
    if _is_installed:
        return
    _is_installed = True
    _patch_threads()
    _patch_pools()


def _patch_threads() -> None:
    start = threading.Thread.start

    @functools.wraps(start)
    def start_in_session(self: threading.Thread) -> None:
        scope = current_scope.get()
        if scope is not None and active_runtime() is not None:
            # Patch the instance, which also covers classes that override `run`.
            self.run = _run_in(scope, self.run)  # type: ignore[method-assign]
        start(self)

    threading.Thread.start = start_in_session  # type: ignore[method-assign]


def _patch_pools() -> None:
    submit: Any = ThreadPoolExecutor.submit

    @functools.wraps(submit)
    def submit_in_session(
        self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        # Pool threads outlive the session they were started in, so each work item carries its own scope.
        if active_runtime() is None or not callable(fn):
            future: Future[Any] = submit(self, fn, *args, **kwargs)
        else:
            future = submit(self, _run_in(current_scope.get(), fn), *args, **kwargs)
        return future

    ThreadPoolExecutor.submit = submit_in_session  # type: ignore[assignment,method-assign]


def _run_in(scope: Scope | None, fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn, updated=())
    def run(*args: Any, **kwargs: Any) -> Any:
        outer = current_scope.get()
        current_scope.set(scope)
        try:
            return fn(*args, **kwargs)
        finally:
            current_scope.set(outer)

    return run
