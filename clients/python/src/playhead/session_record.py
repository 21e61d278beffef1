"""What this process knows about one session: its ended and its running steps."""

from __future__ import annotations

import time
from typing import Any, Optional

from .describe_error import raise_site
from .reading.usage import Ledger
from .span import Span

# Steps beyond this are delivered but not kept in memory.
MAX_KEPT_STEPS = 20_000
MAX_KEPT_BYTES = 64 * 1024 * 1024
MAX_SEEN_ERRORS = 1000


class SessionRecord:
    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.started_ns: int = time.time_ns()
        # For a part of another process's session: the id of the part's first step.
        self.part_id: Optional[str] = None
        self.ended: list[Span] = []
        self.open: dict[str, Span] = {}
        # Incremented on every change; caches are valid while it stays the same.
        self.change_count: int = 0
        self.byte_count: int = 0
        self.ledger: Ledger = Ledger()
        self.unkept_step_count: int = 0
        self.last_sent_at: float = time.monotonic()
        # The cached steps, with the change counter and the redactor they were made with.
        self.reading: Optional[tuple[int, Any, list[Any]]] = None
        self._seen_errors: dict[int, tuple[Any, frozenset[str]]] = {}

    def start(self, span: Span) -> None:
        if self.change_count == 0 and span.is_parent_remote:
            self.part_id = span.id
        self.open[span.id] = span
        self.change_count += 1

    def end(self, span: Span) -> None:
        self.open.pop(span.id, None)
        self.change_count += 1
        self.ledger.note(span)
        if len(self.ended) >= MAX_KEPT_STEPS or self.byte_count >= MAX_KEPT_BYTES:
            self.unkept_step_count += 1
            return
        self.ended.append(span)
        self.byte_count += size_of(span)

    def ancestors_of(self, span: Span) -> frozenset[str]:
        """The ids of a step's open ancestors."""
        ancestors: set[str] = set()
        parent_id = span.parent_id
        while parent_id is not None and parent_id not in ancestors:
            ancestors.add(parent_id)
            parent = self.open.get(parent_id)
            parent_id = None if parent is None else parent.parent_id
        return frozenset(ancestors)

    def note_error(self, span: Span, error: BaseException) -> bool:
        """True if a step inside this one recorded the same error: it propagated, it was not raised here."""
        ancestors = self._ancestors_of_owner(error)
        if ancestors is not None and span.id in ancestors:
            return True
        if len(self._seen_errors) >= MAX_SEEN_ERRORS:
            self._seen_errors.clear()
        # Not the error itself: its traceback would keep the host's objects alive.
        self._seen_errors[id(error)] = (raise_site(error), self.ancestors_of(span))
        return False

    def has_error(self, error: Optional[BaseException]) -> bool:
        return error is not None and self._ancestors_of_owner(error) is not None

    def _ancestors_of_owner(self, error: BaseException) -> Optional[frozenset[str]]:
        seen = self._seen_errors.get(id(error))
        return None if seen is None or seen[0] != raise_site(error) else seen[1]


def size_of(span: Span) -> int:
    """A step's approximate size in memory: at most two bytes for most characters."""
    size = 1000
    for value in list(span.attributes.values()):
        size += 2 * len(value) if type(value) is str else _size_of_value(value)
    return size


def _size_of_value(value: Any) -> int:
    if type(value) is str:
        return 2 * len(value)
    return sum(map(_size_of_value, value)) + 16 if type(value) is list else 16
