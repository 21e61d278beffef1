"""Playhead records what an AI agent does, lets you replay it, and lets you test it.

import playhead

playhead.init()

@playhead.record_action("fetch_customer_data")
def fetch_customer(customer_id): ...

with playhead.session(name="support", tags=["v2.1"]) as session:
    ...
print(session.url, session.cost)
"""

from .events import ActionEvent, ErrorEvent, LLMEvent, PlayheadEvent, ToolEvent
from .headers import session_environment, session_headers
from .record_action import agent, record_action, record_tool
from .record_event import record
from .session_view import SessionView
from .sessions import (
    add_tags,
    continue_session,
    end_session,
    get_session,
    session,
    set_metadata,
    start_session,
)
from .start import flush, init, shutdown, stats
from .step import RecordedAction, RecordedError, Step, StepError
from .version import VERSION as __version__

__all__ = [
    "ActionEvent",
    "ErrorEvent",
    "LLMEvent",
    "PlayheadEvent",
    "RecordedAction",
    "RecordedError",
    "SessionView",
    "Step",
    "StepError",
    "ToolEvent",
    "__version__",
    "add_tags",
    "agent",
    "continue_session",
    "end_session",
    "flush",
    "get_session",
    "init",
    "record",
    "record_action",
    "record_tool",
    "session",
    "session_environment",
    "session_headers",
    "set_metadata",
    "shutdown",
    "start_session",
    "stats",
]
