"""One recorded call, from start to end."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional

from .runtime import Runtime
from .scope import Scope, current_scope
from .serialize import write_json
from .steps import OpenStep, end_step, note_interruption, set_error, set_value, start_step
from .tape.active import ActionCall, TapeMissError, active_tape
from .tape.compare import MISSING
from .tape.value_types import find_types

if TYPE_CHECKING:
    from .tape.run_tape import RunTape
    from .tape.served import Served

# How many of a generator's values are kept; with more, the step is marked as truncated.
MAX_YIELDED = 20_000


class CallPlan(NamedTuple):
    """How the calls of a function are recorded."""

    name: str
    attributes: dict[str, Any]
    arguments_key: str
    result_key: str
    # What a cassette does with it: `run` or `serve`.
    replay: Optional[str] = None
    # Makes the result from its JSON.
    revive: Optional[Callable[[Any], Any]] = None

    @property
    def is_action(self) -> bool:
        return self.attributes.get("playhead.step.kind") == "action"


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
    __slots__ = (
        "_arguments",
        "_cut",
        "_plan",
        "_runtime",
        "_shape",
        "_started",
        "_step",
        "_tape",
        "_yielded",
        "scope",
    )

    def __init__(self, runtime: Runtime, plan: CallPlan, step: OpenStep, arguments: str) -> None:
        self._runtime = runtime
        self._plan = plan
        self._step = step
        # JSON.
        self._arguments = arguments
        self._shape = "value"
        self._cut: list[str] = []
        # The cassette that wants the outcome.
        self._tape: Optional[RunTape] = None
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
            call = cls(runtime, plan, start_step(runtime, plan.name, attributes), text)
            if is_cut:
                call.set_cut("arguments")
            return call
        except Exception as fault:
            runtime.fault(fault)
            return None

    def ask_tape(self, fn: Any) -> Optional[Served]:
        """What a cassette has as the result; None if the function runs."""
        tape = active_tape()
        if tape is None:
            return None
        if not self._plan.is_action:
            tape.agent_started()
            return None
        plan, effect = self._plan, self._plan.attributes.get("playhead.step.effect")
        asked = ActionCall(plan.name, self._arguments, fn, effect, plan.replay, plan.revive)
        try:
            served = tape.act(asked, self._step.span.id)
        except TapeMissError as error:
            self.raised(error)
            raise
        except Exception as fault:
            self._runtime.fault(fault)
            return None
        if served is not None:
            self._step.span.attributes["playhead.step.source"] = "tape"
        elif tape.is_recording(self._step.span.id):
            self._step.span.attributes["playhead.step.source"] = "live"
            self._tape = tape
        return served

    def set_shape(self, shape: str) -> None:
        """Whether the result comes at once, later, or in pieces: a later run gets it the same way."""
        self._shape = shape
        if self._plan.is_action:
            self._step.span.attributes["playhead.action.shape"] = shape

    def set_cut(self, what: str) -> None:
        if what not in self._cut:
            self._cut.append(what)
        attributes = self._step.span.attributes
        attributes["playhead.truncated"] = True
        attributes["playhead.truncated.of"] = list(self._cut)

    def enter(self) -> Optional[Scope]:
        outer = current_scope.get()
        current_scope.set(self.scope)
        return outer

    def leave(self, outer: Optional[Scope]) -> None:
        self.scope = current_scope.get()
        current_scope.set(outer)

    def returned(self, value: Any) -> None:
        # As `guard` does, which takes longer.
        try:
            self._write_result(value)
            self._tell_tape(value, None)
        except Exception as fault:
            self._runtime.fault(fault)
        try:
            end_step(self._runtime, self._step)
        except Exception as fault:
            self._runtime.fault(fault)

    def raised(self, error: BaseException) -> None:
        with self._runtime.guard():
            if self._yielded is not None:
                self._write_result(None)
            self._tell_tape(MISSING if self._yielded is None else None, error)
            set_error(self._runtime, self._step.span, self._step.record, error)
            note_interruption(self._step, error)
        with self._runtime.guard():
            end_step(self._runtime, self._step)

    def _write_result(self, value: Any) -> None:
        result = value if self._yielded is None else self._settle_yielded(value)
        attributes = self._step.span.attributes
        is_cut, is_plain = set_value(self._runtime, attributes, self._plan.result_key, result)
        if is_cut:
            self.set_cut("result")
        types = None if is_plain or not self._plan.is_action else find_types(result)
        if types:
            attributes["playhead.action.types"] = write_json(types)

    def _tell_tape(self, value: Any, error: Optional[BaseException]) -> None:
        if self._tape is None:
            return
        result = value
        if self._yielded is not None:
            pieces = [piece for _, piece in self._yielded]
            result = pieces if value is None else {"yielded": pieces, "returned": value}
        self._tape.acted(self._step.span.id, self._shape, result, error)

    def yielded(self, value: Any) -> None:
        if self._yielded is None:
            self._yielded = []
        if len(self._yielded) < MAX_YIELDED:
            self._yielded.append(((time.perf_counter() - self._started) * 1000, value))
        else:
            self.set_cut("result")

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
