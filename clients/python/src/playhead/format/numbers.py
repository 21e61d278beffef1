"""Counts, costs, shares and durations as one short text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Optional

_SHOWN_IN_FULL = 100_000
_COMPACT_UNITS = (("K", 10**3), ("M", 10**6), ("B", 10**9), ("T", 10**12))
_UNITS_MS = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "min": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
}


def to_fixed(value: float, digits: int) -> str:
    """As JavaScript's `toFixed`: a half is rounded away from zero."""
    text = str(Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP))
    return text.lstrip("-") if float(text) == 0 and value == 0 else text


def round_half_up(value: float) -> int:
    return math.floor(value + 0.5)


def format_count(count: float) -> str:
    """For example "950", "12,345", "1.2M"."""
    if count < _SHOWN_IN_FULL:
        return f"{count:,}"
    unit, size = next(
        (one for one in _COMPACT_UNITS if round_half_up(count / one[1] * 10) / 10 < 1000), _COMPACT_UNITS[-1]
    )
    text = to_fixed(count / size, 1)
    return f"{text[:-2] if text.endswith('.0') else text}{unit}"


def count_of(count: int, noun: str) -> str:
    """For example "3 sessions", "1 session"."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def format_percent(share: float, digits: int = 0) -> str:
    return f"{to_fixed(share * 100, digits)}%"


def format_cost(dollars: float) -> str:
    """For example "$12.34", "$0.50", "$0.017", "$0.0031": cents, or two significant digits."""
    if dollars == 0:
        return "$0"
    if dollars >= 1 or dollars < 0:
        return f"${to_fixed(dollars, 2)}"
    decimals = max(2, 1 - math.floor(math.log10(dollars)))
    text = to_fixed(dollars, min(decimals, 12)).rstrip("0")
    return f"${text.ljust(4, '0')}"


def describe_cost(cost: Optional[float], unpriced_models: Sequence[str], no_usage: Optional[str]) -> str:
    """As `format_cost`, and says what is missing: "unknown (no price for my-model)"."""
    prices = f" (no price for {', '.join(unpriced_models)})" if unpriced_models else ""
    missing = prices + ("" if no_usage is None else f", {no_usage}")
    if missing == "":
        return "none" if cost is None else format_cost(cost)
    return f"{'' if cost is None else f'{format_cost(cost)} + '}unknown{missing}"


def format_duration(duration_ms: float) -> str:
    """For example "850ms", "4.2s", "1m 23s", "2h 05m"."""
    if duration_ms < 999.5:
        return f"{round_half_up(duration_ms)}ms"
    if duration_ms < 59_950:
        return f"{to_fixed(duration_ms / 1000, 1)}s"
    seconds = round_half_up(duration_ms / 1000)
    if seconds < 3600:
        return f"{seconds // 60}m {seconds % 60:02d}s"
    minutes = round_half_up(seconds / 60)
    return f"{minutes // 60}h {minutes % 60:02d}m"


def format_offset(offset_ms: float) -> str:
    """For example "00:01.890": minutes, seconds and milliseconds since the session began."""
    milliseconds = max(0, round_half_up(offset_ms))
    return f"{milliseconds // 60_000:02d}:{milliseconds // 1000 % 60:02d}.{milliseconds % 1000:03d}"


def parse_duration(text: str) -> Optional[float]:
    """For example "250ms", "2s", "1.5m", "24h" or "7d" in milliseconds; a bare number is milliseconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w)?", text.strip(), re.ASCII)
    return None if found is None else float(found[1]) * _UNITS_MS[found[2] or "ms"]
