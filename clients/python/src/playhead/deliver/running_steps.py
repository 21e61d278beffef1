"""Announces running steps to the server and keeps long sessions alive."""

from __future__ import annotations

import time
from typing import Callable, Optional

from ..session_record import SessionRecord
from ..session_store import SessionStore
from ..span import Span
from .worker import Worker

# Steps that run longer than this are announced; shorter ones cost nothing extra.
ANNOUNCED_AFTER_S = 0.2
LOOK_EVERY_S = 0.1
LOOK_SELDOM_S = 5.0
# The server marks a session as lost after two minutes of silence.
SIGN_OF_LIFE_EVERY_S = 30.0


class RunningSteps:
    def __init__(
        self, worker: Worker, store: SessionStore, announce: Callable[[Span, SessionRecord], None]
    ) -> None:
        self._worker = worker
        self._store = store
        self._announce = announce

    def on_step_start(self) -> None:
        self._worker.schedule(self._look, LOOK_EVERY_S)

    def announce(self, older_than_s: float = ANNOUNCED_AFTER_S) -> tuple[bool, bool]:
        """Announce steps older than the threshold. Returns whether younger ones are left, and any at all."""
        is_any_young = is_any_open = False
        now_ns = time.time_ns()
        for record in self._store.open_records():
            for span in list(record.open.values()):
                is_any_open = True
                if span.is_announced:
                    continue
                if now_ns - span.start_ns < older_than_s * 1e9:
                    is_any_young = True
                else:
                    span.is_announced = True
                    self._announce(span, record)
        return is_any_young, is_any_open

    def _look(self) -> Optional[float]:
        is_any_young, is_any_open = self.announce()
        now = time.monotonic()
        for record in self._store.open_records():
            oldest = next(iter(list(record.open.values())), None)
            if oldest is not None and now - record.last_sent_at >= SIGN_OF_LIFE_EVERY_S:
                self._announce(oldest, record)
        if is_any_young:
            return LOOK_EVERY_S
        return LOOK_SELDOM_S if is_any_open else None
