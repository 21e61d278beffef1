"""The step that a span describes, so that the process shows exactly what it sends."""

from __future__ import annotations

import math
from typing import Any, Optional

from ..clock import to_iso
from ..deliver.encode import outgoing_attributes
from ..prices.price import Call, price_of
from ..redaction.redact import Redactor
from ..span import STATUS_ERROR, Span
from ..step import Step, StepError
from .error_message import parse_error_message, parse_recorded_error
from .messages import read_messages, unwrap_blocks
from .parse import parse_json, parse_json_once
from .previews import (
    is_meaningful,
    one_line,
    preview_json,
    preview_of_arguments,
    preview_of_input,
    preview_of_output,
    preview_of_question,
    preview_of_value,
)
from .soft_error import soft_error_of
from .usage import read_call

# Finish reasons in one spelling; unknown ones stay unchanged.
_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "finish": "stop",
    "finished": "stop",
    "complete": "stop",
    "completed": "stop",
    "tool_calls": "tool_call",
    "tool_use": "tool_call",
    "function_call": "tool_call",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "safety": "content_filter",
    "refusal": "content_filter",
    "guardrail_intervened": "content_filter",
}
_PARAMETER_PREFIX = "gen_ai.request."
# Parameters whose attribute has another name.
_PARAMETER_NAMES = {
    "max_output_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "stop": "stop_sequences",
    "choice.count": "n",
    "encoding_formats": "encoding_format",
}
_NO_PARAMETERS = frozenset(["model", "previous_response_id"])
_ARGUMENT_KEYS = ("playhead.action.arguments", "gen_ai.tool.call.arguments")
_RESULT_KEYS = ("playhead.action.result", "gen_ai.tool.call.result")


def read_step(span: Span, origin_ns: int, redactor: Redactor) -> Step:
    attributes = outgoing_attributes(span, redactor)
    call = read_call(span, attributes)
    kind = call.kind
    step = Step(
        id=span.id,
        parent_id=span.parent_id,
        kind=kind,
        name=_name_of(span, call, attributes),
        started_at=to_iso(span.start_ns),
        ended_at=None if span.end_ns is None else to_iso(span.end_ns),
        offset_ms=between_ms(origin_ns, span.start_ns),
        duration_ms=None if span.end_ns is None else between_ms(span.start_ns, span.end_ns),
        status="running" if span.end_ns is None else "ok",
        started_ns=span.start_ns,
        ended_ns=span.end_ns,
        model=call.model,
        requested_model=call.requested_model,
        provider=call.provider,
        usage=call.usage,
        agent=_agent_of(span, kind, attributes),
        effect=attributes.get("playhead.step.effect"),
        attempt=attributes.get("playhead.step.attempt"),
        response_id=attributes.get("gen_ai.response.id"),
        tool_call_id=attributes.get("gen_ai.tool.call.id") if kind == "action" else None,
        attributes=attributes,
    )
    _read_payload(step, attributes)
    _read_call(step, attributes)
    _read_outcome(step, span, attributes)
    _read_previews(step)
    step.cost, step.cost_source = price_of(call)
    return step


def between_ms(earlier_ns: int, later_ns: int) -> float:
    """In the precision of the server, which reads times in microseconds."""
    return (later_ns // 1000 - earlier_ns // 1000) / 1000


def _name_of(span: Span, call: Call, attributes: dict[str, Any]) -> str:
    """Model calls are named after their model, without the date that a provider adds."""
    if call.kind in ("llm", "embedding") and call.model is not None:
        requested = call.requested_model
        return requested if requested is not None and call.model.startswith(requested) else call.model
    if call.kind == "action":
        return str(attributes.get("gen_ai.tool.name") or span.name)
    if call.kind == "agent":
        return str(attributes.get("gen_ai.agent.name") or span.name)
    return span.name or call.kind


def _agent_of(span: Span, kind: str, attributes: dict[str, Any]) -> Optional[str]:
    named = attributes.get("gen_ai.agent.name")
    if isinstance(named, str) and named:
        return one_line(named)
    return span.name if kind == "agent" else None


def _read_payload(step: Step, attributes: dict[str, Any]) -> None:
    if step.kind == "action":
        given = next((attributes[key] for key in _ARGUMENT_KEYS if key in attributes), None)
        result_key = next((key for key in _RESULT_KEYS if key in attributes), None)
        step.input = parse_json(given)
        if result_key is not None:
            text = attributes[result_key]
            step.output = None if text == "null" else unwrap_blocks(parse_json_once(text))
            step.has_output = True
        return
    step.input = parse_json(attributes.get("playhead.session.input", attributes.get("input.value")))
    if "output.value" in attributes:
        step.output = parse_json_once(attributes["output.value"])
        step.has_output = True


def _read_call(step: Step, attributes: dict[str, Any]) -> None:
    step.messages = None if step.kind == "action" else read_messages(attributes)
    step.finish_reasons = _finish_reasons(attributes.get("gen_ai.response.finish_reasons"), step.messages)
    if step.kind in ("llm", "agent"):
        step.tool_definitions = parse_json(attributes.get("gen_ai.tool.definitions")) or None
    parameters: dict[str, Any] = {}
    for key, value in attributes.items():
        name = key[len(_PARAMETER_PREFIX) :]
        if key.startswith(_PARAMETER_PREFIX) and name not in _NO_PARAMETERS and is_meaningful(value):
            parameters.setdefault(_PARAMETER_NAMES.get(name, name), value)
    step.parameters = parameters or None
    first_token_s = attributes.get("gen_ai.response.time_to_first_chunk")
    if first_token_s is not None:
        step.first_token_ms = math.floor(first_token_s * 1000 * 1000 + 0.5) / 1000
    step.chunks = parse_json(attributes.get("playhead.stream.chunks"))


def _finish_reasons(given: Any, messages: Optional[list[dict[str, Any]]]) -> Optional[list[str]]:
    reasons = given if isinstance(given, list) else []
    if not reasons:
        reasons = [
            one["finishReason"] for one in messages or [] if one.get("isOutput") and "finishReason" in one
        ]
    words = [str(reason).lower().replace("-", "_") for reason in reasons]
    return [_FINISH_REASONS.get(word, word) for word in words] or None


def _read_outcome(step: Step, span: Span, attributes: dict[str, Any]) -> None:
    if span.end_ns is None:
        return
    error = parse_recorded_error(parse_json(attributes.get("playhead.step.error")))
    kind = attributes.get("error.type")
    if error is None and (span.status_code == STATUS_ERROR or kind is not None):
        error = parse_error_message(span.status_message, None if kind is None else str(kind))
    if error is not None:
        step.status = "error"
        step.error = error
    elif step.kind == "action":
        said = soft_error_of(parse_json(step.output))
        if said is not None:
            step.status = "soft-error"
            step.error = StepError(*said)


def _read_previews(step: Step) -> None:
    if step.kind == "action":
        has_input = any(key in step.attributes for key in _ARGUMENT_KEYS)
        step.input_preview = preview_of_arguments(step.input) if has_input else None
        if step.has_output:
            text = step.output if isinstance(step.output, str) else preview_json(step.output)
            step.output_preview = one_line(text)
        return
    messages = step.messages or []
    step.input_preview = preview_of_input(messages) or preview_of_question(step.input)
    step.output_preview = preview_of_output(messages) or preview_of_value(step.output)
