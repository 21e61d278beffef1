"""Stops a run of an agent test that takes too long."""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import signal
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Callable, NoReturn, Optional

# How long a run may take to end after it was stopped; after that it is left to itself.
_GRACE_S = 1.0
_DEBUGGERS = ("bdb", "pdb", "pydevd", "debugpy")


class RunStopped(BaseException):
    """Raised inside a run that takes too long. No Exception, because agents catch those and try again."""


def call_within(limit_ms: float, call: Callable[[], Any]) -> None:
    """Calls a function, and raises TimeoutError if it takes longer.

    In the main thread the function is interrupted there, since fixtures may be bound to that thread. In any
    other thread it gets one of its own, which can be left behind if it waits for ever.
    """
    __tracebackhide__ = True
    limit_s = limit_ms / 1000
    is_stopped = False
    try:
        if threading.current_thread() is not threading.main_thread():
            _call_in_thread(limit_s, call)
        elif _is_alarm_free():
            with _alarm(limit_s) as alarm:
                call()
            is_stopped = alarm.is_raised
        else:
            with _watchdog(limit_s) as watchdog:
                call()
            is_stopped = watchdog.is_raised
    except RunStopped:
        is_stopped = True
    if is_stopped:
        _fail(limit_ms)


async def await_within(limit_ms: float, coroutine: Coroutine[Any, Any, Any]) -> None:
    """Awaits a coroutine. After the limit it is cancelled, and TimeoutError is raised."""
    __tracebackhide__ = True
    task = asyncio.ensure_future(coroutine)
    try:
        done, _running = await asyncio.wait({task}, timeout=limit_ms / 1000)
    except BaseException:
        task.cancel()
        raise
    if not done:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_S)
        _fail(limit_ms)
    task.result()


def _fail(limit_ms: float) -> NoReturn:
    __tracebackhide__ = True
    raise TimeoutError(f"The run timed out after {limit_ms:g} ms.") from None


class _Stop:
    """Says whether to stop the run, and remembers that it was stopped: the agent may catch everything."""

    def __init__(self) -> None:
        self.is_over = False
        self.is_raised = False
        self._is_debugged = False

    def is_due(self, frame: Optional[FrameType]) -> bool:
        self._is_debugged = self._is_debugged or _is_in_debugger(frame)
        if self.is_over or self._is_debugged:
            return False
        self.is_raised = True
        return True


def _is_in_debugger(frame: Optional[FrameType]) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).split(".", 1)[0] in _DEBUGGERS:
            return True
        frame = frame.f_back
    return False


def _is_alarm_free() -> bool:
    """False on Windows, and where pytest-timeout or the agent itself uses the alarm."""
    if not hasattr(signal, "setitimer"):
        return False
    unused = (signal.SIG_DFL, signal.SIG_IGN)
    return signal.getsignal(signal.SIGALRM) in unused and signal.getitimer(signal.ITIMER_REAL)[0] == 0


@contextmanager
def _alarm(limit_s: float) -> Iterator[_Stop]:
    """Interrupts the main thread, also while it waits in a system call; again each second, if it goes on."""
    stop = _Stop()

    def ring(_number: int, frame: Optional[FrameType]) -> None:
        if stop.is_due(frame):
            raise RunStopped

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, limit_s, _GRACE_S)
        try:
            yield stop
        finally:
            stop.is_over = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _watchdog(limit_s: float) -> Iterator[_Stop]:
    """Interrupts the code of this thread from another one, as soon as it no longer waits in a system call."""
    stop = _Stop()
    ended = threading.Event()
    watched = threading.get_ident()

    def watch() -> None:
        wait_s = limit_s
        while not ended.wait(wait_s):
            wait_s = _GRACE_S
            if stop.is_due(sys._current_frames().get(watched)):
                _raise_in(watched, RunStopped)

    watcher = threading.Thread(target=watch, name="playhead-timeout", daemon=True)
    watcher.start()
    try:
        try:
            yield stop
        finally:
            stop.is_over = True
    finally:
        ended.set()
        watcher.join()
        # What was not raised yet must not hit the code after the run.
        _raise_in(watched, None)


def _raise_in(thread_id: int, kind: Optional[type[BaseException]]) -> None:
    raised = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), raised)


def _call_in_thread(limit_s: float, call: Callable[[], Any]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    # It belongs to the run's session.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    thread.join(limit_s)
    stop = _Stop()
    if thread.is_alive() and thread.ident is not None:
        while not stop.is_due(sys._current_frames().get(thread.ident)) and thread.is_alive():
            thread.join(_GRACE_S)
        if thread.is_alive():
            _raise_in(thread.ident, RunStopped)
            thread.join(_GRACE_S)
    if stop.is_raised:
        raise RunStopped
    if errors:
        raise errors[0]
