"""The differences between a step of one session and its partner in the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from ...tape.text_shape import is_measure, is_number, shape_of_value, text_of_number
from ..calls import MISSING
from .comparable import (
    ModelReply,
    StepJson,
    has_failed,
    input_messages_of,
    input_of,
    model_reply,
    parse_result,
    result_of,
    texts_of,
)
from .comparison import Comparison, is_same_in_other_words

_MAX_DIFFERENCES = 8
_MAX_DEPTH = 40
_MIRRORED = {
    "missing-step": "extra-step",
    "extra-step": "missing-step",
    "missing-effect": "added-effect",
    "added-effect": "missing-effect",
}
_NAME = re.compile(r"^\w+=", re.ASCII)
# Differences that are no divergence: another input, other wording, a repeat, another level.
_MINOR = frozenset(["input", "wording", "repeat", "nesting"])


class Difference(NamedTuple):
    # As in TypeScript: decision, prompt, argument, result, missing-step, extra-step, missing-effect,
    # added-effect, other-step, input, wording, repeat or nesting.
    kind: str
    # The place in the argument, result or prompt; empty for the whole.
    path: str = ""
    a: Any = MISSING
    b: Any = MISSING

    @property
    def is_minor(self) -> bool:
        return self.kind in _MINOR

    @property
    def mirrored(self) -> Difference:
        """Seen from the other side."""
        return Difference(_MIRRORED.get(self.kind, self.kind), self.path, self.b, self.a)


@dataclass
class Context:
    comparison: Comparison
    # False when only previews are known.
    has_payloads: bool
    # True before any step has a result: a difference then comes from outside.
    is_beginning: bool = True


def compare_inputs(a: StepJson, b: StepJson, context: Context) -> list[Difference]:
    if context.has_payloads and a.get("messages") is not None and b.get("messages") is not None:
        return _compare_prompts(a, b, context)
    left, right = input_of(a, context.has_payloads), input_of(b, context.has_payloads)
    # A session that declares its input did nothing else than one that does not.
    if (left is MISSING and _declares_input(b)) or (right is MISSING and _declares_input(a)):
        return []
    kind = "prompt" if a.get("kind") == "llm" else "argument"
    places = compare_values(left, right, context.comparison, _MAX_DIFFERENCES)
    return [_to_difference(place, kind, context.comparison, context.is_beginning) for place in places]


def _declares_input(step: StepJson) -> bool:
    return "playhead.session.input" in (step.get("attributes") or {})


def compare_results(a: StepJson, b: StepJson, context: Context) -> list[Difference]:
    has_messages = a.get("messages") is not None and b.get("messages") is not None
    if has_messages and context.has_payloads and not has_failed(a) and not has_failed(b):
        return _compare_replies(model_reply(a), model_reply(b), context.comparison)
    left, right = result_of(a, context.has_payloads), result_of(b, context.has_payloads)
    if has_failed(a) != has_failed(b):
        return [Difference("result", "error", left, right)]
    kind = "decision" if a.get("kind") == "llm" else "result"
    places = compare_values(left, right, context.comparison, _MAX_DIFFERENCES)
    return [_to_difference(place, kind, context.comparison, False) for place in places]


class Place(NamedTuple):
    """A place where two values differ. A side without a value is MISSING."""

    path: str
    a: Any
    b: Any


def _to_difference(place: Place, kind: str, comparison: Comparison, is_beginning: bool) -> Difference:
    path, a, b = place
    if isinstance(a, str) and isinstance(b, str):
        is_wording = is_same_in_other_words(a, b)
        # Previews write arguments as `name=value`.
        comparison.remember(_NAME.sub("", a), _NAME.sub("", b))
        return Difference("input" if is_beginning else "wording" if is_wording else kind, path, a, b)
    is_given_both = is_beginning and not any(one is MISSING or one is None for one in (a, b))
    return Difference("input" if is_given_both else kind, path, a, b)


def compare_values(a: Any, b: Any, comparison: Comparison, most: int = 1) -> list[Place]:
    """The first differences between two values. Ignores the order of keys and measured times."""
    found: list[Place] = []
    _collect(Place("", a, b), 0, comparison, found, most)
    return found


def _collect(place: Place, depth: int, comparison: Comparison, found: list[Place], most: int) -> None:
    if len(found) >= most:
        return
    a, b = parse_result(place.a), parse_result(place.b)
    path = place.path
    if _is_equal(a, b):
        return
    if isinstance(a, list) and isinstance(b, list) and depth < _MAX_DEPTH:
        for index in range(max(len(a), len(b))):
            one = a[index] if index < len(a) else MISSING
            other = b[index] if index < len(b) else MISSING
            _collect(Place(f"{path}[{index}]", one, other), depth + 1, comparison, found, most)
        return
    if isinstance(a, dict) and isinstance(b, dict) and depth < _MAX_DEPTH:
        for key in dict.fromkeys([*a, *b]):
            one, other = a.get(key, MISSING), b.get(key, MISSING)
            if is_measure(key) and is_number(one) and is_number(other):
                continue
            inner = f"{path}.{key}" if path else key
            _collect(Place(inner, one, other), depth + 1, comparison, found, most)
        return
    left, right = _text_of(a), _text_of(b)
    if left is None or right is None or not comparison.is_same_text(left, right):
        found.append(Place(path, a, b))


def _is_equal(a: Any, b: Any) -> bool:
    if isinstance(a, (dict, list)) or isinstance(a, bool) != isinstance(b, bool):
        return False
    return bool(a is b or a == b)


def _text_of(value: Any) -> Optional[str]:
    """Numbers may be timestamps."""
    if isinstance(value, str):
        return value
    return text_of_number(value) if is_number(value) else None


def _compare_prompts(a: StepJson, b: StepJson, context: Context) -> list[Difference]:
    """Earlier replies are part of every prompt, but were already compared where they were made."""
    comparison = context.comparison
    settings = compare_values(_settings_of(a), _settings_of(b), comparison, 4)
    return [
        *(Difference("prompt", *place) for place in settings),
        *_compare_system(a, b, comparison),
        *_compare_user_messages(a, b, context),
        *_compare_tool_results(a, b, comparison),
    ]


def _settings_of(step: StepJson) -> dict[str, Any]:
    tools = step.get("toolDefinitions")
    settings = {
        "model": step.get("requestedModel", step.get("model")),
        "parameters": step.get("parameters"),
        "tools": None if tools is None else sorted(str(tool.get("name")) for tool in tools),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _compare_system(a: StepJson, b: StepJson, comparison: Comparison) -> list[Difference]:
    roles = ("system", "developer")
    left, right = "\n\n".join(texts_of(a, roles)), "\n\n".join(texts_of(b, roles))
    if comparison.is_same_text(left, right) or not compare_values(left, right, comparison):
        return []
    comparison.remember(left, right)
    return [Difference("prompt", "system", left, right)]


def _compare_user_messages(a: StepJson, b: StepJson, context: Context) -> list[Difference]:
    left, right = texts_of(a, ("user",)), texts_of(b, ("user",))
    comparison = context.comparison
    found: list[Difference] = []
    for one, other in zip(left, right):
        if comparison.is_same_text(one, other):
            continue
        is_wording = is_same_in_other_words(one, other)
        comparison.remember(one, other)
        kind = "input" if context.is_beginning else "wording" if is_wording else "prompt"
        found.append(Difference(kind, "user message", one, other))
    found += [Difference("prompt", "user message", a=one) for one in left[len(right) :]]
    found += [Difference("prompt", "user message", b=other) for other in right[len(left) :]]
    return found


def _compare_tool_results(a: StepJson, b: StepJson, comparison: Comparison) -> list[Difference]:
    """They are all that is known of tools that were not recorded."""
    found: list[Difference] = []
    for (name, one), (_name, other) in zip(_tool_results(a), _tool_results(b)):
        path = "tool result" if name is None else f"tool result of {name}"
        found += [
            Difference("result", path, place.a, place.b) for place in compare_values(one, other, comparison)
        ]
    return found


def _tool_results(step: StepJson) -> list[tuple[Optional[str], Any]]:
    """In the order of their calls: parallel calls end in any order."""
    parts: list[Mapping[str, Any]] = [
        part for message in input_messages_of(step) for part in message["parts"]
    ]
    positions = {
        part["id"]: index
        for index, part in enumerate(parts)
        if part.get("type") == "tool-call" and part.get("id") is not None
    }
    results: list[tuple[int, str, Optional[str], Any]] = []
    for index, part in enumerate(parts):
        if part.get("type") != "tool-result":
            continue
        result = parse_result(part.get("result", MISSING))
        position = index if part.get("id") is None else positions.get(part["id"])
        # The call may be part of an earlier response, which this request continues by its id.
        key = shape_of_value(result) if position is None else ""
        results.append((len(parts) if position is None else position, key, part.get("name"), result))
    return [(name, result) for _at, _key, name, result in sorted(results, key=lambda one: one[:2])]


def _compare_replies(a: ModelReply, b: ModelReply, comparison: Comparison) -> list[Difference]:
    """The tools called, their arguments, and the text."""
    calls = _compare_calls(a, b, comparison)
    if calls:
        return calls
    if comparison.is_same_text(a.text, b.text):
        return []
    places = compare_values(a.text, b.text, comparison, 4)
    is_wording = len(a.calls) > 0 or is_same_in_other_words(a.text, b.text) or not places
    comparison.remember(a.text, b.text)
    if is_wording:
        return [Difference("wording", "", a.text, b.text)]
    return [Difference("decision", *place) for place in places]


def _compare_calls(a: ModelReply, b: ModelReply, comparison: Comparison) -> list[Difference]:
    """Tool calls of one reply have no order."""
    left, right = _in_order(a), _in_order(b)
    if [call["name"] for call in left] != [call["name"] for call in right]:
        return [Difference("decision", "tool calls", a.calls, b.calls)]
    found: list[Difference] = []
    for one, other in zip(left, right):
        for path, was, now in compare_values(one["arguments"], other["arguments"], comparison, 4):
            place = f"{one['name']}.{path}" if path else str(one["name"])
            found.append(Difference("decision", place, was, now))
    return found


def _in_order(reply: ModelReply) -> list[dict[str, Any]]:
    return sorted(reply.calls, key=lambda call: f"{call['name']} {shape_of_value(call['arguments'])}")
