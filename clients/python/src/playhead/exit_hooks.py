"""Delivers or spools what is left when the process exits, within a time limit."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, Optional

from .signal_watch import SignalWatch

if TYPE_CHECKING:
    from .runtime import Runtime

DRAIN_S = 2.0


class ExitHooks:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._is_installed = False
        self._is_ending = False
        # In a child process that has not recorded anything.
        self.is_child_unprepared: bool = False
        self._signals = SignalWatch(self._is_signal_pending)
        # By thread: the signals that were blocked before it forked.
        self._held = threading.local()

    def install(self) -> None:
        if self._is_installed:
            return
        self._is_installed = True
        atexit.register(self._on_exit)
        self._watch_for_end()

    def _watch_for_end(self) -> None:
        """A process that handles SIGTERM itself decides when to exit; `atexit` tells us."""
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return
        try:
            signal.signal(signal.SIGTERM, self._on_signal)
        except (OSError, ValueError):
            return

    def hold_signals(self) -> None:
        """While a process is forked. Python drops what arrives in the new process before it knows that it is
        one, and whoever ended it would wait forever."""
        if signal.getsignal(signal.SIGTERM) == self._on_signal and hasattr(signal, "pthread_sigmask"):
            self._held.mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    def release_signals(self) -> None:
        mask = getattr(self._held, "mask", None)
        if mask is not None:
            self._held.mask = None
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def begin_child(self) -> None:
        """In a process that was started by `fork` or `multiprocessing`: others end it, often by SIGTERM.

        Until it records something, the signal ends it at once.
        """
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) == self._on_signal:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self.is_child_unprepared = True

    def prepare_child(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self.is_child_unprepared = False
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._signals.install()
            signal.signal(signal.SIGTERM, self._on_signal)

    def _is_signal_pending(self) -> bool:
        return not self._is_ending and signal.getsignal(signal.SIGTERM) == self._on_signal

    def watch_bare_exit(self) -> None:
        """A forked process often ends with `os._exit`, which runs nothing else."""
        leave = os._exit

        def deliver_and_exit(status: int) -> NoReturn:
            os._exit = leave
            self._on_exit()
            leave(status)

        os._exit = deliver_and_exit

    def _on_exit(self) -> None:
        from .sessions import uncaught_error

        error = uncaught_error()
        is_interrupted = isinstance(error, KeyboardInterrupt)
        ended = "was ended by SIGINT" if is_interrupted else "ended before the session did"
        self._leave(f"The process {ended}", error)

    def _on_signal(self, number: int, _frame: Optional[FrameType]) -> None:
        """Let the signal end the process as it would have without us."""
        self._is_ending = True
        self._leave("The process was ended by SIGTERM", None)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _leave(self, reason: str, error: Optional[BaseException]) -> None:
        from .sessions import close_all_sessions

        runtime = self._runtime
        if not runtime.is_on:
            return
        with runtime.guard():
            close_all_sessions(runtime, reason, error)
        with runtime.guard():
            runtime.drain(DRAIN_S)
        with runtime.guard():
            runtime.delivery.set_aside_all()
