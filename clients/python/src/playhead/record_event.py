"""Records an event as a step of the current session."""

from __future__ import annotations

from typing import Any, Optional

from .clock import now_ns
from .describe_error import message_of
from .events import ActionEvent, ErrorEvent, LLMEvent, PlayheadEvent, ToolEvent, to_ns
from .host_value import UNNAMED, is_a, items_of, to_fields, to_name, to_number, to_text
from .runtime import Runtime, require_runtime
from .span import STATUS_ERROR
from .steps import OpenStep, end_step, set_error, set_value, start_step

# Our token names, in snake case and as in recordings, mapped to OpenTelemetry's.
_USAGE_KEYS = {
    "input": "gen_ai.usage.input_tokens",
    "output": "gen_ai.usage.output_tokens",
    "total": "gen_ai.usage.total_tokens",
    "cacheread": "gen_ai.usage.cache_read.input_tokens",
    "cachewrite": "gen_ai.usage.cache_write.input_tokens",
    "reasoning": "gen_ai.usage.reasoning.output_tokens",
    "audioinput": "gen_ai.usage.audio.input_tokens",
    "audiooutput": "gen_ai.usage.audio.output_tokens",
    "imageinput": "gen_ai.usage.image.input_tokens",
}


def record(event: PlayheadEvent) -> None:
    """`record(ActionEvent(action_type="session_complete", params={"intent": intent}, returns={…}))`."""
    runtime = require_runtime("record")
    if runtime is None:
        return
    with runtime.guard():
        if is_a(event, ActionEvent):
            _record_action(runtime, event)
        elif is_a(event, ToolEvent):
            _record_tool(runtime, event)
        elif is_a(event, LLMEvent):
            _record_call(runtime, event)
        elif is_a(event, ErrorEvent):
            _record_error(runtime, event)
        else:
            runtime.reporter.once(
                "record", "record() takes an ActionEvent, a ToolEvent, an LLMEvent or an ErrorEvent."
            )


def _record_action(runtime: Runtime, event: ActionEvent) -> None:
    attributes: dict[str, Any] = {"playhead.step.kind": "action"}
    _finish_action(runtime, event, to_name(event.action_type) or UNNAMED, attributes, "playhead.action")


def _record_tool(runtime: Runtime, event: ToolEvent) -> None:
    attributes: dict[str, Any] = {
        "playhead.step.kind": "action",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": to_name(event.name) or UNNAMED,
    }
    if event.call_id is not None:
        attributes["gen_ai.tool.call.id"] = to_name(event.call_id)
    _finish_action(runtime, event, to_name(event.name) or UNNAMED, attributes, "gen_ai.tool.call")


def _finish_action(runtime: Runtime, event: Any, name: str, attributes: dict[str, Any], prefix: str) -> None:
    if to_text(event.effect) in ("read", "write"):
        attributes["playhead.step.effect"] = to_text(event.effect)
    if event.params is not None:
        set_value(runtime, attributes, f"{prefix}.arguments", event.params)
    if event.returns is not None:
        set_value(runtime, attributes, f"{prefix}.result", event.returns)
    _finish(runtime, event, name, attributes)


def _record_call(runtime: Runtime, event: LLMEvent) -> None:
    attributes: dict[str, Any] = {
        "playhead.step.kind": "llm",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": to_name(event.model) or "",
    }
    if event.provider is not None:
        attributes["gen_ai.provider.name"] = to_name(event.provider)
    usage = {"input": event.prompt_tokens, "output": event.completion_tokens, **to_fields(event.usage)}
    for field, count in usage.items():
        key = _USAGE_KEYS.get(field.replace("_", "").lower())
        if key is not None and to_number(count) is not None:
            attributes[key] = count
    if to_number(event.cost) is not None:
        attributes["gen_ai.usage.cost"] = event.cost
    asked = _to_messages(event.prompt, "user")
    answered = _to_messages(event.completion if event.completion is not None else event.returns, "assistant")
    if asked is not None:
        set_value(runtime, attributes, "gen_ai.input.messages", asked)
    if answered is not None:
        set_value(runtime, attributes, "gen_ai.output.messages", answered)
    _finish(runtime, event, f"chat {attributes['gen_ai.request.model']}", attributes)


def _to_messages(given: Any, role: str) -> Optional[list[Any]]:
    if given is None:
        return None
    if is_a(given, (list, tuple)):
        return items_of(given)
    return [{"role": role, "content": given} if is_a(given, str) else given]


def _record_error(runtime: Runtime, event: ErrorEvent) -> None:
    """If a step already recorded this error, record the event without the error."""
    error = event.exception
    kind = to_name(event.error_type) or ("Error" if error is None else type(error).__name__)
    step = _begin(runtime, event, kind, {"playhead.step.kind": "event"})
    given = to_text(event.message) or to_text(event.details)
    message = given or ("" if error is None else message_of(error))
    if step.record.has_error(error):
        step.span.attributes["output.value"] = runtime.serialize(message).text
    elif error is not None:
        set_error(runtime, step.span, step.record, error)
    else:
        step.span.attributes["error.type"] = kind
        step.span.status_code = STATUS_ERROR
        step.span.status_message = message if runtime.settings.is_content_kept else ""
    end_step(runtime, step, _end_of(event))


def _finish(runtime: Runtime, event: Any, name: str, attributes: dict[str, Any]) -> None:
    step = _begin(runtime, event, name, attributes)
    if event.error is not None:
        set_error(runtime, step.span, step.record, event.error)
    end_step(runtime, step, _end_of(event))


def _begin(runtime: Runtime, event: Any, name: str, attributes: dict[str, Any]) -> OpenStep:
    started_ns = to_ns(event.started_at)
    if started_ns is None:
        created_ns = event.created_ns
        # A public field of the event, like the others.
        started_ns = created_ns if type(created_ns) is int and 0 <= created_ns < 2**63 else now_ns()
    return start_step(runtime, name, attributes, start_ns=started_ns)


def _end_of(event: Any) -> int:
    ended_ns = to_ns(event.ended_at)
    return now_ns() if ended_ns is None else ended_ns
