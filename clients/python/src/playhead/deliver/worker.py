"""A background thread for work that must not block the host."""

from __future__ import annotations

import threading
import time
from typing import Callable, Optional

# Returns the seconds until its next call, or None.
Task = Callable[[], Optional[float]]


class Worker:
    def __init__(self, on_fault: Callable[[BaseException], None]) -> None:
        self._on_fault = on_fault
        # Reentrant: a signal handler may run while this thread holds it.
        self._condition = threading.Condition(threading.RLock())
        self._due: dict[Task, float] = {}
        self._rounds: dict[Task, int] = {}
        self._running: Optional[Task] = None
        self._thread: Optional[threading.Thread] = None

    def schedule(self, task: Task, after_s: float) -> None:
        """Reschedule only to an earlier time, never to a later one."""
        at = time.monotonic() + after_s
        planned = self._due.get(task)
        if planned is not None and planned <= at:
            return
        with self._condition:
            planned = self._due.get(task)
            if planned is None or planned > at:
                self._due[task] = at
                self._start()
                self._condition.notify_all()

    def run_now(self, task: Task, timeout_s: float) -> None:
        """Run the task on the thread and wait for it, up to the timeout."""
        if threading.current_thread() is self._thread:
            return
        with self._condition:
            goal = self._rounds.get(task, 0) + (2 if self._running == task else 1)
            self._due[task] = 0.0
            if not self._start():
                self._due.pop(task, None)
                goal = 0
            self._condition.notify_all()
            if goal > 0:
                self._condition.wait_for(lambda: self._rounds.get(task, 0) >= goal, timeout_s)
        if goal == 0:
            self._perform(task)

    def forget(self) -> None:
        """Restart in a forked child, which has no copy of the parent's thread."""
        self._condition = threading.Condition(threading.RLock())
        self._due.clear()
        self._running = None
        self._thread = None

    def _start(self) -> bool:
        if self._thread is not None and self._thread.is_alive():
            return True
        thread = threading.Thread(target=self._work, name="playhead", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The interpreter is shutting down.
            return False
        self._thread = thread
        return True

    def _work(self) -> None:
        while True:
            with self._condition:
                task = self._next_task()
                self._due.pop(task, None)
                self._running = task
            again_s = self._perform(task)
            with self._condition:
                self._running = None
                self._rounds[task] = self._rounds.get(task, 0) + 1
                self._condition.notify_all()
            if again_s is not None:
                self.schedule(task, again_s)

    def _next_task(self) -> Task:
        while True:
            if not self._due:
                self._condition.wait()
                continue
            task = min(self._due, key=self._due.__getitem__)
            wait_s = self._due[task] - time.monotonic()
            if wait_s <= 0:
                return task
            self._condition.wait(wait_s)

    def _perform(self, task: Task) -> Optional[float]:
        try:
            return task()
        except Exception as fault:
            self._on_fault(fault)
            return None
