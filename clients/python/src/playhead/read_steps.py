"""Reads steps from recorded spans, so that the process shows exactly what it sends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Optional

from .clock import to_iso
from .deliver.encode import outgoing_attributes
from .prices.price import price_of
from .redaction.redact import Redactor
from .serialize import write_json
from .span import STATUS_ERROR, Span
from .step import Step, StepError

_KINDS_OF_OPERATIONS = {
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "embeddings": "embedding",
    "execute_tool": "action",
    "invoke_agent": "agent",
}
USAGE_KEYS = {
    "gen_ai.usage.input_tokens": "input",
    "gen_ai.usage.output_tokens": "output",
    "gen_ai.usage.total_tokens": "total",
    "gen_ai.usage.cache_read.input_tokens": "cacheRead",
    "gen_ai.usage.cache_write.input_tokens": "cacheWrite",
    "gen_ai.usage.cache_creation.5m_input_tokens": "cacheWrite5m",
    "gen_ai.usage.cache_creation.1h_input_tokens": "cacheWrite1h",
    "gen_ai.usage.reasoning.output_tokens": "reasoning",
    "gen_ai.usage.audio.input_tokens": "audioInput",
    "gen_ai.usage.audio.output_tokens": "audioOutput",
    "gen_ai.usage.image.input_tokens": "imageInput",
}
# Finish reasons in one spelling; unknown ones stay unchanged.
_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "tool_calls": "tool_call",
    "tool_use": "tool_call",
    "function_call": "tool_call",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "safety": "content_filter",
    "refusal": "content_filter",
}
_ARGUMENT_KEYS = ("playhead.action.arguments", "gen_ai.tool.call.arguments", "input.value")
_RESULT_KEYS = ("playhead.action.result", "gen_ai.tool.call.result", "output.value")
_MAX_LENGTH = 200
# Shorter texts match by accident.
_TELLING_LENGTH = 8


def read_steps(spans: Sequence[Span], redactor: Redactor) -> list[Step]:
    """In start order."""
    ordered = sorted(spans, key=lambda span: span.start_ns)
    origin_ns = ordered[0].start_ns if ordered else 0
    steps = [_read_step(span, origin_ns, redactor) for span in ordered]
    _mark_propagated(steps)
    return steps


def _read_step(span: Span, origin_ns: int, redactor: Redactor) -> Step:
    attributes = outgoing_attributes(span, redactor)
    operation = attributes.get("gen_ai.operation.name")
    kind = attributes.get("playhead.step.kind") or _KINDS_OF_OPERATIONS.get(str(operation), "other")
    output_key = next((key for key in _RESULT_KEYS if key in attributes), None)
    requested = attributes.get("gen_ai.request.model")
    model = attributes.get("gen_ai.response.model")
    step = Step(
        id=span.id,
        parent_id=span.parent_id,
        kind=kind,
        # Model calls are named after their model.
        name=str(model or requested or span.name) if kind in ("llm", "embedding") else span.name,
        started_at=to_iso(span.start_ns),
        ended_at=None if span.end_ns is None else to_iso(span.end_ns),
        offset_ms=round((span.start_ns - origin_ns) / 1e6, 3),
        duration_ms=None if span.end_ns is None else round((span.end_ns - span.start_ns) / 1e6, 3),
        status="running" if span.end_ns is None else "ok",
        started_ns=span.start_ns,
        input=_read_first(attributes, _ARGUMENT_KEYS),
        output=None if output_key is None else _parse(attributes[output_key]),
        has_output=output_key is not None,
        model=model or requested,
        requested_model=requested if model not in (None, requested) else None,
        provider=attributes.get("gen_ai.provider.name"),
        agent=attributes.get("gen_ai.agent.name"),
        effect=attributes.get("playhead.step.effect"),
        attempt=attributes.get("playhead.step.attempt"),
        finish_reasons=_finish_reasons(attributes.get("gen_ai.response.finish_reasons")),
        response_id=attributes.get("gen_ai.response.id"),
        attributes=attributes,
    )
    _read_call(step, attributes)
    _read_outcome(step, span, attributes)
    step.cost, step.cost_source = price_of(step)
    return step


def _finish_reasons(given: Any) -> Optional[list[str]]:
    if not isinstance(given, list):
        return None
    return [_FINISH_REASONS.get(str(reason), str(reason)) for reason in given]


def _read_call(step: Step, attributes: dict[str, Any]) -> None:
    usage = {name: attributes[key] for key, name in USAGE_KEYS.items() if key in attributes}
    if (
        usage
        and "total" not in usage
        and "input" in usage
        and ("output" in usage or step.kind == "embedding")
    ):
        usage["total"] = usage["input"] + usage.get("output", 0)
    step.usage = usage or None
    sent = _parse(attributes.get("gen_ai.input.messages")) or []
    system = _parse(attributes.get("gen_ai.system_instructions"))
    answered = _parse(attributes.get("gen_ai.output.messages")) or []
    if system or sent or answered:
        first = [{"role": "system", "parts": system}] if system else []
        step.messages = [*first, *sent, *({**message, "is_output": True} for message in answered)]
    first_token_s = attributes.get("gen_ai.response.time_to_first_chunk")
    step.first_token_ms = None if first_token_s is None else first_token_s * 1000
    step.chunks = _parse(attributes.get("playhead.stream.chunks"))


def _read_outcome(step: Step, span: Span, attributes: dict[str, Any]) -> None:
    described = _parse(attributes.get("playhead.step.error"))
    if isinstance(described, dict):
        step.error = _to_error(described)
    elif span.status_code == STATUS_ERROR and (span.status_message or "error.type" in attributes):
        step.error = StepError(str(attributes.get("error.type") or "Error"), span.status_message)
    if span.status_code == STATUS_ERROR:
        step.status = "error"
    elif step.kind == "action" and step.status == "ok":
        said = soft_error_of(step.output)
        if said is not None:
            step.status = "soft-error"
            step.error = StepError(*said)


def _to_error(described: dict[str, Any]) -> StepError:
    cause = described.get("cause")
    return StepError(
        type=str(described.get("type") or "Error"),
        message=str(described.get("message") or ""),
        stack=described.get("stack"),
        cause=_to_error(cause) if isinstance(cause, dict) else None,
        is_propagated=described.get("isPropagated") is True,
    )


def _mark_propagated(steps: Sequence[Step]) -> None:
    """An error that a nested step words differently (an SDK wrapping an API error) has one owner."""
    parents = {step.id: step.parent_id for step in steps}
    for inner in steps:
        if inner.error is None or inner.status == "ok":
            continue
        above: set[Optional[str]] = set()
        parent_id = inner.parent_id
        while parent_id is not None and parent_id not in above:
            above.add(parent_id)
            parent_id = parents.get(parent_id)
        for outer in steps:
            if outer.id in above and outer.error is not None and _is_same(outer.error, inner.error):
                outer.error.is_propagated = True


def _is_same(outer: StepError, inner: StepError) -> bool:
    error: Optional[StepError] = outer
    while error is not None:
        shorter, longer = sorted((error.message.strip(), inner.message.strip()), key=len)
        if shorter and (shorter == longer or (len(shorter) >= _TELLING_LENGTH and shorter in longer)):
            return True
        error = error.cause
    return outer.message == ""


def _read_first(attributes: dict[str, Any], keys: Sequence[str]) -> Any:
    return next((_parse(attributes[key]) for key in keys if key in attributes), None)


def _parse(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def soft_error_of(result: Any) -> Optional[tuple[str, str]]:
    """The failure's type and message; None if the result describes no failure."""
    if not isinstance(result, dict):
        return None
    exit_code = _exit_code(result)
    if exit_code not in (None, 0):
        said = _first_text(result.get("stderr"), result.get("stdout"))
        return "ExitCode", f"exit code {exit_code}" if said is None else said.strip().split("\n", 1)[0]
    is_failed = (
        result.get("isError") is True
        or result.get("is_error") is True
        or str(result.get("status")).lower() in ("error", "errored", "failure")
        or result.get("success") is False
        or result.get("ok") is False
        or _has_error(result.get("error"))
    )
    return (_type_of(result), _message_of(result)) if is_failed else None


