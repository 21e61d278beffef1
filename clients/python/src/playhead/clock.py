"""Nanoseconds since 1970, never the same twice: steps that begin at one moment keep their order."""

from __future__ import annotations

import time

_last_ns = 0
_STEP_NS = 1000
_A_CLOCK_THAT_WAS_SET_BACK_NS = 2_000_000


def now_ns() -> int:
    # Without a lock: a signal handler, or the child of a fork, could wait for it for ever.
    global _last_ns
    current_ns, last_ns = time.time_ns(), _last_ns
    if last_ns - current_ns > _A_CLOCK_THAT_WAS_SET_BACK_NS:
        last_ns = 0
    later_ns = max(current_ns, last_ns + _STEP_NS)
    _last_ns = later_ns
    return later_ns


def to_iso(ns: int) -> str:
    """As JavaScript writes it: UTC, milliseconds, Z."""
    seconds, rest = divmod(ns, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1_000_000:03d}Z"
