"""Checks arguments of matchers. A wrong one raises a sentence that names it, not an error deep inside."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Optional, TypeVar

from ..format.lines import describe_value

# More than any test needs.
MAX_ITEMS = 10_000
_Result = TypeVar("_Result")


def require_text(value: Any, what: str) -> str:
    return value if isinstance(value, str) else fail(what, "must be a string", value)


def require_number(
    value: Any, what: str, least: Optional[float] = None, most: Optional[float] = None, is_whole: bool = False
) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_inside = is_number and (least is None or value >= least) and (most is None or value <= most)
    if is_inside and value == value and (not is_whole or value == int(value)):
        return value
    kind = "a whole number" if is_whole else "a number"
    limits = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
    return fail(what, f"must be {kind}{limits}", value)


def require_list(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        return fail(what, "must be a list", value)
    if len(value) > MAX_ITEMS:
        raise TypeError(f"{what} must have at most {MAX_ITEMS:,} items.")
    return value


def require_texts(value: Any, what: str) -> list[str]:
    return [
        require_text(item, f"Each item of {what[:1].lower()}{what[1:]}") for item in require_list(value, what)
    ]


def require_mapping(value: Any, what: str) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else fail(what, "must be a dictionary", value)


def require_one_of(value: Any, what: str, choices: Sequence[str]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    return fail(what, f"must be one of {', '.join(choices)}", value)


def require_sync(result: _Result, what: str) -> _Result:
    """What a test's own function returned: a coroutine would count as true, whatever it becomes."""
    if not inspect.isawaitable(result):
        return result
    if inspect.iscoroutine(result):
        result.close()
    raise TypeError(f"{what} must not be async: it returned a coroutine.")


def fail(what: str, must: str, value: Any) -> NoReturn:
    given = "a function" if callable(value) and not isinstance(value, type) else describe_value(value, 60)
    raise TypeError(f"{what} {must}, but it is {given}.")
