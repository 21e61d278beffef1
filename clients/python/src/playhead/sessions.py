"""Start and end sessions, and describe them while they run."""

from __future__ import annotations

import enum
import json
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, Union, overload

from .call_stack import capture_stack, is_inside_flow
from .describe_error import describe_interruption, message_of
from .headers import scope_from_headers
from .host_value import is_a, to_fields, to_name, to_names, to_text
from .reading.summary import parse_end_state
from .runtime import Runtime, active_runtime, require_runtime
from .scope import Scope, SessionFrame, current_scope, scope_of, settle
from .session_attributes import session_attributes
from .session_record import SessionRecord
from .session_view import SessionView
from .span import STATUS_ERROR, Span, new_trace_id
from .steps import begin_inside, create_frame, end_span, leave_frame, set_error


def start_session(
    tags: Union[str, Sequence[str], None] = None,
    *,
    name: Optional[str] = None,
    input: Any = None,
    metadata: Optional[Mapping[str, Any]] = None,
    user_id: Optional[str] = None,
    thread_id: Optional[str] = None,
    test: Optional[Mapping[str, Any]] = None,
    **others: Any,
) -> SessionView:
    """Start a session for the rest of this call flow; `end_session` ends it.

    Inside another session it becomes a part of that one: the same session, with a step around everything
    until `end_session`. Concurrent threads and asyncio tasks each get their own session.
    """
    runtime = require_runtime("start_session")
    if runtime is None:
        return SessionView.empty()
    with runtime.guard():
        if others:
            runtime.reporter.once("start_session", f"start_session() does not know {', '.join(others)}.")
        described = {
            "name": name,
            "input": input,
            "tags": tags,
            "metadata": metadata,
            "user_id": user_id,
            "thread_id": thread_id,
            "test": test,
        }
        frame = open_session(runtime, described, "flow")
        current_scope.set(scope_of(frame))
        return SessionView(runtime, frame.record, frame)
    return SessionView.empty()


def end_session(
    end_state: str = "Indeterminate",
    end_state_reason: Union[str, BaseException, None] = None,
    *,
    reason: Union[str, BaseException, None] = None,
    **_others: Any,
) -> None:
    """End the session that `start_session` started. Returns immediately; `flush()` waits for delivery."""
    runtime = require_runtime("end_session")
    if runtime is None:
        return
    with runtime.guard():
        frame = runtime.frame_here()
        if frame is None:
            runtime.reporter.once("end_session", "end_session() was called where no session is open.")
            return
        why = reason if end_state_reason is None else end_state_reason
        error = why if is_a(why, BaseException) else None
        message = to_text(why) if error is None else message_of(error)
        # An enum of AgentOps' end states has its word as the value.
        state = str(end_state) if is_a(end_state, enum.Enum) else to_text(end_state) or ""
        if frame.is_foreign:
            runtime.reporter.once(
                "end_session", "end_session() has no effect here: another process started the session."
            )
            return
        for one in _frames_to_end(frame):
            close_session(runtime, one, state, message, error)


class continue_session:
    """Work in the block belongs to the session that another process sent with `session_headers()`.

        with playhead.continue_session(message.headers):
            handle(message.body)

    The other process ends the session. Without such headers, nothing changes. `async with` does the same.
    """

    def __init__(self, headers: Mapping[str, Any]) -> None:
        self._headers = headers
        self._outer: Optional[Scope] = None
        self._is_entered = False

    def __enter__(self) -> None:
        runtime = require_runtime("continue_session")
        if runtime is None:
            return
        with runtime.guard():
            fields = {name.lower(): value for name, value in to_fields(self._headers).items()}
            scope = scope_from_headers(to_text(fields.get("traceparent")), to_text(fields.get("baggage")))
            if scope is not None:
                self._outer, self._is_entered = current_scope.get(), True
                current_scope.set(scope)

    def __exit__(self, *_error: object) -> None:
        if self._is_entered:
            self._is_entered = False
            current_scope.set(self._outer)

    async def __aenter__(self) -> None:
        self.__enter__()

    async def __aexit__(self, *error: object) -> None:
        self.__exit__(*error)


