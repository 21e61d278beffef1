"""Delivers steps to the server."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ..describe_error import message_of
from ..host_value import to_name
from ..redaction.redact import Redactor
from ..reporter import Reporter
from ..session_record import SessionRecord, size_of
from ..span import Span
from .encode import FailedSpan, encode_spans
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
# The memory that queued steps may take; the oldest are dropped, because the newest tell how sessions ended.
MAX_QUEUED_BYTES = 64 * 1024 * 1024
# Consecutive failures before the server counts as down.
PATIENCE = 3
LONGEST_ASKED_S = 300.0


class Batch(NamedTuple):
    text: str
    # Counts ended steps only, not announcements.
    step_count: int
    spans: tuple[Span, ...]
    # Could not be encoded; in neither of the above.
    failed: tuple[FailedSpan, ...] = ()


class Delivery:
    def __init__(self, worker: Worker, reporter: Reporter) -> None:
        self.counts: dict[str, int] = dict.fromkeys(
            ("recorded", "delivered", "spooled", "dropped", "rejected", "failed_requests"), 0
        )
        self.target: Optional[Target] = None
        self._worker = worker
        self._reporter = reporter
        self._redactor = Redactor()
        self.resource: Mapping[str, Any] = {}
        self._sender: Optional[Sender] = None
        self._retired: list[Sender] = []
        self._spool: Optional[Spool] = None
        self._ended: deque[Span] = deque()
        self._queued_bytes = 0
        # The steps that were lost before the last flush that said so.
        self._reported_losses = 0
        self._running: dict[str, Span] = {}
        # Halves of batches that were too large.
        self._parts: deque[list[Span]] = deque()
        # Out of the queue and being encoded.
        self._encoding: list[Span] = []
        # Sent but not yet acknowledged.
        self._unsent: Optional[Batch] = None
        # Held for moments only: the host's threads wait for it.
        self._lock = threading.RLock()
        # Held while a batch is encoded, by whoever sends or spools.
        self._encoding_lock = threading.RLock()
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
        self.resource = resource
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
        with self._lock:
            unsent = self._unsent
            taken = [*self._encoding, *(span for part in self._parts for span in part)]
            waiting_count = len(self._ended) + sum(span.is_ended for span in taken)
            return waiting_count + (0 if unsent is None else unsent.step_count)

    @property
    def has_work(self) -> bool:
        with self._lock:
            is_taken = bool(self._encoding or self._parts) or self._unsent is not None
            return is_taken or bool(self._ended or self._running)

    def on_step_end(self, span: Span, record: SessionRecord) -> None:
        with self._lock:
            self.counts["recorded"] += 1
        if self.target is None:
            return
        with self._lock:
            self._ended.append(span)
            self._queued_bytes += size_of(span)
            self._limit_queue()
        record.last_sent_at = time.monotonic()
        is_full = len(self._ended) >= STEPS_PER_REQUEST
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
        """Send everything now; true if the server has all that was recorded since the last call."""
        if self.target is None:
            return True
        reported = self._reported_losses
        if self.has_work or self._may_be_spooled:
            self._is_forced = True
            self._worker.run_now(self._deliver, timeout_s)
        is_sent = not self.has_work and not self._is_down and not self._may_be_spooled
        self._reported_losses = self.counts["dropped"] + self.counts["rejected"]
        return is_sent and self._reported_losses == reported

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
        self._encoding_lock = threading.RLock()
        self._ended.clear()
        self._parts.clear()
        self._encoding = []
        self._queued_bytes = 0
        self._running.clear()
        self._unsent = None
        self.counts = dict.fromkeys(self.counts, 0)
        self._reported_losses = 0
        if self._sender is not None:
            self._sender.close()

    def _count_dropped(self, step_count: int) -> None:
        self.counts["dropped"] += step_count

    def _limit_queue(self) -> None:
        """Drop the oldest steps if there are too many; the caller holds the lock."""
        is_long = self._spool is None and len(self._ended) > MAX_QUEUED_STEPS
        if not is_long and self._queued_bytes <= MAX_QUEUED_BYTES:
            return
        for _ in range(STEPS_PER_REQUEST if is_long else 0):
            self._drop_oldest()
        while self._ended and self._queued_bytes > MAX_QUEUED_BYTES:
            self._drop_oldest()
        self._reporter.once(
            "queue",
            "Steps are recorded faster than they can be sent or spooled, so the oldest are dropped. "
            'stats()["dropped"] counts them.',
        )

    def _drop_oldest(self) -> None:
        self._pop_oldest()
        self.counts["dropped"] += 1

    def _pop_oldest(self) -> Span:
        span = self._ended.popleft()
        self._queued_bytes -= size_of(span)
        return span

    def _patience_s(self, after_s: float) -> float:
        """Respect the server's Retry-After."""
        return after_s if self._failures == 0 else max(after_s, self._not_before - time.monotonic())

    def _take(self) -> Optional[Batch]:
        with self._encoding_lock:
            while self._unsent is None:
                spans = self._pick()
                if not spans:
                    return None
                self._keep(self._to_batch(spans))
            return self._unsent

    def _pick(self) -> list[Span]:
        """Take the spans of the next batch out of the queue. They count as queued until it is encoded."""
        with self._lock:
            # A signal may arrive during the encoding; its handler then encodes the same spans again.
            if not self._encoding:
                self._encoding = self._parts.popleft() if self._parts else self._next_spans()
            return self._encoding

    def _keep(self, batch: Batch) -> None:
        """If nothing of the batch could be encoded, there is nothing to keep: the next one may be fine."""
        with self._lock:
            self._encoding = []
            if batch.spans:
                self._unsent = batch

    def _next_spans(self) -> list[Span]:
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
            ended.append(self._pop_oldest())
        return [*running, *ended]

    def _to_batch(self, spans: Sequence[Span]) -> Batch:
        text, failed = encode_spans(spans, self.resource, self._redactor)
        if failed:
            self._report_failed(failed)
        broken = {id(one.span) for one in failed}
        kept = tuple(span for span in spans if id(span) not in broken)
        return Batch(text, sum(span.is_ended for span in kept), kept, failed)

    def _report_failed(self, failed: Sequence[FailedSpan]) -> None:
        self.counts["dropped"] += sum(one.span.is_ended for one in failed)
        name, reason = to_name(failed[0].span.name) or "", message_of(failed[0].error)
        self._reporter.once(
            "encode",
            f'Dropped the step "{name}", because it can\'t be encoded: {reason}. Other steps are not '
            'affected; stats()["dropped"] counts them.',
        )

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
            self._split(batch)
            return None
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

    def _split(self, batch: Batch) -> None:
        middle = len(batch.spans) // 2
        with self._lock:
            self._unsent = None
            if middle > 0:
                self._parts.extendleft([list(batch.spans[middle:]), list(batch.spans[:middle])])
                return
        self._count_dropped(batch.step_count)
        self._reporter.once("too-large", "Dropped a step that is larger than the server accepts.")

    def _settle(self, outcome: Outcome, step_count: int) -> bool:
        """True if the batch is finished: accepted, or permanently rejected."""
        if outcome.kind == "accepted":
            self._failures = 0
            self._is_down = False
            rejected_count = min(outcome.rejected_steps, step_count)
            self.counts["delivered"] += step_count - rejected_count
            self.counts["rejected"] += rejected_count
            if rejected_count > 0:
                self._reporter.once(
                    "rejected", f"The server rejected {rejected_count} steps: {outcome.reason}"
                )
            elif outcome.reason:
                self._reporter.once("warning", f"The server accepted the steps and says: {outcome.reason}")
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
            is_written = batch.step_count > 0 and spool.write(batch.text, batch.step_count)
        except OSError as error:
            self._spool = None
            self._reporter.once("spool", f"Can't spool to disk, so undelivered steps stay in memory: {error}")
            return
        if is_written:
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
