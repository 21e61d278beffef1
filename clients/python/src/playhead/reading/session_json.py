"""A session in the format of the API and of recordings, which `playhead show` and the replay page read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..clock import to_iso
from ..redaction.redact import Redactor
from ..session_attributes import TEST_KEYS
from ..session_record import SessionRecord
from ..span import Span
from ..step import Step, StepError
from . import summary
from .errors import attribute_errors
from .infer_actions import infer_actions
from .parse import parse_json
from .previews import is_meaningful
from .scores import counting_scores, is_score, scores_of
from .span_to_step import between_ms, read_step

_MAX_METADATA_LENGTH = 2000
_THREAD_IDS = ("session_id", "thread_id", "conversation_id")


def steps_of(record: SessionRecord, redactor: Redactor) -> list[Step]:
    """In start order; cached until something changes."""
    known = record.reading
    if known is not None and known[0] == record.change_count and known[1] is redactor:
        return known[2]
    change_count = record.change_count
    spans = [*record.ended, *list(record.open.values())]
    steps = read_steps([span for span in spans if not is_score(span)], redactor)
    record.reading = (change_count, redactor, steps)
    return steps


def read_steps(spans: Sequence[Span], redactor: Redactor) -> list[Step]:
    ordered = sorted(spans, key=lambda span: span.start_ns)
    origin_ns = ordered[0].start_ns if ordered else 0
    steps = [read_step(span, origin_ns, redactor) for span in ordered]
    inferred = infer_actions(steps, origin_ns)
    if inferred:
        steps = sorted([*steps, *inferred], key=lambda step: step.started_ns)
    attribute_errors(steps, is_read_while_recording=True)
    return steps


def read_session(
    record: SessionRecord, redactor: Redactor, resource: Optional[Mapping[str, Any]] = None
) -> dict[str, Any]:
    steps = steps_of(record, redactor)
    scores = scores_of(record.ended)
    summarized = _summarize(record, steps, resource or {})
    if scores:
        summarized["scores"] = counting_scores(scores)
    whole = {"session": summarized, "steps": [write_step(step) for step in steps]}
    return {**whole, "scores": scores} if scores else whole


def _summarize(record: SessionRecord, steps: Sequence[Step], resource: Mapping[str, Any]) -> dict[str, Any]:
    outline = summary.Outline(steps)
    end_state, reason = outline.end_state
    started_ns = steps[0].started_ns if steps else record.started_ns
    ends = [step.ended_ns or step.started_ns for step in steps]
    ended_ns = None if end_state == "running" else max(ends, default=started_ns)
    totals = record.ledger.totals
    described = {
        "id": record.id,
        "name": outline.name,
        "inputPreview": outline.input_preview,
        "endState": end_state,
        "endStateReason": reason,
        "startedAt": to_iso(started_ns),
        "tags": outline.tags,
        "usage": totals.tokens,
        "unpricedModels": totals.unpriced_models,
        "modelsWithoutUsage": totals.models_without_usage or None,
        "modelsWithoutOutput": totals.models_without_output or None,
        **_count_steps(steps),
        **_facts_of(outline, resource),
        "demo": False,
    }
    return {
        **_known(described),
        "endedAt": None if ended_ns is None else to_iso(ended_ns),
        "durationMs": None if ended_ns is None else between_ms(started_ns, ended_ns),
        "cost": totals.cost,
    }


def _count_steps(steps: Sequence[Step]) -> dict[str, Any]:
    models = [step.model for step in steps if summary.is_model_call(step) and step.model]
    agents = [step.agent or step.name for step in steps if step.agent or step.kind == "agent"]
    return {
        "stepCount": len(steps),
        "llmCallCount": sum(step.kind == "llm" for step in steps),
        "actionCount": sum(step.kind == "action" for step in steps),
        "errorCount": len(summary.owned_errors(steps)),
        "models": list(dict.fromkeys(models)),
        "agents": list(dict.fromkeys(agents)),
        "tools": list(dict.fromkeys(step.name for step in steps if step.kind == "action")),
    }


def _facts_of(outline: summary.Outline, resource: Mapping[str, Any]) -> dict[str, Any]:
    def fact(key: str) -> Any:
        found = outline.fact(key)
        return resource.get(key) if found is None else found

    metadata = parse_json(fact("playhead.session.metadata"))
    given = metadata if isinstance(metadata, dict) else {}
    test = {_test_field(field): fact(key) for field, key in TEST_KEYS.items()}
    vcs = {"branch": fact("vcs.ref.head.name"), "commit": fact("vcs.ref.head.revision")}
    return {
        "userId": fact("user.id") or given.get("user_id"),
        "threadId": fact("session.id") or next((given[key] for key in _THREAD_IDS if given.get(key)), None),
        "environment": fact("deployment.environment.name"),
        "test": _known(test) or None,
        "vcs": _known(vcs) or None,
        "metadata": {name: value for name, value in given.items() if _is_kept(value)} or None,
    }


def _is_kept(value: Any) -> bool:
    """Longer values are payloads, not metadata."""
    return is_meaningful(value) and not (isinstance(value, str) and len(value) > _MAX_METADATA_LENGTH)


def write_step(step: Step) -> dict[str, Any]:
    streaming = {
        "firstTokenMs": step.first_token_ms,
        "chunks": step.chunks,
        "isAborted": step.attributes.get("playhead.stream.aborted"),
    }
    described = {
        "id": step.id,
        "kind": step.kind,
        "name": step.name,
        "startedAt": step.started_at,
        "offsetMs": step.offset_ms,
        "status": step.status,
        "error": _write_error(step.error),
        "inputPreview": step.input_preview,
        "outputPreview": step.output_preview,
        "hasPayload": True,
        "input": step.input,
        "messages": step.messages,
        "toolDefinitions": step.tool_definitions,
        "parameters": step.parameters,
        "model": step.model,
        "requestedModel": step.requested_model,
        "provider": step.provider,
        "usage": step.usage,
        "usageScope": None if step.usage is None and step.cost is None else "call",
        "costSource": None if step.cost is None else step.cost_source,
        "tool": _write_tool(step) if step.kind == "action" else None,
        "agent": step.agent,
        "effect": step.effect,
        "source": step.attributes.get("playhead.step.source"),
        "streaming": _known(streaming) or None,
        "responseId": step.response_id,
        "finishReasons": step.finish_reasons,
        "attempt": step.attempt,
        "dialect": "playhead",
        "attributes": step.attributes,
        "isTruncated": step.attributes.get("playhead.truncated"),
        "isInferred": step.is_inferred or None,
    }
    return {
        **_known(described),
        **({"output": step.output} if step.has_output else {}),
        "parentId": step.parent_id,
        "endedAt": step.ended_at,
        "durationMs": step.duration_ms,
        "cost": step.cost,
    }


def _write_tool(step: Step) -> dict[str, Any]:
    description = step.attributes.get("gen_ai.tool.description")
    tool = {
        "name": step.name,
        "callId": step.tool_call_id,
        "description": description,
        "arguments": step.input,
    }
    return {**_known(tool), **({"result": step.output} if step.has_output else {})}


def _write_error(error: Optional[StepError]) -> Optional[dict[str, Any]]:
    if error is None:
        return None
    return {
        **_known({"type": error.type, "message": error.message, "stack": error.stack}),
        **({"cause": _write_error(error.cause)} if error.cause is not None else {}),
        **({"isPropagated": True} if error.is_propagated else {}),
        **({"isHandled": True} if error.is_handled else {}),
    }


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """Unknown fields are absent, never null."""
    return {name: value for name, value in fields.items() if value is not None}


def _test_field(field: str) -> str:
    return "runId" if field == "run_id" else field
