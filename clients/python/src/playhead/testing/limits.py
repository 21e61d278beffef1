"""Checks how long a session took, and that it has no errors."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Optional, Union

from ..format.numbers import count_of, format_duration, parse_duration
from .calls import calls_of
from .expected_call import describe_call
from .required_argument import fail, require_mapping
from .subject import SessionJson, SessionSubject, read_subject, replay_line
from .verdict import Verdict

# "8s", "500ms", "2m", milliseconds, or a timedelta.
Duration = Union[str, float, datetime.timedelta]


def finishes_within(
    subject: SessionSubject, limit: Duration, *, per_tool: Optional[Mapping[str, Duration]] = None
) -> Verdict:
    """Checks that a session finished in time, from its start to the end of its last step."""
    session = read_subject(subject)
    limit_ms = read_duration(limit)
    limits = require_mapping({} if per_tool is None else per_tool, "The option per_tool")
    limits_ms = {name: read_duration(allowed) for name, allowed in limits.items()}
    took_ms = _duration_of(session)
    summary = session["session"]
    if took_ms > limit_ms:
        longest = _longest_of(session)
        head = f"Expected the session to finish within {format_duration(limit_ms)}, "
        message = f"{head}but it took {format_duration(took_ms)}."
        if longest is None:
            return Verdict(False, message + replay_line(summary))
        number = session["steps"].index(longest) + 1
        message += f"\n  Longest step: #{number} {longest['name']}, {format_duration(_took(longest))}"
        return Verdict(False, message + replay_line(summary, longest["id"]), longest["id"])
    for call in calls_of(session):
        allowed_ms = limits_ms.get(call.name)
        if allowed_ms is None or _took(call.step) <= allowed_ms:
            continue
        head = f"Expected {call.name} to take at most {format_duration(allowed_ms)}, "
        message = f"{head}but it took {format_duration(_took(call.step))}:\n  {describe_call(call)}"
        return Verdict(False, message + replay_line(summary, call.step_id), call.step_id)
    head = f"Expected the session to take longer than {format_duration(limit_ms)}, "
    return Verdict(True, f"{head}but it took {format_duration(took_ms)}.{replay_line(summary)}")


def _took(step: Mapping[str, Any]) -> float:
    return float(step.get("durationMs") or 0)


def _duration_of(session: SessionJson) -> float:
    """The session of a running test is still open, so its duration ends with its last finished step."""
    duration_ms = session["session"].get("durationMs")
    if duration_ms is not None:
        return float(duration_ms)
    ends = [
        (step.get("offsetMs") or 0) + step["durationMs"]
        for step in session["steps"]
        if step.get("durationMs") is not None
    ]
    return float(max([0, *ends]))


def _longest_of(session: SessionJson) -> Optional[Mapping[str, Any]]:
    parents = {step.get("parentId") for step in session["steps"]}
    leaves = [step for step in session["steps"] if step["id"] not in parents]
    return max(leaves, key=_took, default=None)


def read_duration(duration: Any) -> float:
    """In milliseconds."""
    if isinstance(duration, datetime.timedelta):
        return duration.total_seconds() * 1000
    duration_ms: Any = parse_duration(duration) if isinstance(duration, str) else duration
    is_number = isinstance(duration_ms, (int, float)) and not isinstance(duration_ms, bool)
    if is_number and duration_ms >= 0:
        return float(duration_ms)
    return fail("A duration", 'must be like "8s", "500ms" or 1500 (milliseconds)', duration)


def has_no_errors(subject: SessionSubject, *, allow_handled: bool = False) -> Verdict:
    """Checks that no step raised an error and no tool returned one. `allow_handled` ignores errors that your
    code caught or that a retry made up for."""
    session = read_subject(subject)
    failed = [
        (index + 1, step)
        for index, step in enumerate(session["steps"])
        if _owns_error(step) and not (allow_handled and (step.get("error") or {}).get("isHandled") is True)
    ]
    summary = session["session"]
    if not failed:
        return Verdict(True, f"Expected the session to have an error, but it has none.{replay_line(summary)}")
    head = f"Expected the session to have no errors, but it has {count_of(len(failed), 'error')}:"
    lines = [f"  #{number} {step['name']}: {_describe_error(step)}" for number, step in failed]
    step_id = failed[0][1]["id"]
    return Verdict(False, "\n".join([head, *lines]) + replay_line(summary, step_id), step_id)


def _owns_error(step: Mapping[str, Any]) -> bool:
    has_failed = step.get("status") in ("error", "soft-error")
    return has_failed and (step.get("error") or {}).get("isPropagated") is not True


def _describe_error(step: Mapping[str, Any]) -> str:
    error = step.get("error")
    if error is None:
        return str(step.get("status"))
    return f"{error.get('type')}: {error['message'].split(chr(10), 1)[0]}"
