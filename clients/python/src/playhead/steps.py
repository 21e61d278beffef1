"""Start, fail and end steps."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional

from .clock import now_ns
from .describe_error import describe_error, describe_interruption
from .runtime import Runtime
from .scope import Scope, SessionFrame, scope_of
from .serialize import serialize_and_tell, write_json
from .session_record import SessionRecord
from .span import KIND_INTERNAL, STATUS_ERROR, Span, new_trace_id


class OpenStep(NamedTuple):
    span: Span
    record: SessionRecord
    # The scope of the code that runs inside the step.
    scope: Scope
    # The session that this step started, if it was outside any session.
    frame: Optional[SessionFrame]


def start_step(
    runtime: Runtime,
    name: str,
    attributes: dict[str, Any],
    *,
    kind: int = KIND_INTERNAL,
    start_ns: Optional[int] = None,
) -> OpenStep:
    """Start a step in the current scope. Outside any session, it becomes a session of its own."""
    outer = runtime.place()
    if outer is None:
        if runtime.settings.tags:
            attributes["playhead.session.tags"] = list(runtime.settings.tags)
        span = Span(name, new_trace_id(), None, attributes, kind=kind, start_ns=start_ns)
        record = SessionRecord(span.trace_id)
        frame = create_frame(runtime, record, span, None, is_part=False, reach="step")
        runtime.session_started(record)
        runtime.step_started(span, record)
        return OpenStep(span, record, scope_of(frame), frame)
    span, record = begin_inside(runtime, outer, name, attributes, kind=kind, start_ns=start_ns)
    return OpenStep(span, record, Scope(outer.frame, span.trace_id, span.id, span), None)


def begin_inside(
    runtime: Runtime,
    outer: Scope,
    name: str,
    attributes: dict[str, Any],
    *,
    kind: int = KIND_INTERNAL,
    start_ns: Optional[int] = None,
) -> tuple[Span, SessionRecord]:
    is_remote = outer.frame is None or (outer.span is not None and outer.span.is_foreign)
    span = Span(
        name,
        outer.trace_id,
        outer.span_id,
        attributes,
        kind=kind,
        start_ns=start_ns,
        is_parent_remote=is_remote,
    )
    if outer.frame is not None:
        record = outer.frame.record
    else:
        record = runtime.store.by_id(outer.trace_id) or SessionRecord(outer.trace_id)
    runtime.step_started(span, record)
    return span, record


def create_frame(
    runtime: Runtime,
    record: SessionRecord,
    span: Span,
    outer: Optional[Scope],
    *,
    is_part: bool,
    reach: str,
    stack: Any = (),
) -> SessionFrame:
    runtime.frame_count += 1
    frame = SessionFrame(
        record, span, outer, is_part=is_part, reach=reach, order=runtime.frame_count, stack=stack
    )
    runtime.open_frames[id(frame)] = frame
    return frame


def end_step(runtime: Runtime, step: OpenStep, end_ns: Optional[int] = None) -> None:
    end_span(runtime, step.span, step.record, end_ns)
    if step.frame is not None:
        leave_frame(runtime, step.frame)


def end_span(runtime: Runtime, span: Span, record: SessionRecord, end_ns: Optional[int] = None) -> None:
    if span.is_ended or span.is_foreign:
        return
    span.end_ns = max(span.start_ns, now_ns() if end_ns is None else end_ns)
    runtime.step_ended(span, record)


def leave_frame(runtime: Runtime, frame: SessionFrame) -> None:
    frame.is_ended = True
    runtime.open_frames.pop(id(frame), None)


def set_error(runtime: Runtime, span: Span, record: SessionRecord, error: Any) -> None:
    """Record an error on a step. If a step inside it already recorded the error, mark it as propagated."""
    described = describe_error(error, runtime.settings.is_content_kept)
    if issubclass(type(error), BaseException) and record.note_error(span, error):
        described["isPropagated"] = True
        described.pop("stack", None)
    span.status_code = STATUS_ERROR
    span.status_message = described["message"]
    span.attributes["error.type"] = described["type"]
    span.attributes["playhead.step.error"] = write_json(described)


def note_interruption(step: OpenStep, error: BaseException) -> None:
    """A step that is a session of its own and was interrupted has not failed, as any other session."""
    reason = None if step.frame is None else describe_interruption(error)
    if reason is not None:
        step.span.attributes["playhead.session.end_state"] = "Indeterminate"
        step.span.attributes["playhead.session.end_state_reason"] = reason


class WrittenValue(NamedTuple):
    # True if something was left out.
    is_cut: bool
    # True if it was plain JSON, of which nothing is lost.
    is_plain: bool


def set_value(runtime: Runtime, attributes: dict[str, Any], key: str, value: Any) -> WrittenValue:
    """Numbers and booleans unchanged, everything else as JSON."""
    if type(value) in (bool, int, float):
        attributes[key] = value
        return WrittenValue(False, False)
    try:
        (text, is_cut), is_plain = serialize_and_tell(value, runtime.serialize_options)
    except Exception:
        (text, is_cut), is_plain = runtime.serialize(value), False
    # A number of another type, such as numpy's.
    attributes[key] = json.loads(text) if text[0] in "-0123456789tf" else text
    if is_cut:
        attributes["playhead.truncated"] = True
    return WrittenValue(is_cut, is_plain)
