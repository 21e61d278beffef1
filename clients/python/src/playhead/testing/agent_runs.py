"""The runs of an agent test: how many of which input, and when to stop."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

from ..format.lines import describe_value
from .limits import read_duration
from .required_argument import MAX_ITEMS, fail, require_mapping, require_number, require_one_of
from .statistics import judge_sequence

_MAX_NAME_LENGTH = 120
_MAX_TIMEOUT_MS = 2**31 - 1
# A test without inputs runs with none, which is not the input None.
NO_INPUT: Any = object()


@dataclass
class PassRate:
    minimum: float
    confidence: float = 0.95


@dataclass
class SequentialRepeat:
    """Stops as soon as the result is certain, after at most `max` runs."""

    max: int
    rates: dict[str, float] = field(default_factory=dict)

    def judge(self, passed: int, failed: int) -> str:
        return judge_sequence(passed, failed, **self.rates)


@dataclass
class AgentTestOptions:
    """How the runs of `@pytest.mark.agent` are made and judged."""

    inputs: list[Any] = field(default_factory=lambda: [NO_INPUT])
    repeat: Union[int, SequentialRepeat] = 1
    # All runs must pass when omitted.
    pass_rate: Optional[PassRate] = None
    # Whether an inconclusive test passes; if omitted, it does if the observed rate reaches the minimum.
    inconclusive: Optional[str] = None
    concurrency: int = 1
    # No new run starts once this much was spent.
    max_usd: float = math.inf
    max_tokens: float = math.inf
    has_dollar_budget: bool = False
    # Of a single run.
    timeout_ms: float = 60_000


@dataclass
class PlannedRun:
    input: Any
    variant: str
    attempt: int


@dataclass
class FinishedRun:
    variant: str
    attempt: int
    is_passed: bool = True
    cost: Optional[float] = None
    # True if a call is missing from the cost.
    is_cost_incomplete: bool = False
    tokens: float = 0
    session_id: str = ""
    url: str = ""
    # The file that it was recorded to.
    recording: Optional[Path] = None
    message: Optional[str] = None
    step_id: Optional[str] = None
    # Where it diverged from a passing run.
    divergence: Optional[str] = None


def read_agent_options(
    inputs: Any = None,
    *,
    repeat: Any = 1,
    pass_rate: Any = None,
    inconclusive: Any = None,
    concurrency: Any = 1,
    budget: Any = None,
    timeout: Any = None,
) -> AgentTestOptions:
    """Raises a sentence if an option of the mark has a wrong value."""
    options = AgentTestOptions()
    if inputs is not None:
        options.inputs = _read_inputs(inputs)
    options.repeat = _read_repeat(repeat)
    options.pass_rate = None if pass_rate is None else _read_pass_rate(pass_rate)
    if inconclusive is not None:
        options.inconclusive = require_one_of(inconclusive, "The option inconclusive", ("pass", "fail"))
    options.concurrency = int(require_number(concurrency, "The option concurrency", 1, MAX_ITEMS))
    if budget is not None:
        limits = {"usd": budget} if isinstance(budget, (int, float)) else budget
        limits = _known(limits, "The option budget", ("usd", "tokens"))
        for name, limit in limits.items():
            require_number(limit, f"The limit budget.{name}")
        options.max_usd = limits.get("usd", math.inf)
        options.max_tokens = limits.get("tokens", math.inf)
        options.has_dollar_budget = "usd" in limits
    if timeout is not None:
        options.timeout_ms = require_number(read_duration(timeout), "The timeout", 1, _MAX_TIMEOUT_MS)
    return options


def _read_inputs(inputs: Any) -> list[Any]:
    if isinstance(inputs, (str, bytes, Mapping)) or not isinstance(inputs, Iterable):
        fail("The inputs", "must be a list", inputs)
    found: list[Any] = []
    for one in inputs:
        if len(found) == MAX_ITEMS:
            raise TypeError(f"The inputs must have at most {MAX_ITEMS:,} items.")
        found.append(one)
    if not found:
        raise TypeError("An agent test needs at least one input.")
    return found


def _read_repeat(repeat: Any) -> Union[int, SequentialRepeat]:
    if not isinstance(repeat, Mapping):
        times: float = require_number(repeat, "The option repeat", 1, MAX_ITEMS)
        return math.floor(times)
    names = ("max", "stop", "p0", "p1", "alpha", "beta")
    given = _known(repeat, "The option repeat", names)
    most = math.floor(require_number(given.get("max"), "The option repeat.max", 1, MAX_ITEMS))
    require_one_of(given.get("stop"), "The option repeat.stop", ("sprt",))
    rates = {name: value for name, value in given.items() if name not in ("max", "stop")}
    for rate in rates.values():
        require_number(rate, "A rate of repeat", 0, 1)
    judge_sequence(0, 0, **rates)
    return SequentialRepeat(most, rates)


def _read_pass_rate(pass_rate: Any) -> PassRate:
    is_number = isinstance(pass_rate, (int, float))
    given = _known(
        {"min": pass_rate} if is_number else pass_rate, "The option pass_rate", ("min", "confidence")
    )
    minimum = require_number(given.get("min"), "The option pass_rate.min", 0, 1)
    confidence = given.get("confidence", 0.95)
    require_number(confidence, "The option pass_rate.confidence", 0.000_001, 0.999_999)
    return PassRate(minimum, confidence)


def _known(value: Any, what: str, names: Sequence[str]) -> dict[str, Any]:
    given = dict(require_mapping(value, what))
    unknown = [str(name) for name in given if name not in names]
    if unknown:
        raise TypeError(f"{what} has {', '.join(names)}, but not {', '.join(unknown)}.")
    return given


def plan_runs(options: AgentTestOptions) -> list[PlannedRun]:
    """Goes through all inputs before repeating any, so that stopping early has tried each of them."""
    repeat, inputs = options.repeat, options.inputs
    times = repeat if isinstance(repeat, int) else math.ceil(repeat.max / len(inputs))
    planned = [
        PlannedRun(one, name_input(one, index), attempt + 1)
        for attempt in range(max(1, times))
        for index, one in enumerate(inputs)
    ]
    return planned if isinstance(repeat, int) else planned[: repeat.max]


def name_input(value: Any, index: int) -> str:
    """A text names itself; a dictionary or object may have a `name` or `label`."""
    if value is NO_INPUT:
        return "no input"
    given = value if isinstance(value, str) else _own_name(value)
    if isinstance(given, str) and given != "":
        return given[:_MAX_NAME_LENGTH]
    if inspect.isroutine(value) or isinstance(value, type):
        return f"input {index + 1}"
    return describe_value(value, _MAX_NAME_LENGTH)


def _own_name(value: Any) -> Any:
    for name in ("name", "label"):
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def should_stop(finished: Sequence[FinishedRun], options: AgentTestOptions) -> bool:
    """True when the budget is spent or the sequential test has reached a verdict."""
    if is_spent(finished, options):
        return True
    if isinstance(options.repeat, int):
        return False
    passed = sum(run.is_passed for run in finished)
    return options.repeat.judge(passed, len(finished) - passed) != "inconclusive"


def is_spent(finished: Sequence[FinishedRun], options: AgentTestOptions) -> bool:
    usd = sum(run.cost or 0 for run in finished)
    return usd >= options.max_usd or sum(run.tokens for run in finished) >= options.max_tokens
