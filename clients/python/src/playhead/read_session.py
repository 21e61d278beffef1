"""A session in the recording format, which `playhead show` and the replay page read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Optional

from . import summary
from .clock import to_iso
from .read_steps import read_steps
from .redaction.redact import Redactor
from .session_attributes import TEST_KEYS
from .session_record import SessionRecord
from .step import Step, StepError

_PREVIEW_LENGTH = 200


def steps_of(record: SessionRecord, redactor: Redactor) -> list[Step]:
    """Cached until something changes."""
    known = record.reading
    if known is not None and known[0] == record.change_count and known[1] is redactor:
        return known[2]
    change_count = record.change_count
    steps = read_steps([*record.ended, *list(record.open.values())], redactor)
    record.reading = (change_count, redactor, steps)
    return steps


def read_session(record: SessionRecord, redactor: Redactor) -> dict[str, Any]:
    steps = steps_of(record, redactor)
    return {"session": _summarize(record, steps), "steps": [_write_step(step) for step in steps]}


def _summarize(record: SessionRecord, steps: Sequence[Step]) -> dict[str, Any]:
    end_state, reason = summary.end_state_of(steps)
    started_ns = min((step.started_ns for step in steps), default=record.started_ns)
    ends = [step.started_ns + int((step.duration_ms or 0) * 1e6) for step in steps]
    ended_ns = None if end_state == "running" else max(ends, default=started_ns)
    models = [step.model for step in steps if step.kind in ("llm", "embedding") and step.model]
    agents = [step.agent or step.name for step in steps if step.agent or step.kind == "agent"]
    metadata = summary.first_fact(steps, "playhead.session.metadata")
    test = {_test_field(field): summary.first_fact(steps, key) for field, key in TEST_KEYS.items()}
    described = {
        "id": record.id,
        "name": summary.name_of(steps),
        "inputPreview": _preview(summary.first_question(steps)),
        "endState": end_state,
        "endStateReason": reason,
        "startedAt": to_iso(started_ns),
        "tags": summary.tags_of(steps),
        "usage": summary.tokens_of(steps),
        "unpricedModels": summary.unpriced_models(steps),
        "stepCount": len(steps),
        "llmCallCount": sum(step.kind == "llm" for step in steps),
        "actionCount": sum(step.kind == "action" for step in steps),
        "errorCount": len(summary.owned_errors(steps)),
        "models": list(dict.fromkeys(models)),
        "agents": list(dict.fromkeys(agents)),
        "tools": list(dict.fromkeys(step.name for step in steps if step.kind == "action")),
        "userId": summary.first_fact(steps, "user.id"),
        "threadId": summary.first_fact(steps, "session.id"),
        "test": _known(test) or None,
        "metadata": json.loads(metadata) if isinstance(metadata, str) else None,
        "demo": False,
    }
    return {
        **_known(described),
        "endedAt": None if ended_ns is None else to_iso(ended_ns),
        "durationMs": None if ended_ns is None else round((ended_ns - started_ns) / 1e6, 3),
        "cost": summary.cost_of_steps(steps),
    }


def _write_step(step: Step) -> dict[str, Any]:
    is_action = step.kind == "action"
    streaming = _known({"firstTokenMs": step.first_token_ms, "chunks": step.chunks})
    tool: dict[str, Any] = {}
    if is_action:
        tool = {
            "name": step.name,
            "callId": step.attributes.get("gen_ai.tool.call.id"),
            "arguments": step.input,
        }
    described = {
        "id": step.id,
        "kind": step.kind,
        "name": step.name,
        "startedAt": step.started_at,
        "offsetMs": step.offset_ms,
        "status": step.status,
        "error": _write_error(step.error),
        "inputPreview": _preview(_asked(step)),
        "outputPreview": _preview(_answered(step)),
        "hasPayload": True,
        "input": None if is_action else step.input,
        "output": None if is_action else step.output,
        "messages": None if step.messages is None else [_write_message(one) for one in step.messages],
        "model": step.model,
        "requestedModel": step.requested_model,
        "provider": step.provider,
        "usage": step.usage,
        "usageScope": None if step.usage is None else "call",
        "costSource": step.cost_source,
        "tool": ({**_known(tool), **({"result": step.output} if step.has_output else {})}) or None,
        "agent": step.agent,
        "effect": step.effect,
        "streaming": streaming or None,
        "responseId": step.response_id,
        "finishReasons": step.finish_reasons,
        "attempt": step.attempt,
        "dialect": "playhead",
        "attributes": step.attributes,
        "isTruncated": step.attributes.get("playhead.truncated"),
    }
    return {
        **_known(described),
        "parentId": step.parent_id,
        "endedAt": step.ended_at,
        "durationMs": step.duration_ms,
        "cost": step.cost,
    }


def _asked(step: Step) -> Any:
    return step.input if step.messages is None else summary.first_question([step])


def _answered(step: Step) -> Any:
    if step.messages is None:
        return step.output
    answers = [message for message in step.messages if "is_output" in message]
    texts = [
        str(part.get("content"))
        for message in answers
        for part in message.get("parts") or ()
        if part.get("type") == "text"
    ]
    return " ".join(texts) or None


def _preview(value: Any) -> Optional[str]:
    if value is None:
        return None
    if isinstance(value, dict):
        text = ", ".join(f"{key}={_argument(item)}" for key, item in value.items())
    else:
        text = _argument(value)
    line = " ".join(text[:4000].split())
    return None if line == "" else line if len(line) <= _PREVIEW_LENGTH else line[: _PREVIEW_LENGTH - 1] + "…"


def _argument(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_error(error: Optional[StepError]) -> Optional[dict[str, Any]]:
    if error is None:
        return None
    written = {"type": error.type, "message": error.message, "stack": error.stack}
    return {
        **_known(written),
        **({"cause": _write_error(error.cause)} if error.cause is not None else {}),
        **({"isPropagated": True} if error.is_propagated else {}),
    }


def _write_message(message: dict[str, Any]) -> dict[str, Any]:
    written = {
        "role": message.get("role") or "user",
        "name": message.get("name"),
        "parts": [_write_part(part) for part in _parts_of(message)],
        "finishReason": message.get("finish_reason"),
        "isOutput": message.get("is_output"),
    }
    return _known(written)


def _parts_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """`LLMEvent` accepts messages in the providers' formats."""
    parts = message.get("parts")
    if isinstance(parts, list):
        return [part for part in parts if isinstance(part, dict)]
    content = message.get("content")
    return [{"type": "text", "content": content if isinstance(content, str) else json.dumps(content)}]


