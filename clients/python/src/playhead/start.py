"""`init`, `flush`, `shutdown` and `stats`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from .capture.install import install_capture
from .processes import carry_into_processes
from .runtime import active_runtime, known_runtime, obtain_runtime
from .settings import RedactRule, read_environment, read_settings
from .threads import carry_into_threads

FLUSH_S = 10.0
MAX_FLUSH_S = 86_400
# AgentOps' options that have no meaning here.
_HARMLESS = frozenset(
    [
        "parent_key",
        "max_wait_time",
        "max_queue_size",
        "auto_start_session",
        "inherited_session_id",
        "skip_auto_end_session",
        "default_tags",
        "instrument_llm_calls",
        "trace_name",
        "fail_safe",
        "log_level",
        "env_data_opt_out",
    ]
)


def init(
    api_key: Optional[str] = None,
    *,
    endpoint: Union[str, bool, None] = None,
    dir: Optional[str] = None,
    service_name: Optional[str] = None,
    environment: Optional[str] = None,
    tags: Union[str, Sequence[str], None] = None,
    resource: Optional[Mapping[str, Any]] = None,
    capture_llm: Optional[bool] = None,
    capture_content: Optional[bool] = None,
    redact: Optional[Sequence[RedactRule]] = None,
    max_value_bytes: Optional[int] = None,
    keep_sessions: Optional[int] = None,
    silent: Optional[bool] = None,
    **others: Any,
) -> None:
    """Start recording: model calls automatically, actions and sessions where the code marks them.

    Call it again to change settings for everything that follows; what you don't pass keeps its value, until
    `shutdown`. Every option is optional and overrides the environment: `PLAYHEAD_API_KEY` (or
    `AGENTOPS_API_KEY`), `PLAYHEAD_ENDPOINT` (by default http://localhost:4318; `False` disables sending),
    `PLAYHEAD_DIR` (a directory for recordings; disables sending unless you also set an endpoint).
    """
    runtime = obtain_runtime()
    with runtime.guard():
        if tags is None:
            tags = others.get("default_tags")
        if others.get("instrument_llm_calls") is False:
            capture_llm = False
        told = {
            "api_key": api_key,
            "endpoint": endpoint,
            "dir": dir,
            "service_name": service_name,
            "environment": environment,
            "tags": tags,
            "resource": resource,
            "capture_llm": capture_llm,
            "capture_content": capture_content,
            "redact": redact,
            "max_value_bytes": max_value_bytes,
            "keep_sessions": keep_sessions,
            "silent": silent,
        }
        runtime.options.update({name: value for name, value in told.items() if value is not None})
        runtime.configure(read_settings(runtime.options, read_environment()))
        unknown = [name for name in others if name not in _HARMLESS]
        if unknown:
            runtime.reporter.once("init", f"init() does not know {', '.join(unknown)}.")
        carry_into_threads()
        carry_into_processes()
        install_capture()


def flush(timeout_s: float = FLUSH_S) -> bool:
    """Send everything and wait; true if the server has it all. Never raises."""
    runtime = active_runtime()
    if runtime is None:
        return True
    with runtime.guard():
        return runtime.drain(_seconds(timeout_s))
    return False


def shutdown(timeout_s: float = FLUSH_S) -> bool:
    """End open sessions, send everything, and stop recording until the next `init`."""
    runtime = active_runtime()
    if runtime is None:
        return True
    with runtime.guard():
        return runtime.stop(_seconds(timeout_s))
    return False


def _seconds(given: Any) -> float:
    is_number = type(given) is int or (type(given) is float and math.isfinite(given))
    return float(min(max(0, given), MAX_FLUSH_S)) if is_number else FLUSH_S


def stats() -> dict[str, Any]:
    """Count what was recorded, delivered, queued, spooled and dropped."""
    runtime = known_runtime()
    if runtime is None:
        runtime = obtain_runtime()
    delivery = runtime.delivery
    return {
        **delivery.counts,
        "queued": delivery.queued_count,
        "faults": runtime.fault_count,
        "captured_calls": runtime.captured_calls,
        "failed_captures": runtime.failed_captures,
        "server": delivery.state,
    }
