"""Writes each session to its own file, as a one-line JSON recording."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any, Callable, Optional

from ..clock import to_iso
from ..reporter import Reporter
from ..session_record import SessionRecord
from .worker import Worker

# How often a running session is rewritten, so how stale a killed process's file can be.
WRITE_EVERY_S = 2.0
WRITE_ENDED_AFTER_S = 0.02
RECORDING_VERSION = 1


class RecordingFiles:
    def __init__(
        self, worker: Worker, reporter: Reporter, session_of: Callable[[SessionRecord], dict[str, Any]]
    ) -> None:
        self.folder: Optional[Path] = None
        self._worker = worker
        self._reporter = reporter
        self._session_of = session_of
        self._changed: dict[str, SessionRecord] = {}
        self._lock = threading.RLock()

    def note(self, record: SessionRecord) -> None:
        if self.folder is None:
            return
        self._changed[record.id] = record
        self._worker.schedule(self._write_changed, WRITE_EVERY_S if record.open else WRITE_ENDED_AFTER_S)

    def path_of(self, record: SessionRecord) -> Optional[Path]:
        return None if self.folder is None else self.folder / file_name(record)

    def flush(self) -> None:
        """Write what has changed, synchronously."""
        self._write_changed()

    def write(self, record: SessionRecord, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / file_name(record)
        recording = {
            "version": RECORDING_VERSION,
            "exportedAt": to_iso(time.time_ns()),
            **self._session_of(record),
        }
        new = path.with_name(path.name + ".new")
        with self._lock:
            new.write_text(json.dumps(recording, separators=(",", ":")) + "\n", encoding="utf-8")
            new.replace(path)
        return path

    def forget(self) -> None:
        self._lock = threading.RLock()
        self._changed.clear()

    def _write_changed(self) -> None:
        with self._lock:
            records = list(self._changed.values())
            self._changed.clear()
            folder = self.folder
            if folder is None:
                return
            try:
                for record in records:
                    self.write(record, folder)
            except OSError as error:
                self._reporter.once("dir", f"Can't write recordings to {folder}: {error}")


def file_name(record: SessionRecord) -> str:
    """Sorts by time and contains the session's id prefix; each part of a session has its own file."""
    started = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime(record.started_ns / 1e9))
    part = "" if record.part_id is None else f"-{record.part_id[:8]}"
    return f"{started}-s_{record.id[:8]}{part}.jsonl"
