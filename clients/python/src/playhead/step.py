"""One thing the agent did, as seen by the recording process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass
class StepError:
    type: str
    message: str
    stack: Optional[str] = None
    cause: Optional[StepError] = None
    # True if a nested step raised the error and it propagated through this one.
    is_propagated: bool = False
    # True if code further out went on, or a later attempt succeeded.
    is_handled: bool = False


@dataclass
class Step:
    id: str
    parent_id: Optional[str]
    # llm, embedding, action, agent, retrieval, workflow, event, other, …
    kind: str
    name: str
    started_at: str
    ended_at: Optional[str]
    offset_ms: float
    duration_ms: Optional[float]
    # ok, error, soft-error (it returned a failure), running
    status: str
    started_ns: int = field(repr=False, default=0)
    ended_ns: Optional[int] = field(repr=False, default=None)
    error: Optional[StepError] = None
    # An action's or agent's arguments and result.
    input: Any = None
    output: Any = None
    # A model call's request and response messages, in the format of the API.
    messages: Optional[list[dict[str, Any]]] = None
    # The tools that a model was offered, and its parameters.
    tool_definitions: Optional[list[dict[str, Any]]] = None
    parameters: Optional[dict[str, Any]] = None
    model: Optional[str] = None
    requested_model: Optional[str] = None
    provider: Optional[str] = None
    # Tokens: input (cache included), output (reasoning included), cacheRead, cacheWrite, reasoning, …
    usage: Optional[dict[str, int]] = None
    # US dollars; None if the price is unknown.
    cost: Optional[float] = None
    cost_source: Optional[str] = None
    agent: Optional[str] = None
    effect: Optional[str] = None
    attempt: Optional[int] = None
    finish_reasons: Optional[list[str]] = None
    first_token_ms: Optional[float] = None
    chunks: Optional[list[Any]] = None
    response_id: Optional[str] = None
    tool_call_id: Optional[str] = None
    # True if nobody recorded it, but a model asked for it and a later call contains its result.
    is_inferred: bool = False
    input_preview: Optional[str] = field(repr=False, default=None)
    output_preview: Optional[str] = field(repr=False, default=None)
    has_output: bool = field(repr=False, default=False)
    attributes: dict[str, Any] = field(repr=False, default_factory=dict)


@dataclass
class RecordedAction:
    """An action of a session: a tool call, a recorded function, or an event passed to `record`."""

    action_type: str
    params: Any
    returns: Any
    effect: Optional[str]
    status: str
    error: Optional[StepError]
    started_at: str
    duration_ms: Optional[float]
    step_id: str


@dataclass
class RecordedError:
    """An error of a session, with the step that caused it."""

    type: str
    message: str
    stack: Optional[str]
    step: Step
    # True if code further out went on, or a later attempt succeeded.
    is_handled: bool = False
    # Always false here: a step that only passed an error on is not listed.
    is_propagated: bool = False
