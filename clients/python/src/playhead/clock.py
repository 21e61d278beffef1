"""Nanoseconds since 1970, never the same twice: steps that begin at one moment keep their order."""

from __future__ import annotations

import threading
import time

_lock = threading.Lock()
_last_ns = 0
_STEP_NS = 1000
_A_CLOCK_THAT_WAS_SET_BACK_NS = 2_000_000


def now_ns() -> int:
    global _last_ns
    with _lock:
        current_ns = time.time_ns()
        if _last_ns - current_ns > _A_CLOCK_THAT_WAS_SET_BACK_NS:
            _last_ns = current_ns
        _last_ns = max(current_ns, _last_ns + _STEP_NS)
        return _last_ns


def to_iso(ns: int) -> str:
    """As JavaScript writes it: UTC, milliseconds, Z."""
    seconds, rest = divmod(ns, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1_000_000:03d}Z"
