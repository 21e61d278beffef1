"""The current session and step. Each thread and asyncio task has its own."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, Optional

from .span import Span

if TYPE_CHECKING:
    from .call_stack import StackFrame
    from .session_record import SessionRecord


class Scope(NamedTuple):
    # The current session; None if another process started it.
    frame: Optional[SessionFrame]
    trace_id: str
    # The parent of the next step.
    span_id: str
    span: Optional[Span]


class SessionFrame:
    """A session as seen by the code that runs in it, with the session around it."""

    __slots__ = (
        "end_state",
        "is_ended",
        "is_foreign",
        "is_part",
        "order",
        "outer",
        "reach",
        "reason",
        "record",
        "span",
        "stack",
    )

    def __init__(
        self,
        record: SessionRecord,
        span: Span,
        outer: Optional[Scope],
        *,
        is_part: bool,
        reach: str,
        order: int,
        stack: tuple[StackFrame, ...] = (),
    ) -> None:
        self.record: SessionRecord = record
        # The session's root step.
        self.span: Span = span
        # The parent of steps that start after the session ended.
        self.outer: Optional[Scope] = outer
        # True for a part of a session that started further out or in another process.
        self.is_part: bool = is_part
        # "flow": start_session, for the rest of the flow. "scope": one block. "step": an outermost step.
        self.reach: str = reach
        self.order: int = order
        # The call stack when a "flow" started.
        self.stack: tuple[StackFrame, ...] = stack
        self.is_ended: bool = False
        # True in a forked process: another one started the session, and only that one ends it.
        self.is_foreign: bool = False
        self.end_state: Optional[str] = None
        self.reason: Optional[str] = None

    @property
    def outer_frame(self) -> Optional[SessionFrame]:
        return None if self.outer is None else self.outer.frame


current_scope: ContextVar[Optional[Scope]] = ContextVar("playhead", default=None)


def scope_of(frame: SessionFrame) -> Scope:
    return Scope(frame, frame.record.id, frame.span.id, frame.span)


def settle(scope: Optional[Scope]) -> Optional[Scope]:
    """The parent of a new step. An ended session accepts steps only inside steps that outlive it."""
    while scope is not None and scope.frame is not None:
        frame = scope.frame
        if not frame.is_ended or scope.span is not frame.span:
            return scope
        scope = frame.outer
    return scope


def open_frame_of(scope: Optional[Scope]) -> Optional[SessionFrame]:
    """The innermost open session around this code."""
    frame = None if scope is None else scope.frame
    while frame is not None and frame.is_ended:
        frame = frame.outer_frame
    return frame
