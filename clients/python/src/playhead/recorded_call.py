"""One recorded call, from start to end."""

from __future__ import annotations

import inspect
import time
from typing import Any, Callable, NamedTuple, Optional

from .runtime import Runtime
from .scope import Scope, current_scope
from .steps import OpenStep, end_step, set_error, set_value, start_step

# How many of a generator's values are kept; with more, the step is marked as truncated.
MAX_YIELDED = 20_000


class CallPlan(NamedTuple):
    """How the calls of a function are recorded."""

    name: str
    attributes: dict[str, Any]
    arguments_key: str
    result_key: str


class ParameterNames(NamedTuple):
    positional: tuple[str, ...]
    rest: Optional[str]
    # `self` and `cls` add nothing to the action's name.
    is_method: bool


def read_parameter_names(fn: Callable[..., Any]) -> Optional[ParameterNames]:
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except Exception:
        return None
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(one.name for one in parameters if one.kind in by_place)
    rest = next((one.name for one in parameters if one.kind is inspect.Parameter.VAR_POSITIONAL), None)
    return ParameterNames(names, rest, bool(names) and names[0] in ("self", "cls"))


def name_arguments(names: Optional[ParameterNames], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Arguments by parameter name, or as a plain list."""
    if names is None:
        return kwargs if not args else list(args) if not kwargs else {"args": list(args), **kwargs}
    named = dict(zip(names.positional, args))
    if names.is_method:
        named.pop(names.positional[0], None)
    extra = args[len(names.positional) :]
    if extra:
        named[names.rest or "args"] = list(extra)
    named.update(kwargs)
    return named


class RecordedCall:
    __slots__ = ("_plan", "_runtime", "_started", "_step", "_yielded", "scope")

    def __init__(self, runtime: Runtime, plan: CallPlan, step: OpenStep) -> None:
        self._runtime = runtime
        self._plan = plan
        self._step = step
        # The body's context; a generator's body may change it between values.
        self.scope: Optional[Scope] = step.scope
        self._started = time.perf_counter()
        self._yielded: Optional[list[tuple[float, Any]]] = None

    @classmethod
    def begin(
        cls, runtime: Runtime, plan: CallPlan, names: Optional[ParameterNames], args: Any, kwargs: Any
    ) -> Optional[RecordedCall]:
        """None if the call can't be recorded; the call itself proceeds."""
        try:
            attributes = dict(plan.attributes)
            text, is_cut = runtime.serialize(name_arguments(names, args, kwargs))
            attributes[plan.arguments_key] = text
            if is_cut:
                attributes["playhead.truncated"] = True
            return cls(runtime, plan, start_step(runtime, plan.name, attributes))
        except Exception as fault:
            runtime.fault(fault)
            return None

    def enter(self) -> Optional[Scope]:
        outer = current_scope.get()
        current_scope.set(self.scope)
        return outer

    def leave(self, outer: Optional[Scope]) -> None:
        self.scope = current_scope.get()
        current_scope.set(outer)

    def returned(self, value: Any) -> None:
        try:
            result = value if self._yielded is None else self._settle_yielded(value)
            set_value(self._runtime, self._step.span.attributes, self._plan.result_key, result)
        except Exception as fault:
            self._runtime.fault(fault)
        with self._runtime.guard():
            end_step(self._runtime, self._step)

    def raised(self, error: BaseException) -> None:
        try:
            if self._yielded is not None:
                attributes = self._step.span.attributes
                set_value(self._runtime, attributes, self._plan.result_key, self._settle_yielded(None))
            set_error(self._runtime, self._step.span, self._step.record, error)
        except Exception as fault:
            self._runtime.fault(fault)
        with self._runtime.guard():
            end_step(self._runtime, self._step)

    def yielded(self, value: Any) -> None:
        if self._yielded is None:
            self._yielded = []
        if len(self._yielded) < MAX_YIELDED:
            self._yielded.append(((time.perf_counter() - self._started) * 1000, value))
        else:
            self._step.span.attributes["playhead.truncated"] = True

    def _settle_yielded(self, returned: Any) -> Any:
        """Joins text chunks into one text and keeps their times; anything else becomes a list."""
        pieces = self._yielded or []
        values = [value for _, value in pieces]
        if returned is not None:
            return {"yielded": values, "returned": returned}
        if not all(isinstance(value, str) for value in values):
            return values
        if self._runtime.settings.is_content_kept:
            chunks = [[round(at_ms, 1), value] for at_ms, value in pieces]
            self._step.span.attributes["playhead.stream.chunks"] = self._runtime.serialize(chunks).text
        return "".join(values)
