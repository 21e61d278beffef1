"""Where code runs: in which session, and inside which step. Threads and asyncio tasks each have their own."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, Optional

from .span import Span

if TYPE_CHECKING:
    from .call_stack import StackFrame
    from .session_record import SessionRecord


class Scope(NamedTuple):
    # The session that the code runs in; None in one that another process started.
    frame: Optional[SessionFrame]
    trace_id: str
    # The step around whatever begins next.
    span_id: str
    span: Optional[Span]


class SessionFrame:
    """A session as the code that runs in it sees it: which one it is, and what is around it."""

    __slots__ = (
        "end_state",
        "is_ended",
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
        self.record = record
        # The step that stands for it.
        self.span = span
        # Where steps belong once it has ended.
        self.outer = outer
        # True for a part of a session that was started elsewhere: further out, or in another process.
        self.is_part = is_part
        # "flow": by start_session, for the rest of the flow. "scope": for one block. "step": by an outermost
        # step.
        self.reach = reach
        self.order = order
        # What was on the stack when a "flow" began.
        self.stack = stack
        self.is_ended = False
        self.end_state: Optional[str] = None
        self.reason: Optional[str] = None

    @property
    def outer_frame(self) -> Optional[SessionFrame]:
        return None if self.outer is None else self.outer.frame


current_scope: ContextVar[Optional[Scope]] = ContextVar("playhead", default=None)


def scope_of(frame: SessionFrame) -> Scope:
    return Scope(frame, frame.record.id, frame.span.id, frame.span)


def settle(scope: Optional[Scope]) -> Optional[Scope]:
    """What a new step belongs to: an ended session takes no more steps, except inside steps that outlive
    it."""
    while scope is not None and scope.frame is not None:
        frame = scope.frame
        if not frame.is_ended or scope.span is not frame.span:
            return scope
        scope = frame.outer
    return scope


def open_frame_of(scope: Optional[Scope]) -> Optional[SessionFrame]:
    """The session that is open around this code: the innermost that has not ended."""
    frame = None if scope is None else scope.frame
    while frame is not None and frame.is_ended:
        frame = frame.outer_frame
    return frame
