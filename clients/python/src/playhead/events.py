"""Events for `record`, with AgentOps' names and fields."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from .clock import now_ns

Moment = Union[int, float, datetime.datetime, str, None]
_NS = 1_000_000_000


@dataclass
class ActionEvent:
    """An action: `record(ActionEvent(action_type="session_complete", params={…}, returns={…}))`."""

    action_type: str = ""
    params: Any = None
    returns: Any = None
    # "read" or "write".
    effect: Optional[str] = None
    # Set if it failed.
    error: Any = None
    # Seconds since 1970 or a datetime; by default an event lasts from its creation to `record`.
    started_at: Moment = None
    ended_at: Moment = None
    logs: Any = None
    created_ns: int = field(default_factory=now_ns, repr=False)


@dataclass
class ToolEvent:
    """A tool call."""

    name: str = ""
    params: Any = None
    returns: Any = None
    effect: Optional[str] = None
    # The model's tool call id.
    call_id: Optional[str] = None
    error: Any = None
    started_at: Moment = None
    ended_at: Moment = None
    logs: Any = None
    created_ns: int = field(default_factory=now_ns, repr=False)


@dataclass
class LLMEvent:
    """A model call that could not be captured. `init` captures calls over HTTP by itself."""

    model: str = ""
    prompt: Any = None
    completion: Any = None
    provider: Optional[str] = None
    # Token counts: input (with cache), output (with reasoning), cache_read, cache_write, reasoning, …
    usage: Optional[dict[str, int]] = None
    prompt_tokens: Optional[int] = None
    completion_tokens: Optional[int] = None
    # US dollars; overrides the price table.
    cost: Optional[float] = None
    error: Any = None
    started_at: Moment = None
    ended_at: Moment = None
    params: Any = None
    returns: Any = None
    created_ns: int = field(default_factory=now_ns, repr=False)


@dataclass
class ErrorEvent:
    """An error that no step raised. An error that a step already recorded does not count again."""

    exception: Optional[BaseException] = None
    error_type: Optional[str] = None
    details: Optional[str] = None
    message: Optional[str] = None
    started_at: Moment = None
    ended_at: Moment = None
    created_ns: int = field(default_factory=now_ns, repr=False)


PlayheadEvent = Union[ActionEvent, ToolEvent, LLMEvent, ErrorEvent]


def to_ns(moment: Moment) -> Optional[int]:
    """None for anything that is not a time between 1970 and 2262."""
    try:
        if type(moment) is str:
            moment = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
        if issubclass(type(moment), datetime.datetime):
            seconds = moment.timestamp()  # type: ignore[union-attr]
        elif type(moment) in (int, float):
            seconds = moment
        else:
            return None
        ns = int(seconds * _NS)
        return ns if 0 <= ns < 2**63 else None
    except Exception:
        return None
