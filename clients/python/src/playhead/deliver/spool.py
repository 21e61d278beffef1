"""Undelivered batches, one file each, in a directory per server and key.

Files appear and change hands by being renamed, so any number of processes can share the folder; the
TypeScript SDK uses the same one in the same way.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import time
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from .send import Target

MAX_BYTES = 64 * 1024 * 1024
MAX_AGE_S = 7 * 24 * 3600
# A claimed file that is older than this belongs to a dead process.
ABANDONED_AFTER_S = 60
TAKEN = ".sending"


class SpooledBatch(NamedTuple):
    path: Path
    text: str
    step_count: int


class Spool:
    def __init__(self, root: Path, target: Target, on_dropped: Callable[[int], None]) -> None:
        owner = hashlib.sha256(f"{target.endpoint}\n{target.api_key or ''}".encode()).hexdigest()
        self._folder = root / owner[:16]
        self._on_dropped = on_dropped

    def write(self, text: str, step_count: int) -> bool:
        """False, and counted as dropped, if the batch alone is larger than the spool may be."""
        length = len(text.encode())
        if length > MAX_BYTES:
            self._on_dropped(step_count)
            return False
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._make_room(length)
        path = self._folder / _name(step_count)
        new = path.with_name(path.name + ".new")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(path)
        return True

    def take(self) -> Optional[SpooledBatch]:
        """Claim the oldest batch for this process until it is removed or released."""
        self._reclaim()
        for name in self._waiting():
            path = self._folder / name
            taken = path.with_name(name + TAKEN)
            try:
                path.rename(taken)
                os.utime(taken)
                return SpooledBatch(taken, taken.read_text(encoding="utf-8"), _step_count(name))
            except FileNotFoundError:
                # Another process claimed it first.
                continue
        return None

    def give_back(self, batch: SpooledBatch) -> None:
        batch.path.rename(batch.path.with_name(batch.path.name[: -len(TAKEN)]))

    def remove(self, batch: SpooledBatch) -> None:
        batch.path.unlink(missing_ok=True)

    def _waiting(self) -> list[str]:
        """Names start with the time, so the oldest sorts first."""
        return [name for name in self._names() if name.endswith(".json")]

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._folder))
        except OSError:
            return []

    def _reclaim(self) -> None:
        for name in self._names():
            if not name.endswith(TAKEN):
                continue
            path = self._folder / name
            try:
                if time.time() - path.stat().st_ctime > ABANDONED_AFTER_S:
                    path.rename(path.with_name(name[: -len(TAKEN)]))
            except OSError:
                continue

    def _make_room(self, length: int) -> None:
        """Drop expired batches and, if space runs out, the oldest."""
        # Files that are being written or sent take room as well.
        files = [(name, _size(self._folder / name)) for name in self._names()]
        total = length + sum(size for _, size in files)
        for name, size in files:
            if not name.endswith(".json"):
                continue
            started_ms = int(name.split("-", 1)[0]) if name.split("-", 1)[0].isdigit() else 0
            is_old = time.time() - started_ms / 1000 > MAX_AGE_S
            if not is_old and total <= MAX_BYTES:
                break
            (self._folder / name).unlink(missing_ok=True)
            self._on_dropped(_step_count(name))
            total -= size


_written_count = 0


def _name(step_count: int) -> str:
    """Unique by time, process, sequence and randomness; ends in the step count, to report drops."""
    global _written_count
    _written_count += 1
    chance = f"{random.SystemRandom().getrandbits(31):06x}"[:6]
    return f"{time.time_ns() // 1_000_000}-{os.getpid()}-{_written_count:06d}-{chance}-{step_count}.json"


def _step_count(name: str) -> int:
    found = re.search(r"-(\d+)\.json", name)
    return 0 if found is None else int(found.group(1))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
