"""The calls of a session: its actions, and its sub-agents with the calls inside them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Optional

from ..reading.parse import parse_json
from .subject import SessionJson


class _Missing:
    def __repr__(self) -> str:
        return "nothing"

    def __str__(self) -> str:
        # In the shapes of values, as TypeScript writes it.
        return "undefined"


# A value that is not there. None is one that is.
MISSING: Any = _Missing()


@dataclass(eq=False)
class Call:
    name: str
    args: Any
    step: Mapping[str, Any]
    # The step's number in `playhead show`, from 1.
    number: int
    effect: Optional[str] = None
    # The calls made by a sub-agent; None for an action.
    inside: Optional[list[Call]] = None

    @property
    def step_id(self) -> str:
        return str(self.step["id"])


def calls_of(session: SessionJson, agents: AbstractSet[str] = frozenset()) -> list[Call]:
    """In order of their start. The named sub-agents count as one call each, with their own calls inside."""
    steps = session["steps"]
    by_id = {step["id"]: step for step in steps}
    top: list[Call] = []
    agent_calls: dict[str, Call] = {}
    for index, step in enumerate(steps):
        kind = step.get("kind")
        is_agent = kind == "agent" and _agent_name(step) in agents
        if not is_agent and kind != "action":
            continue
        call = _to_call(step, index, is_agent)
        ancestors = _ancestors_of(step, by_id)
        if any(_is_same_call(ancestor, step) for ancestor in ancestors):
            continue
        owner = next((agent_calls[one["id"]] for one in ancestors if one["id"] in agent_calls), None)
        (top if owner is None or owner.inside is None else owner.inside).append(call)
        if is_agent:
            agent_calls[step["id"]] = call
    return top


def _to_call(step: Mapping[str, Any], index: int, is_agent: bool) -> Call:
    args = arguments_of(step)
    if is_agent:
        return Call(_agent_name(step), args, step, index + 1, None, [])
    return Call(_action_name(step), args, step, index + 1, step.get("effect"))


def arguments_of(step: Mapping[str, Any]) -> Any:
    """Parses JSON text, and joins the args and kwargs that other clients record."""
    tool = step.get("tool") or {}
    given = parse_json(tool["arguments"] if "arguments" in tool else step.get("input", MISSING))
    if not isinstance(given, dict) or not given or not set(given) <= {"args", "kwargs"}:
        return given
    args = given.get("args") if isinstance(given.get("args"), list) else []
    kwargs = given.get("kwargs") if isinstance(given.get("kwargs"), dict) else {}
    if not args:
        return kwargs
    return args if not kwargs else {**{str(index): value for index, value in enumerate(args)}, **kwargs}


def _action_name(step: Mapping[str, Any]) -> str:
    return str((step.get("tool") or {}).get("name", step["name"]))


def _agent_name(step: Mapping[str, Any]) -> str:
    return str(step.get("agent", step["name"]))


def _ancestors_of(step: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Innermost first. Tolerates cycles, which malformed recordings may contain."""
    found: list[Mapping[str, Any]] = []
    seen = {step["id"]}
    parent_id = step.get("parentId")
    while parent_id is not None and parent_id not in seen:
        seen.add(parent_id)
        parent = by_id.get(parent_id)
        if parent is None:
            break
        found.append(parent)
        parent_id = parent.get("parentId")
    return found


def _is_same_call(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> bool:
    """A framework's step for a tool call and our own step for the function behind it are one call."""
    return (
        outer.get("kind") == "action"
        and inner.get("kind") == "action"
        and outer.get("dialect") != inner.get("dialect")
        and _action_name(outer) == _action_name(inner)
    )