class session:
    """Record a block as a session: `with playhead.session(name="support", tags=["v2.1"]) as session:`.

    Leaving the block ends the session as Success. An exception ends it as Fail, with the error as the
    reason, and propagates. `async with` does the same. `input` is what the agent was given: a later run
    starts with it.
    """

    def __init__(
        self,
        name: Optional[str] = None,
        *,
        input: Any = None,
        tags: Union[str, Sequence[str], None] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        user_id: Optional[str] = None,
        thread_id: Optional[str] = None,
        test: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self._described = {
            "name": name,
            "input": input,
            "tags": tags,
            "metadata": metadata,
            "user_id": user_id,
            "thread_id": thread_id,
            "test": test,
        }
        self._frame: Optional[SessionFrame] = None
        self._outer: Optional[Scope] = None

    def __enter__(self) -> SessionView:
        runtime = require_runtime("session")
        if runtime is None:
            return SessionView.empty()
        with runtime.guard():
            self._outer = current_scope.get()
            self._frame = open_session(runtime, self._described, "scope")
            current_scope.set(scope_of(self._frame))
            return SessionView(runtime, self._frame.record, self._frame)
        return SessionView.empty()

    def __exit__(
        self,
        _kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        runtime, frame = active_runtime(), self._frame
        if runtime is None or frame is None:
            return
        with runtime.guard():
            # Outside any open session, `get_session()` still returns the one that ended.
            if settle(self._outer) is not None:
                current_scope.set(self._outer)
            close_session(runtime, frame, *end_of_block(error), error)

    async def __aenter__(self) -> SessionView:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.__exit__(kind, error, trace)


@overload
def get_session() -> SessionView: ...
@overload
def get_session(session_id: str) -> Optional[SessionView]: ...
def get_session(session_id: Optional[str] = None) -> Optional[SessionView]:
    """The current session; with an id, a session that this process recorded, or None.

    Outside any open session this is the last one that ended. If there is none, its `id` is empty. In a
    part of a session it shows that part, and its `url` opens the replay there.
    """
    runtime = active_runtime()
    if runtime is not None:
        with runtime.guard():
            if session_id is not None:
                record = runtime.store.find(session_id)
                return None if record is None else SessionView(runtime, record)
            frame = runtime.frame_here()
            if frame is not None:
                return SessionView(runtime, frame.record, frame)
            record = _record_here(runtime)
            if record is not None:
                return SessionView(runtime, record)
    return SessionView.empty() if session_id is None else None


def add_tags(*tags: Union[str, Sequence[str]]) -> None:
    """Add tags to the current session."""
    flat = [tag for given in tags for tag in to_names(given)]

    def add(span: Span) -> dict[str, Any]:
        known = span.attributes.get("playhead.session.tags") or []
        return {"playhead.session.tags": list(dict.fromkeys([*known, *flat]))}

    _describe_session(add)


def set_metadata(metadata: Mapping[str, Any]) -> None:
    """Add metadata to the current session; other keys keep their values."""
    runtime = active_runtime()

    def merge(span: Span) -> dict[str, Any]:
        known = span.attributes.get("playhead.session.metadata")
        merged = {**(_parse_fields(known) if isinstance(known, str) else {}), **to_fields(metadata)}
        return {"playhead.session.metadata": runtime.serialize(merged).text if runtime else ""}

    _describe_session(merge)


def _parse_fields(text: str) -> dict[str, Any]:
    """Truncated metadata is no object any more."""
    try:
        return to_fields(json.loads(text))
    except ValueError:
        return {}


def end_of_block(error: Optional[BaseException]) -> tuple[str, Optional[str]]:
    """How a session ends with the code in it: the same in every form."""
    if error is None or (isinstance(error, SystemExit) and not error.code):
        return "Success", None
    interruption = describe_interruption(error)
    return ("Fail", message_of(error)) if interruption is None else ("Indeterminate", interruption)


def open_session(runtime: Runtime, described: Mapping[str, Any], reach: str) -> SessionFrame:
    """Start a session; inside another session it becomes a part of that one."""
    stack = capture_stack()
    outer = _leave_strangers(runtime, stack)
    attributes = session_attributes(
        described, () if outer else runtime.settings.tags, runtime.serialize_options
    )
    name = to_name(described.get("name")) or "session"
    if outer is not None:
        span, record = begin_inside(runtime, outer, name, attributes)
    else:
        span = Span(name, new_trace_id(), None, attributes)
        record = SessionRecord(span.trace_id)
        runtime.session_started(record)
        runtime.step_started(span, record)
    kept = stack if reach == "flow" else ()
    return create_frame(runtime, record, span, outer, is_part=outer is not None, reach=reach, stack=kept)


def _leave_strangers(runtime: Runtime, stack: Any) -> Optional[Scope]:
    """A session that a failed function left open must not affect the next caller."""
    scope = settle(current_scope.get())
    while scope is not None and scope.frame is not None:
        frame = scope.frame
        if frame.reach != "flow" or scope.span is not frame.span or is_inside_flow(stack, frame.stack):
            return scope
        scope = settle(frame.outer)
    return scope or runtime.inherited


def close_session(
    runtime: Runtime,
    frame: SessionFrame,
    end_state: str,
    reason: Optional[str] = None,
    error: Optional[BaseException] = None,
) -> None:
    """End a session, or the part of one that a frame stands for. Idempotent."""
    if frame.is_ended or frame.is_foreign:
        return
    with runtime.guard():
        _write_end(runtime, frame, end_state, reason, error)
    end_span(runtime, frame.span, frame.record)
    leave_frame(runtime, frame)
    runtime.delivery.send_soon()


def _write_end(
    runtime: Runtime,
    frame: SessionFrame,
    end_state: str,
    reason: Optional[str],
    error: Optional[BaseException],
) -> None:
    """Ending a part does not end the session; whoever started the session does that."""
    state = parse_end_state(end_state)
    frame.end_state, frame.reason = state, reason
    span = frame.span
    if not frame.is_part:
        span.attributes["playhead.session.end_state"] = state.capitalize()
        if reason is not None:
            span.attributes["playhead.session.end_state_reason"] = reason
    if error is not None and state != "success":
        set_error(runtime, span, frame.record, error)
    elif state == "fail":
        span.status_code = STATUS_ERROR
        span.status_message = reason or ""


def close_all_sessions(runtime: Runtime, reason: str, error: Optional[BaseException] = None) -> None:
    """End every open session at process exit. Running steps stay marked as running."""
    failed = None if error is None else _record_of_error(runtime, error)
    runtime.running_steps.announce(0)
    for frame in sorted(runtime.open_frames.copy().values(), key=lambda one: -one.order):
        is_failed = error is not None and frame.record is failed
        state, why = end_of_block(error) if is_failed else ("Indeterminate", reason)
        if frame.reach != "step":
            close_session(runtime, frame, state, why or reason, error if is_failed else None)
        else:
            _write_end(runtime, frame, state, why or reason, error if is_failed else None)
            leave_frame(runtime, frame)
            runtime.delivery.announce(frame.span, frame.record)


def _record_of_error(runtime: Runtime, error: BaseException) -> Optional[SessionRecord]:
    """The session whose steps recorded the error, else the one that was running when it occurred."""
    for frame in list(runtime.open_frames.values()):
        if frame.record.has_error(error):
            return frame.record
    current = runtime.current_frame()
    return None if current is None else current.record


def _frames_to_end(innermost: SessionFrame) -> list[SessionFrame]:
    """The innermost frame, or all frames up to an outer one that the calling function started.

    Failing code can't end what it started, so a fixture that ends its own session ends that too.
    """
    stack = capture_stack()
    caller = stack[0].code if stack else None
    frames: list[SessionFrame] = []
    frame: Optional[SessionFrame] = innermost
    while frame is not None and frame.reach == "flow" and frame.record is innermost.record:
        if not frame.is_ended:
            frames.append(frame)
        if frame.stack and frame.stack[0].code is caller:
            return frames
        frame = frame.outer_frame
    return [innermost]


def _record_here(runtime: Runtime) -> Optional[SessionRecord]:
    scope = current_scope.get()
    settled = settle(scope)
    if settled is not None:
        return settled.frame.record if settled.frame is not None else runtime.store.by_id(settled.trace_id)
    return None if scope is None or scope.frame is None else scope.frame.record


def _describe_session(attributes_of: Any) -> None:
    runtime = active_runtime()
    if runtime is None:
        return
    with runtime.guard():
        frame = runtime.frame_here()
        while (
            frame is not None and frame.outer_frame is not None and frame.outer_frame.record is frame.record
        ):
            frame = frame.outer_frame
        if frame is None or frame.is_foreign:
            is_elsewhere = frame is not None or settle(current_scope.get()) or runtime.inherited
            if is_elsewhere:
                runtime.reporter.once(
                    "describe",
                    "add_tags() and set_metadata() have no effect here: another process started the session.",
                )
            return
        frame.span.attributes.update(attributes_of(frame.span))
        frame.record.change_count += 1


def uncaught_error() -> Optional[BaseException]:
    """The exception that is ending this process; at an interactive prompt, only the last one seen."""
    if hasattr(sys, "ps1") or sys.flags.interactive:
        return None
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None
