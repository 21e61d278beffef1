"""Records an event as a step of the current session."""

from __future__ import annotations

from typing import Any

from .capture.content_writer import ContentWriter
from .capture.json_value import JsonObject
from .capture.openai_chat import read_chat_message
from .capture.openai_parts import text_parts
from .clock import now_ns
from .describe_error import message_of
from .events import ActionEvent, ErrorEvent, LLMEvent, PlayheadEvent, ToolEvent, to_ns
from .host_value import UNNAMED, is_a, to_fields, to_name, to_number, to_text
from .reading.parse import parse_json
from .runtime import Runtime, require_runtime
from .serialize import SerializeOptions, serialize_value, write_json
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
# Of longer conversations, the first message and the last ones are kept.
_MAX_MESSAGES = 3000


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
    attributes: dict[str, Any] = {"playhead.step.kind": "action", "playhead.step.reported": True}
    _finish_action(runtime, event, to_name(event.action_type) or UNNAMED, attributes, "playhead.action")


def _record_tool(runtime: Runtime, event: ToolEvent) -> None:
    attributes: dict[str, Any] = {
        "playhead.step.kind": "action",
        "playhead.step.reported": True,
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
    settings = runtime.settings
    writer = ContentWriter(settings.is_content_kept, runtime.redactor, settings.max_value_bytes)
    # What is cut off here would be cut off after redaction too.
    room = 2 * settings.max_value_bytes
    completion = event.completion if event.completion is not None else event.returns
    asked, is_asked_cut = _to_messages(event.prompt, "user", room)
    answered, is_answered_cut = _to_messages(completion, "assistant", room)
    if asked:
        attributes["gen_ai.input.messages"] = writer.messages(asked)
    if answered:
        attributes["gen_ai.output.messages"] = writer.messages(answered)
    if writer.is_cut or is_asked_cut or is_answered_cut:
        attributes["playhead.truncated"] = True
    _finish(runtime, event, f"chat {attributes['gen_ai.request.model']}", attributes)


def _to_messages(given: Any, role: str, room: int) -> tuple[list[JsonObject], bool]:
    """A text, or one or several messages as providers and OpenTelemetry write them; and whether some were
    left out. Reads the first and then from the end, until there is no room left."""
    if type(given) not in (list, tuple) or not given:
        plain = _plain(given, room)
        listed = plain if isinstance(plain, list) else [] if plain is None or given is None else [plain]
        return [_to_message(one, role) for one in listed], False
    first = _plain(given[0], room)
    last: list[Any] = []
    for one in reversed(given[1:]):
        if room <= 0 or len(last) == _MAX_MESSAGES:
            break
        text = serialize_value(one, _as_given(room)).text
        room -= len(text)
        last.append(parse_json(text))
    messages = [_to_message(one, role) for one in (first, *reversed(last))]
    left_out = len(given) - len(messages)
    if left_out > 0:
        messages.insert(1, {"role": "system", "parts": text_parts("text", f"… [{left_out} more left out]")})
    return messages, left_out > 0


def _plain(given: Any, room: int) -> Any:
    return parse_json(serialize_value(given, _as_given(room)).text)


def _as_given(room: int) -> SerializeOptions:
    """Redacted and cut as messages, not as values."""
    return SerializeOptions(room, True, lambda _key: False)


def _to_message(one: Any, role: str) -> JsonObject:
    if not isinstance(one, dict):
        return {"role": role, "parts": text_parts("text", one if isinstance(one, str) else write_json(one))}
    if isinstance(one.get("parts"), list):
        parts = [part for part in one["parts"] if isinstance(part, dict)]
        return {**one, "role": to_text(one.get("role")) or role, "parts": parts}
    return read_chat_message({"role": role, **one})


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