def _write_part(part: dict[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind in ("text", "refusal"):
        return {"type": "text", "text": str(part.get("content") or "")}
    if kind == "reasoning":
        return {"type": "reasoning", "text": str(part.get("content") or "")}
    if kind == "redacted_thinking":
        return {"type": "reasoning", "isRedacted": True}
    if kind in ("tool_call", "server_tool_call"):
        call = {"id": part.get("id"), "name": part.get("name") or "", "arguments": part.get("arguments")}
        return {"type": "tool-call", **_known(call)}
    if kind in ("tool_call_response", "server_tool_call_response"):
        answer = {"id": part.get("id"), "result": part.get("response"), "isError": part.get("is_error")}
        return {"type": "tool-result", **_known(answer)}
    if kind in ("blob", "uri", "file"):
        media = {
            "modality": part.get("modality") or "file",
            "mimeType": part.get("mime_type"),
            "uri": part.get("uri"),
            "base64": part.get("content"),
            "fileId": part.get("file_id"),
        }
        return {"type": "media", **_known(media)}
    return {"type": "other", "raw": part.get("value", part)}


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """Unknown fields are absent, never null."""
    return {name: value for name, value in fields.items() if value is not None}


def _test_field(field: str) -> str:
    return "runId" if field == "run_id" else field
