"""Decorators that record every call of a function."""

from __future__ import annotations

from typing import Any, Callable, Optional, TypeVar, Union, overload

from .host_value import UNNAMED, is_a, to_name, to_text
from .recorded_call import CallPlan
from .wrap_function import wrap_function

Fn = TypeVar("Fn", bound=Callable[..., Any])


@overload
def record_action(name: Fn) -> Fn: ...
@overload
def record_action(
    name: Optional[str] = None,
    *,
    effect: Optional[str] = None,
    agent: Optional[str] = None,
    replay: Optional[str] = None,
    revive: Optional[Callable[[Any], Any]] = None,
) -> Callable[[Fn], Fn]: ...
def record_action(
    name: Union[str, Fn, None] = None,
    *,
    effect: Optional[str] = None,
    agent: Optional[str] = None,
    replay: Optional[str] = None,
    revive: Optional[Callable[[Any], Any]] = None,
) -> Any:
    """Record every call of a function as an action: its arguments by name, and what it returned or raised.

    The result is the same function in every other respect: sync or async, generators, methods, its errors.
    Outside of any session a call is a session of its own. `effect` says whether it changes the world
    ("write") or looks ("read"). In a test from a cassette the recorded result is returned instead:
    `replay="run"` runs the function all the same, `replay="serve"` never runs it, also if it calls models.
    `revive` makes the result from its JSON, where that is not enough by itself.

        @record_action("fetch_customer_data")
        def fetch_customer(customer_id: str) -> dict: ...
    """
    return _decorate(name, lambda own: _action_plan(own, effect, agent, replay, revive))


@overload
def record_tool(name: Fn) -> Fn: ...
@overload
def record_tool(
    name: Optional[str] = None,
    *,
    effect: Optional[str] = None,
    agent: Optional[str] = None,
    description: Optional[str] = None,
    replay: Optional[str] = None,
    revive: Optional[Callable[[Any], Any]] = None,
) -> Callable[[Fn], Fn]: ...
def record_tool(
    name: Union[str, Fn, None] = None,
    *,
    effect: Optional[str] = None,
    agent: Optional[str] = None,
    description: Optional[str] = None,
    replay: Optional[str] = None,
    revive: Optional[Callable[[Any], Any]] = None,
) -> Any:
    """Like `record_action`, for tools that a model calls; uses OpenTelemetry's tool attributes."""

    def plan(own: str) -> CallPlan:
        action = _action_plan(own, effect, agent, replay, revive)
        attributes = {
            **action.attributes,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": own,
        }
        if description is not None:
            attributes["gen_ai.tool.description"] = to_text(description)
        return action._replace(
            attributes=attributes,
            arguments_key="gen_ai.tool.call.arguments",
            result_key="gen_ai.tool.call.result",
        )

    return _decorate(name, plan)


@overload
def agent(name: Fn) -> Fn: ...
@overload
def agent(name: Optional[str] = None) -> Callable[[Fn], Fn]: ...
def agent(name: Union[str, Fn, None] = None) -> Any:
    """Record a function as an agent: everything it does, including other agents, becomes steps inside it."""

    def plan(own: str) -> CallPlan:
        attributes = {
            "playhead.step.kind": "agent",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": own,
        }
        return CallPlan(own, attributes, "input.value", "output.value")

    return _decorate(name, plan)


def _action_plan(
    name: str,
    effect: Optional[str],
    agent_name: Optional[str],
    replay: Optional[str],
    revive: Optional[Callable[[Any], Any]],
) -> CallPlan:
    attributes: dict[str, Any] = {"playhead.step.kind": "action"}
    if to_text(effect) in ("read", "write"):
        attributes["playhead.step.effect"] = to_text(effect)
    if agent_name is not None:
        attributes["gen_ai.agent.name"] = to_name(agent_name) or UNNAMED
    plan = CallPlan(name, attributes, "playhead.action.arguments", "playhead.action.result")
    word = to_text(replay)
    return plan._replace(
        replay=word if word in ("run", "serve") else None, revive=revive if callable(revive) else None
    )


def _decorate(name: Any, plan_of: Callable[[str], CallPlan]) -> Any:
    """Returns a decorator; used on a function without arguments, takes the function's own name."""
    if callable(name) or is_a(name, (staticmethod, classmethod)):
        return wrap_function(name, plan_of(_name_of(name)))
    return lambda fn: wrap_function(fn, plan_of(to_name(name) or _name_of(fn)))


def _name_of(fn: Any) -> str:
    try:
        function = fn.__func__ if is_a(fn, staticmethod) or is_a(fn, classmethod) else fn
        return to_name(getattr(function, "__name__", None)) or UNNAMED
    except Exception:
        return UNNAMED
