"""The calls that a test expects: names, calls with arguments, groups in any order, and sub-agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from ..format.lines import describe_value
from .calls import MISSING, Call
from .match_arguments import ArgumentOptions, Mismatch, describe, find_mismatch, require_arguments
from .required_argument import fail, require_list, require_one_of, require_text

MODES = ("exact", "contains_in_order", "same_tools", "only_these_tools", "effects_only")
_MAX_DEPTH = 50
_TOOL_OPTIONS = ("tool", "args", "mode", "ignore", "defaults")
_AGENT_OPTIONS = ("agent", "args", "steps", "mode")


@dataclass(frozen=True, eq=False)
class AnyOrder:
    """A group of calls that may come in any order."""

    calls: Sequence[ExpectedCall]


# "name", {"tool": "name", "args": ...}, {"agent": "name", "steps": [...]} or any_order([...]).
ExpectedCall = Union[str, Mapping[str, Any], AnyOrder]
# One call, not a group.
SingleCall = Union[str, Mapping[str, Any]]


def any_order(calls: Sequence[ExpectedCall]) -> AnyOrder:
    """Groups calls that may come in any order."""
    require_calls(calls)
    return AnyOrder(calls)


def require_calls(calls: Any, depth: int = 0) -> None:
    """Raises a sentence if this is not a list of calls."""
    if depth > _MAX_DEPTH:
        raise TypeError(f"The expected calls are nested more than {_MAX_DEPTH} deep.")
    for call in require_list(calls, "The expected calls"):
        if isinstance(call, str):
            continue
        if isinstance(call, AnyOrder):
            require_calls(call.calls, depth + 1)
        elif not isinstance(call, Mapping):
            kinds = '{"tool": …, "args": …}, {"agent": …, "steps": […]} or any_order([…])'
            fail("An expected call", f"must be a name, {kinds}", call)
        elif "agent" in call:
            _require_agent_call(call, depth)
        else:
            require_text(call.get("tool"), "The tool of an expected call")
            _require_known(call, _TOOL_OPTIONS)
            require_arguments(call.get("args"), _options_of(call))


def _require_agent_call(call: Mapping[str, Any], depth: int) -> None:
    require_text(call["agent"], "The agent of an expected call")
    _require_known(call, _AGENT_OPTIONS)
    require_arguments(call.get("args"), ArgumentOptions())
    if call.get("steps") is not None:
        require_calls(call["steps"], depth + 1)
    if call.get("mode") is not None:
        require_one_of(call["mode"], f"The mode of {call['agent']}", MODES)


def _require_known(call: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [str(key) for key in call if key not in known]
    if unknown:
        raise TypeError(
            f"An expected call has {', '.join(known)}, but this one has {', '.join(unknown)} as well."
        )


def _options_of(call: Mapping[str, Any]) -> ArgumentOptions:
    return ArgumentOptions(
        call.get("mode") or "partial", call.get("ignore") or (), call.get("defaults") or {}
    )


def is_agent_call(call: ExpectedCall) -> bool:
    return isinstance(call, Mapping) and "agent" in call


def flatten_calls(calls: Sequence[ExpectedCall]) -> list[SingleCall]:
    """Replaces groups by the calls in them."""
    flat: list[SingleCall] = []
    for call in calls:
        if isinstance(call, AnyOrder):
            flat += flatten_calls(call.calls)
        else:
            flat.append(call)
    return flat


def agents_in(calls: Sequence[ExpectedCall]) -> set[str]:
    """The names of the sub-agents in a list of calls."""
    names: set[str] = set()
    for call in flatten_calls(calls):
        if isinstance(call, Mapping) and "agent" in call:
            names |= {call["agent"], *agents_in(call.get("steps") or ())}
    return names


def name_of(call: SingleCall) -> str:
    return call if isinstance(call, str) else str(call["agent"] if "agent" in call else call["tool"])


def describe_expected(call: SingleCall) -> str:
    """The name and, if specified, the arguments."""
    if isinstance(call, str) or call.get("args") is None:
        return name_of(call)
    args = call["args"]
    return f"{name_of(call)} {'(…)' if callable(args) else describe(args, 60)}"


def describe_call(call: Call, width: int = 60) -> str:
    args = "" if call.args is MISSING else f" {describe_value(call.args, width)}"
    return f"#{call.number} {call.name}{args}"


def mismatch_of(call: Call, expected: SingleCall) -> Optional[Mismatch]:
    """None when the arguments match or none are specified."""
    if isinstance(expected, str) or expected.get("args") is None:
        return None
    options = _options_of(expected) if "tool" in expected else ArgumentOptions()
    return find_mismatch(call.args, expected["args"], options)


def is_named(call: Call, expected: SingleCall) -> bool:
    """True when the call has the expected name and kind, whatever its arguments."""
    if call.name != name_of(expected):
        return False
    return isinstance(expected, str) or ("agent" in expected) == (call.inside is not None)
