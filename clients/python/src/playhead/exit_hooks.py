"""Delivers or spools what is left when the process exits, within a time limit."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .runtime import Runtime

DRAIN_S = 2.0


class ExitHooks:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._is_installed = False

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

    def _on_exit(self) -> None:
        from .sessions import uncaught_error

        error = uncaught_error()
        if isinstance(error, KeyboardInterrupt):
            self._leave("The process was ended by SIGINT", None)
        else:
            self._leave("The process ended before the session did", error)

    def _on_signal(self, number: int, _frame: Optional[FrameType]) -> None:
        """Let the signal end the process as it would have without us."""
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
