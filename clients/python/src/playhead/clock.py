"""Nanoseconds since 1970, strictly increasing, so steps that start at the same moment keep their order."""

from __future__ import annotations

import time

_last_ns = 0
_STEP_NS = 1000
_A_CLOCK_THAT_WAS_SET_BACK_NS = 2_000_000


def now_ns() -> int:
    # Lock-free: a signal handler or a forked child could wait for a lock forever.
    global _last_ns
    current_ns, last_ns = time.time_ns(), _last_ns
    if last_ns - current_ns > _A_CLOCK_THAT_WAS_SET_BACK_NS:
        last_ns = 0
    later_ns = max(current_ns, last_ns + _STEP_NS)
    _last_ns = later_ns
    return later_ns


def to_iso(ns: int) -> str:
    """In JavaScript's format: UTC, milliseconds, Z."""
    seconds, rest = divmod(ns, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1_000_000:03d}Z"
