"""The W3C headers that carry a session to another process."""

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
    """Parse the parent from headers or the environment; a session only if the sender marked it as one."""
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
    """The headers that carry the current session to another process."""
    return headers_of(settle(current_scope.get()))


def session_environment() -> dict[str, str]:
    """The same for a child process:

    `subprocess.run(…, env={**os.environ, **playhead.session_environment()})`."""
    return {name.upper(): value for name, value in session_headers().items()}
