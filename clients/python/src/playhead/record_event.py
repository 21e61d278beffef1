"""Records an event as a step of the current session."""

from __future__ import annotations

from typing import Any, Optional

from .clock import now_ns
from .describe_error import message_of
from .events import ActionEvent, ErrorEvent, LLMEvent, PlayheadEvent, ToolEvent, to_ns
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
        if isinstance(event, ActionEvent):
            _record_action(runtime, event)
        elif isinstance(event, ToolEvent):
            _record_tool(runtime, event)
        elif isinstance(event, LLMEvent):
            _record_call(runtime, event)
        elif isinstance(event, ErrorEvent):
            _record_error(runtime, event)
        else:
            runtime.reporter.once(
                "record", "record() takes an ActionEvent, a ToolEvent, an LLMEvent or an ErrorEvent."
            )


def _record_action(runtime: Runtime, event: ActionEvent) -> None:
    attributes: dict[str, Any] = {"playhead.step.kind": "action"}
    _finish_action(runtime, event, str(event.action_type or "unnamed"), attributes, "playhead.action")


def _record_tool(runtime: Runtime, event: ToolEvent) -> None:
    attributes: dict[str, Any] = {
        "playhead.step.kind": "action",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.name,
    }
    if event.call_id is not None:
        attributes["gen_ai.tool.call.id"] = event.call_id
    _finish_action(runtime, event, event.name or "unnamed", attributes, "gen_ai.tool.call")


def _finish_action(runtime: Runtime, event: Any, name: str, attributes: dict[str, Any], prefix: str) -> None:
    if event.effect is not None:
        attributes["playhead.step.effect"] = event.effect
    if event.params is not None:
        set_value(runtime, attributes, f"{prefix}.arguments", event.params)
    if event.returns is not None:
        set_value(runtime, attributes, f"{prefix}.result", event.returns)
    _finish(runtime, event, name, attributes)


def _record_call(runtime: Runtime, event: LLMEvent) -> None:
    attributes: dict[str, Any] = {
        "playhead.step.kind": "llm",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": event.model,
    }
    if event.provider is not None:
        attributes["gen_ai.provider.name"] = event.provider
    usage = {"input": event.prompt_tokens, "output": event.completion_tokens, **(event.usage or {})}
    for field, count in usage.items():
        key = _USAGE_KEYS.get(field.replace("_", "").lower())
        if key is not None and count is not None:
            attributes[key] = count
    if event.cost is not None:
        attributes["gen_ai.usage.cost"] = event.cost
    asked = _to_messages(event.prompt, "user")
    answered = _to_messages(event.completion if event.completion is not None else event.returns, "assistant")
    if asked is not None:
        set_value(runtime, attributes, "gen_ai.input.messages", asked)
    if answered is not None:
        set_value(runtime, attributes, "gen_ai.output.messages", answered)
    _finish(runtime, event, f"chat {event.model}", attributes)


def _to_messages(given: Any, role: str) -> Optional[list[Any]]:
    if given is None:
        return None
    if isinstance(given, (list, tuple)):
        return list(given)
    return [{"role": role, "content": given} if isinstance(given, str) else given]


def _record_error(runtime: Runtime, event: ErrorEvent) -> None:
    """If a step already recorded this error, record the event without the error."""
    error = event.exception
    kind = event.error_type or ("Error" if error is None else type(error).__name__)
    step = _begin(runtime, event, kind, {"playhead.step.kind": "event"})
    message = event.message or event.details or ("" if error is None else message_of(error))
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
    return start_step(
        runtime, name, attributes, start_ns=event.created_ns if started_ns is None else started_ns
    )


def _end_of(event: Any) -> int:
    ended_ns = to_ns(event.ended_at)
    return now_ns() if ended_ns is None else ended_ns
