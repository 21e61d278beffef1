"""Delivers steps to the server."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ..redaction.redact import Redactor
from ..reporter import Reporter
from ..session_record import SessionRecord
from ..span import Span
from .encode import encode_spans
from .send import Outcome, Sender, Target, explain_trouble
from .spool import Spool
from .worker import Worker

# The delay before sending, while the server responds and while it does not.
SEND_AFTER_S = 0.3
ANNOUNCE_AFTER_S = 0.03
SET_ASIDE_AFTER_S = 5.0
LOOK_AT_SPOOL_AFTER_S = 0.1
STEPS_PER_REQUEST = 512
MAX_TEXT_PER_REQUEST = 4 * 1024 * 1024
# The limit of steps in memory without a spool.
MAX_QUEUED_STEPS = 8192
# Consecutive failures before the server counts as down.
PATIENCE = 3
LONGEST_ASKED_S = 300.0


class Batch(NamedTuple):
    text: str
    # Counts ended steps only, not announcements.
    step_count: int
    spans: tuple[Span, ...]


class Delivery:
    def __init__(self, worker: Worker, reporter: Reporter) -> None:
        self.counts = dict.fromkeys(
            ("recorded", "delivered", "spooled", "dropped", "rejected", "failed_requests"), 0
        )
        self.target: Optional[Target] = None
        self._worker = worker
        self._reporter = reporter
        self._redactor = Redactor()
        self._resource: Mapping[str, Any] = {}
        self._sender: Optional[Sender] = None
        self._retired: list[Sender] = []
        self._spool: Optional[Spool] = None
        self._ended: deque[Span] = deque()
        self._running: dict[str, Span] = {}
        # Sent but not yet acknowledged.
        self._unsent: Optional[Batch] = None
        self._lock = threading.RLock()
        self._failures = 0
        # While the server is down, new steps go to disk.
        self._is_down = False
        self._may_be_spooled = False
        self._not_before = 0.0
        self._is_forced = False

    def configure(
        self, target: Optional[Target], spool: Optional[Path], redactor: Redactor, resource: Mapping[str, Any]
    ) -> None:
        self._redactor = redactor
        self._resource = resource
        if target == self.target and (self._spool is None) == (spool is None):
            return
        if self._sender is not None:
            # Only the worker's thread uses the connection.
            self._retired.append(self._sender)
            self._worker.schedule(self._deliver, LOOK_AT_SPOOL_AFTER_S)
        self.target = target
        self._sender = None if target is None else Sender(target)
        self._failures = 0
        self._is_down = False
        self._spool = None
        if target is None or spool is None:
            return
        self._spool = Spool(spool, target, self._count_dropped)
        self._may_be_spooled = True
        self._worker.schedule(self._deliver, LOOK_AT_SPOOL_AFTER_S)

    @property
    def state(self) -> str:
        if self.target is None:
            return "off"
        return "down" if self._failures > 0 or self._is_down else "up"

    @property
    def queued_count(self) -> int:
        unsent = self._unsent
        return len(self._ended) + (0 if unsent is None else unsent.step_count)

    @property
    def has_work(self) -> bool:
        return bool(self._ended or self._running) or self._unsent is not None

    def on_step_end(self, span: Span, record: SessionRecord) -> None:
        with self._lock:
            self.counts["recorded"] += 1
        if self.target is None:
            return
        self._ended.append(span)
        record.last_sent_at = time.monotonic()
        is_full = len(self._ended) >= STEPS_PER_REQUEST
        if self._spool is None and len(self._ended) > MAX_QUEUED_STEPS:
            self._drop_oldest()
        if self._is_down:
            self._worker.schedule(self._deliver, 0 if is_full else SET_ASIDE_AFTER_S)
        else:
            self._worker.schedule(self._deliver, self._patience_s(0 if is_full else SEND_AFTER_S))

    def announce(self, span: Span, record: SessionRecord) -> None:
        """Announce a running step."""
        if self.target is None:
            return
        self._running[span.id] = span
        record.last_sent_at = time.monotonic()
        if not self._is_down:
            self._worker.schedule(self._deliver, self._patience_s(ANNOUNCE_AFTER_S))

    def send_soon(self) -> None:
        if self.has_work:
            self._worker.schedule(self._deliver, self._patience_s(0))

    def flush(self, timeout_s: float) -> bool:
        """Send everything now; true if the server has it all within the timeout."""
        if self.target is None or not (self.has_work or self._may_be_spooled):
            return True
        self._is_forced = True
        self._worker.run_now(self._deliver, timeout_s)
        return not self.has_work and not self._is_down

    def set_aside_all(self) -> None:
        """Spool unacknowledged steps to disk for the next start."""
        while self._spool is not None:
            batch = self._take()
            if batch is None:
                return
            self._set_aside(batch)

    def forget(self) -> None:
        """Reset in a forked child; the parent sends what the parent recorded."""
        self._lock = threading.RLock()
        self._ended.clear()
        self._running.clear()
        self._unsent = None
        if self._sender is not None:
            self._sender.close()

    def _count_dropped(self, step_count: int) -> None:
        self.counts["dropped"] += step_count

    def _drop_oldest(self) -> None:
        for _ in range(min(STEPS_PER_REQUEST, len(self._ended))):
            self._ended.popleft()
            self.counts["dropped"] += 1

    def _patience_s(self, after_s: float) -> float:
        """Respect the server's Retry-After."""
        return after_s if self._failures == 0 else max(after_s, self._not_before - time.monotonic())

    def _take(self) -> Optional[Batch]:
        with self._lock:
            if self._unsent is None:
                self._unsent = self._next_batch()
            return self._unsent

    def _next_batch(self) -> Optional[Batch]:
        running = [span for span in list(self._running.values()) if not span.is_ended]
        self._running.clear()
        ended: list[Span] = []
        length = 0
        while self._ended and len(ended) < STEPS_PER_REQUEST:
            length += sum(
                len(value) for value in self._ended[0].attributes.values() if isinstance(value, str)
            )
            if ended and length > MAX_TEXT_PER_REQUEST:
                break
            ended.append(self._ended.popleft())
        return self._to_batch([*running, *ended])

    def _to_batch(self, spans: list[Span]) -> Optional[Batch]:
        if not spans:
            return None
        text = encode_spans(spans, self._resource, self._redactor)
        return Batch(text, sum(span.is_ended for span in spans), tuple(spans))

    def _deliver(self) -> Optional[float]:
        """Send until the queue is empty or a request fails; returns the delay before the next attempt."""
        while self._retired:
            self._retired.pop().close()
        sender = self._sender
        if sender is None:
            return None
        is_forced, self._is_forced = self._is_forced, False
        if self._is_down and not is_forced:
            self.set_aside_all()
            patience_s = self._not_before - time.monotonic()
            return patience_s if patience_s > 0 and self._spool is not None else self._send_spooled(sender)
        while True:
            batch = self._take()
            if batch is None:
                break
            wait_s = self._send_one(batch, sender, is_forced)
            if wait_s is not None:
                return wait_s
        return self._send_spooled(sender) if self._may_be_spooled else None

    def _send_one(self, batch: Batch, sender: Sender, is_forced: bool) -> Optional[float]:
        outcome = sender.send(batch.text)
        # Process exit may have spooled it in the meantime.
        if self._unsent is not batch:
            return None
        if outcome.kind == "too-large":
            return self._send_in_parts(batch, sender, is_forced)
        if self._settle(outcome, batch.step_count):
            self._unsent = None
            return None
        wait_s = self._note_failure(outcome)
        is_patient = self._failures < PATIENCE and outcome.kind == "later" and outcome.is_server_there
        if is_patient and not is_forced:
            return wait_s
        self._is_down = True
        self.set_aside_all()
        return wait_s

    def _send_in_parts(self, batch: Batch, sender: Sender, is_forced: bool) -> Optional[float]:
        self._unsent = None
        if len(batch.spans) < 2:
            self._count_dropped(batch.step_count)
            self._reporter.once("too-large", "Dropped a step that is larger than the server accepts.")
            return None
        middle = len(batch.spans) // 2
        for spans in (batch.spans[:middle], batch.spans[middle:]):
            self._unsent = self._to_batch(list(spans))
            if self._unsent is not None:
                wait_s = self._send_one(self._unsent, sender, is_forced)
                if wait_s is not None:
                    return wait_s
        return None

    def _settle(self, outcome: Outcome, step_count: int) -> bool:
        """True if the batch is finished: accepted, or permanently rejected."""
        if outcome.kind == "accepted":
            self._failures = 0
            self._is_down = False
            self.counts["delivered"] += step_count - outcome.rejected_steps
            self.counts["rejected"] += outcome.rejected_steps
            if outcome.rejected_steps > 0:
                self._reporter.once(
                    "rejected", f"The server rejected {outcome.rejected_steps} steps: {outcome.reason}"
                )
            return True
        if outcome.kind not in ("unreadable", "too-large"):
            return False
        self.counts["failed_requests"] += 1
        self.counts["rejected"] += step_count
        self._reporter.once("unreadable", f"The server could not read {step_count} steps: {outcome.reason}")
        return True

    def _note_failure(self, outcome: Outcome) -> float:
        self._failures += 1
        self.counts["failed_requests"] += 1
        if self.target is not None:
            line = explain_trouble(outcome, self.target, self._spool is not None)
            self._reporter.once("unreachable", line)
        wait_s = retry_delay_s(self._failures, outcome.after_s, random.random())
        self._not_before = time.monotonic() + wait_s
        return wait_s

    def _set_aside(self, batch: Batch) -> None:
        spool = self._spool
        if spool is None:
            return
        try:
            if batch.step_count > 0:
                spool.write(batch.text, batch.step_count)
        except OSError as error:
            self._spool = None
            self._reporter.once("spool", f"Can't spool to disk, so undelivered steps stay in memory: {error}")
            return
        self.counts["spooled"] += batch.step_count
        self._may_be_spooled = True
        if self._unsent is batch:
            self._unsent = None

    def _send_spooled(self, sender: Sender) -> Optional[float]:
        """Send spooled batches, from this process and earlier ones."""
        spool = self._spool
        while spool is not None:
            batch = spool.take()
            if batch is None:
                break
            outcome = sender.send(batch.text)
            if not self._settle(outcome, batch.step_count):
                spool.give_back(batch)
                self._is_down = True
                return self._note_failure(outcome)
            spool.remove(batch)
        self._may_be_spooled = False
        self._is_down = False
        return None


def retry_delay_s(failures: int, asked_s: Optional[float], chance: float) -> float:
    """Exponential backoff with jitter."""
    if asked_s is not None:
        return min(asked_s, LONGEST_ASKED_S) + chance * 0.25
    longest_s = min(30.0, 0.25 * 2.0 ** max(0, failures - 1))
    return longest_s / 2 + chance * longest_s / 2
