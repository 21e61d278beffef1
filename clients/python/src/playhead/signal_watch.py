"""Makes sure that a process started by another one notices SIGTERM.

Python runs handlers between two of its instructions. A signal that arrives right before the main thread waits
for a pipe or a lock is noticed only when something else arrives there, and a pool that was terminated would
wait forever for its worker.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any, Callable, Optional

_AGAIN_AFTER_S = 0.05


class SignalWatch:
    def __init__(self, is_pending: Callable[[], bool]) -> None:
        # True if the handler is ours and has not run.
        self._is_pending = is_pending
        self._writing: Optional[int] = None

    def install(self) -> None:
        """In the main thread. Leaves alone what asyncio or the program has set up."""
        if not hasattr(signal, "pthread_kill"):
            return
        before = signal.set_wakeup_fd(-1)
        if before != -1 and before != self._writing:
            signal.set_wakeup_fd(before)
            return
        # The ends that a forked process inherited are those of the other one.
        reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        arguments: Any = (reading,)
        threading.Thread(target=self._watch, args=arguments, name="playhead-signals", daemon=True).start()

    def _watch(self, reading: int) -> None:
        while True:
            try:
                arrived = os.read(reading, 64)
            except OSError:
                return
            if signal.SIGTERM not in arrived:
                continue
            time.sleep(_AGAIN_AFTER_S)
            while self._is_pending():
                # To the main thread itself, which stops waiting and runs the handler.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
                time.sleep(_AGAIN_AFTER_S)