def _has_error(error: Any) -> bool:
    return error not in (None, False, 0, "", "null", "None") and error not in ({}, [])


def _exit_code(result: dict[str, Any]) -> Any:
    """An exit code counts only next to a program's output."""
    if "stdout" not in result and "stderr" not in result:
        return None
    for key in ("exitCode", "exit_code", "code", "returncode"):
        if isinstance(result.get(key), int):
            return result[key]
    return None


def _type_of(result: dict[str, Any]) -> str:
    error = result.get("error")
    inner = (
        _first_text(error.get("type"), error.get("name"), error.get("code"))
        if isinstance(error, dict)
        else None
    )
    return (
        inner
        or _first_text(result.get("errorType"), result.get("error_type"), result.get("error_code"))
        or "ToolError"
    )


def _message_of(result: dict[str, Any]) -> str:
    error = result.get("error")
    if isinstance(error, dict):
        return _first_text(error.get("message"), error.get("detail")) or write_json(error)[:_MAX_LENGTH]
    text = error if isinstance(error, str) else None
    said = text or _first_text(
        *(result.get(key) for key in ("message", "error_message", "reason", "detail", "content"))
    )
    return said or write_json(result)[:_MAX_LENGTH]


def _first_text(*values: Any) -> Optional[str]:
    return next((value for value in values if isinstance(value, str) and value != ""), None)
