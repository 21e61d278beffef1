"""The sessions of this process: all with open steps, and the most recent of the others."""

from __future__ import annotations

import re
import threading
from typing import Optional

from .session_record import SessionRecord

# Ended sessions are evicted, oldest first, above this total size.
MAX_ENDED_BYTES = 64 * 1024 * 1024


class SessionStore:
    def __init__(self) -> None:
        self.kept_sessions = 20
        self._lock = threading.RLock()
        self._open: dict[str, SessionRecord] = {}
        # Oldest first.
        self._ended: dict[str, SessionRecord] = {}
        self._ended_bytes = 0

    def note_open(self, record: SessionRecord) -> None:
        if record.id in self._open:
            return
        with self._lock:
            self._open[record.id] = record
            if self._ended.pop(record.id, None) is not None:
                self._ended_bytes -= record.byte_count

    def settle(self, record: SessionRecord) -> None:
        """Call when a session's last open step has ended."""
        with self._lock:
            if self._open.pop(record.id, None) is None:
                return
            self._ended[record.id] = record
            self._ended_bytes += record.byte_count
            while self._ended and (
                len(self._ended) > self.kept_sessions or self._ended_bytes > MAX_ENDED_BYTES
            ):
                oldest = self._ended.pop(next(iter(self._ended)))
                self._ended_bytes -= oldest.byte_count

    def open_records(self) -> list[SessionRecord]:
        with self._lock:
            return list(self._open.values())

    def by_id(self, session_id: str) -> Optional[SessionRecord]:
        return self._open.get(session_id) or self._ended.get(session_id)

    def find(self, text: str) -> Optional[SessionRecord]:
        """Find a session by id or id prefix, with or without `s_`; the latest wins."""
        if type(text) is not str:
            return None
        prefix = re.sub(r"^s_", "", text.strip().lower()).replace("-", "")
        if re.fullmatch(r"[0-9a-f]{4,32}", prefix) is None:
            return None
        with self._lock:
            candidates = [*self._ended.values(), *self._open.values()]
        return next((record for record in reversed(candidates) if record.id.startswith(prefix)), None)

    def forget_open(self) -> list[SessionRecord]:
        """Take out what runs, in a forked child: the parent goes on with it, and may have held the lock."""
        self._lock = threading.RLock()
        records = list(self._open.values())
        self._open.clear()
        return records
