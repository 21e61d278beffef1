"""The W3C headers that make what another process does part of a session."""

from __future__ import annotations

import re
from typing import Optional

from .scope import Scope, current_scope, settle

_TRACE_PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_MARK = "playhead.session"


def headers_of(scope: Optional[Scope]) -> dict[str, str]:
    if scope is None or (scope.frame is not None and scope.frame.is_ended):
        return {}
    return {
        "traceparent": f"00-{scope.trace_id}-{scope.span_id}-01",
        "baggage": f"{_MARK}={scope.trace_id}",
    }


def scope_from_headers(traceparent: Optional[str], baggage: Optional[str]) -> Optional[Scope]:
    """What headers, or the environment of the process, describe. It is a session only when the sender said
    so."""
    found = _TRACE_PARENT.fullmatch((traceparent or "").strip())
    if found is None or _mark_of(baggage) != found.group(1):
        return None
    return Scope(None, found.group(1), found.group(2), None)


def _mark_of(baggage: Optional[str]) -> Optional[str]:
    for entry in (baggage or "").split(","):
        name, _, value = entry.split(";", 1)[0].partition("=")
        if name.strip() == _MARK:
            return value.strip()
    return None


def session_headers() -> dict[str, str]:
    """The headers that make what another process does part of the session that this code runs in."""
    return headers_of(settle(current_scope.get()))


def session_environment() -> dict[str, str]:
    """The same for a child process: `subprocess.run(…, env={**os.environ,
    **playhead.session_environment()})`."""
    return {name.upper(): value for name, value in session_headers().items()}
