"""Carries the session into processes that `multiprocessing` and `concurrent.futures` start.

Work that a step hands to another process belongs to that step. The process delivers what it recorded before
it ends, and never ends what another one started.
"""

from __future__ import annotations

import functools
import os
import pickle
from types import ModuleType
from typing import Any, Callable, Optional

from .exit_hooks import DRAIN_S
from .headers import headers_of, scope_from_headers
from .import_hooks import when_imported
from .runtime import active_runtime
from .scope import Scope, current_scope, settle

Headers = dict[str, str]


def carry_into_processes() -> None:
    when_imported("multiprocessing.process", _patch_processes)
    when_imported("multiprocessing.pool", _patch_pools)
    when_imported("concurrent.futures.process", _patch_executors)


def _patch_processes(module: ModuleType) -> None:
    process: Any = module.BaseProcess
    start = process.start

    @functools.wraps(start)
    def start_in_session(self: Any) -> None:
        runtime = active_runtime()
        if runtime is None or "run" in self.__dict__:
            start(self)
            return
        # On the instance: that covers classes that override `run`, and spawned processes are sent it.
        self.run = _CarriedRun(self, _headers_here(), _portable(runtime.options))
        try:
            start(self)
        finally:
            self.__dict__.pop("run", None)

    process.start = start_in_session


def _patch_pools(module: ModuleType) -> None:
    pool: Any = module.Pool
    for name in ("apply_async", "_map_async", "imap", "imap_unordered"):
        setattr(pool, name, _hand_over(getattr(pool, name)))


def _patch_executors(module: ModuleType) -> None:
    executor: Any = module.ProcessPoolExecutor
    executor.submit = _hand_over(executor.submit)


def _hand_over(submit: Callable[..., Any]) -> Callable[..., Any]:
    """Workers outlive the session they were started in, so each work item carries its own."""

    @functools.wraps(submit)
    def submit_in_session(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        if active_runtime() is None or not callable(fn):
            return submit(self, fn, *args, **kwargs)
        return submit(self, _CarriedCall(fn, current_scope.get(), _headers_here()), *args, **kwargs)

    return submit_in_session


def _headers_here() -> Headers:
    runtime = active_runtime()
    return headers_of(settle(current_scope.get()) or (None if runtime is None else runtime.inherited))


def _portable(options: dict[str, Any]) -> Optional[dict[str, Any]]:
    """None if another process would redact less than this one."""
    portable: dict[str, Any] = {}
    for name, value in options.items():
        try:
            pickle.dumps(value)
            portable[name] = value
        except Exception:
            if name == "redact":
                return None
    return portable


class _CarriedRun:
    """What a process runs: it is sent to processes that are not forked."""

    def __init__(self, process: Any, headers: Headers, options: Optional[dict[str, Any]]) -> None:
        self._process = process
        self._headers = headers
        self._options = options
        self._pid = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        # Only a process that is not forked reads it.
        return {**self.__dict__, "_pid": 0}

    def __call__(self) -> None:
        if self._pid == 0:
            self._begin()
        try:
            type(self._process).run(self._process)
        finally:
            deliver_before_end()

    def _begin(self) -> None:
        from .start import init

        if active_runtime() is None and self._options is not None:
            init(**self._options)
        runtime = active_runtime()
        if runtime is not None:
            runtime.begin_child()
        current_scope.set(_scope_of(self._headers))


class _CarriedCall:
    """A work item of a pool."""

    def __init__(self, fn: Callable[..., Any], scope: Optional[Scope], headers: Headers) -> None:
        self._fn = fn
        self._scope = scope
        self._headers = headers
        self._is_here = True

    def __getstate__(self) -> dict[str, Any]:
        return {"_fn": self._fn, "_headers": self._headers, "_scope": None, "_is_here": False}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        outer = current_scope.get()
        current_scope.set(self._scope if self._is_here else _scope_of(self._headers))
        try:
            return self._fn(*args, **kwargs)
        finally:
            current_scope.set(outer)


def _scope_of(headers: Headers) -> Optional[Scope]:
    return scope_from_headers(headers.get("traceparent"), headers.get("baggage"))


def deliver_before_end() -> None:
    runtime = active_runtime()
    if runtime is None:
        return
    with runtime.guard():
        runtime.drain(DRAIN_S)
    with runtime.guard():
        runtime.delivery.set_aside_all()
