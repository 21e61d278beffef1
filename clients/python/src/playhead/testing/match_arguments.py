"""Compares the arguments of a call with the expected ones."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from ..format.lines import describe_value
from .argument_positions import Position, is_position, ordered_items, readings_of
from .calls import MISSING
from .required_argument import (
    fail,
    require_list,
    require_mapping,
    require_one_of,
    require_sync,
    require_texts,
)

_PREDICATE = "A function that checks arguments"
_MAX_SHOWN = 50
_MAX_SHOWN_DEPTH = 6
_LARGEST_SAFE = 2**53


@dataclass
class ArgumentOptions:
    # `partial` allows additional arguments, `exact` does not.
    mode: str = "partial"
    # Names or paths to ignore, with `*` as a wildcard: `*_id`, `customer.address`, `items.*.key`.
    ignore: Sequence[str] = ()
    # By name or path: omitting the argument matches its default.
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Mismatch:
    """The first argument that differs."""

    path: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.path or 'arguments'}: expected {self.expected}, got {self.actual}"


def require_arguments(expected: Any, options: ArgumentOptions) -> None:
    if isinstance(expected, (list, tuple)):
        require_list(expected, "The expected arguments")
    elif expected is not None and not callable(expected) and not isinstance(expected, Mapping):
        fail("The expected arguments", "must be a list, a dictionary or a function", expected)
    require_one_of(options.mode, "The mode", ("partial", "exact"))
    require_texts(options.ignore, "The option ignore")
    require_mapping(options.defaults, "The option defaults")


def find_mismatch(
    actual: Any, expected: Any, options: Optional[ArgumentOptions] = None
) -> Optional[Mismatch]:
    """None when they match."""
    comparison = _Comparison(options or ArgumentOptions())
    if isinstance(expected, (list, tuple)):
        return _find_in_readings(comparison, actual, expected)
    if isinstance(expected, Mapping):
        return comparison.named(actual, expected)
    given = None if actual is MISSING else actual
    is_match = require_sync(expected(given), _PREDICATE)
    return None if is_match else _mismatch("args", "the function to return true", actual)


def _find_in_readings(comparison: _Comparison, actual: Any, expected: Sequence[Any]) -> Optional[Mismatch]:
    """Compares with each reading until one matches. A grouped reading explains a mismatch best."""
    found: list[tuple[Mismatch, bool]] = []
    raised: Optional[Exception] = None
    for reading in readings_of(actual, expected):
        try:
            mismatch = comparison.positional(reading, expected)
        except Exception as error:
            # A predicate was written for another reading, unless none matches.
            raised = raised or error
            continue
        if mismatch is None:
            return None
        found.append((mismatch, any(position.name == "" for position in reading)))
    if not found and raised is not None:
        raise raised
    return next((mismatch for mismatch, is_grouped in found if is_grouped), found[0][0] if found else None)


class _Comparison:
    def __init__(self, options: ArgumentOptions) -> None:
        self._is_exact = options.mode == "exact"
        self._ignored = [_to_pattern(glob) for glob in options.ignore]
        self._defaults = options.defaults

    def positional(self, actual: Sequence[Position], expected: Sequence[Any]) -> Optional[Mismatch]:
        if self._is_exact and len(actual) > len(expected):
            return _mismatch("", f"{len(expected)} arguments", [position.value for position in actual])
        for index, value in enumerate(expected):
            given = actual[index].value if index < len(actual) else MISSING
            found = self._value(given, value, str(index))
            if found is not None:
                return _with_name(found, actual)
        return None

    def named(self, given: Any, expected: Mapping[str, Any]) -> Optional[Mismatch]:
        """Also accepts positions as names, and the properties of an only argument in place of its name."""
        actual = _open_only_argument(given, expected)
        if isinstance(actual, list):
            actual = {str(index): value for index, value in enumerate(actual)}
        if not isinstance(actual, Mapping):
            are_both_empty = not expected and actual is MISSING
            return None if are_both_empty else _mismatch("", describe(expected), actual)
        items = ordered_items(actual)
        named = dict(actual)
        for name in expected:
            if name not in named and is_position(name) and int(name) < len(items):
                key, value = items[int(name)]
                named[name] = value
                named.pop(key, None)
        return self._object(named, expected, "")

    def _value(self, actual: Any, expected: Any, path: str) -> Optional[Mismatch]:
        if self._is_ignored(path) or _is_matching(expected, actual):
            return None
        if actual is MISSING and self._is_default(path, expected):
            return None
        if isinstance(expected, (list, tuple)):
            return self._list(actual, expected, path)
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            return self._object(actual, expected, path)
        return _mismatch(path, describe(expected), actual)

    def _list(self, actual: Any, expected: Sequence[Any], path: str) -> Optional[Mismatch]:
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return _mismatch(path, describe(expected), actual)
        for index, value in enumerate(expected):
            found = self._value(actual[index], value, f"{path}.{index}")
            if found is not None:
                return found
        return None

    def _object(
        self, actual: Mapping[str, Any], expected: Mapping[str, Any], path: str
    ) -> Optional[Mismatch]:
        for name, value in expected.items():
            found = self._value(actual.get(name, MISSING), value, _join(path, name))
            if found is not None:
                return found
        return self._find_extra(actual, expected, path) if self._is_exact else None

    def _find_extra(
        self, actual: Mapping[str, Any], expected: Mapping[str, Any], path: str
    ) -> Optional[Mismatch]:
        for name, value in actual.items():
            place = _join(path, name)
            if name in expected or self._is_ignored(place) or self._is_default(place, value):
                continue
            return _mismatch(place, "nothing", value)
        return None

    def _is_ignored(self, path: str) -> bool:
        name = path.rsplit(".", 1)[-1]
        return any(pattern.fullmatch(path) or pattern.fullmatch(name) for pattern in self._ignored)

    def _is_default(self, path: str, value: Any) -> bool:
        if path not in self._defaults:
            return False
        exact = _Comparison(ArgumentOptions(mode="exact"))
        return exact._value(value, self._defaults[path], path) is None


def _is_matching(expected: Any, actual: Any) -> bool:
    """Compares everything but lists and dictionaries."""
    if isinstance(expected, re.Pattern):
        return isinstance(actual, str) and expected.search(actual) is not None
    # JSON does not tell a missing value from null.
    if expected is None:
        return actual is None or actual is MISSING
    if isinstance(expected, (list, tuple, Mapping)):
        return False
    given = None if actual is MISSING else actual
    if isinstance(expected, type):
        return _is_of_type(given, expected)
    if callable(expected):
        return bool(require_sync(expected(given), _PREDICATE))
    return _is_equal(given, expected)


def _is_of_type(actual: Any, expected: type) -> bool:
    """`str`, `int`, `dict`; a whole number is a `float` too, and a bool is only a `bool`."""
    if isinstance(actual, bool):
        return expected in (bool, object)
    return isinstance(actual, expected) or (expected is float and isinstance(actual, int))


def _is_equal(actual: Any, expected: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return actual is expected
    # As they are recorded.
    if isinstance(expected, (datetime.datetime, datetime.date, datetime.time)):
        return bool(actual == expected.isoformat())
    if isinstance(expected, datetime.timedelta):
        return bool(actual == expected.total_seconds())
    if isinstance(expected, decimal.Decimal):
        return bool(actual == str(expected))
    if isinstance(expected, int) and abs(expected) >= _LARGEST_SAFE:
        return str(actual) == str(expected)
    if isinstance(expected, float) and expected != expected:
        return isinstance(actual, float) and actual != actual
    # The other way round for `unittest.mock.ANY` and `pytest.approx`.
    return bool(expected == actual)


def _open_only_argument(actual: Any, expected: Mapping[str, Any]) -> Any:
    """`run(order)` matches the properties of the order, `{"invoice": "INV-7"}`."""
    if not isinstance(actual, Mapping) or len(actual) != 1:
        return actual
    ((name, value),) = actual.items()
    if not isinstance(value, Mapping) or any(key == name or is_position(key) for key in expected):
        return actual
    return value if any(key in value for key in expected) else actual


def _with_name(found: Mismatch, reading: Sequence[Position]) -> Mismatch:
    """Replaces a position by the parameter's name, where known."""
    index, *rest = found.path.split(".")
    known = is_position(index) and int(index) < len(reading)
    name = reading[int(index)].name if known else index
    return Mismatch(".".join([*([name] if name else []), *rest]), found.expected, found.actual)


def _to_pattern(glob: str) -> re.Pattern[str]:
    parts = ["[^.]*".join(re.escape(piece) for piece in part.split("*")) for part in glob.split("**")]
    return re.compile(".*".join(parts), re.DOTALL)


def _join(path: str, name: str) -> str:
    return str(name) if path == "" else f"{path}.{name}"


def _mismatch(path: str, expected: str, actual: Any) -> Mismatch:
    return Mismatch(path, expected, "nothing" if actual is MISSING else describe(actual))


def describe(value: Any, width: int = 80) -> str:
    """An expected value; patterns, types and functions in it are shown by name."""
    name = _name_of(value)
    return describe_value(_to_printable(value, 0), width) if name is None else name


def _to_printable(value: Any, depth: int) -> Any:
    name = _name_of(value)
    if name is not None or depth > _MAX_SHOWN_DEPTH:
        return name
    if isinstance(value, (list, tuple)):
        return [_to_printable(item, depth + 1) for item in value[:_MAX_SHOWN]]
    if isinstance(value, Mapping):
        shown = list(value.items())[:_MAX_SHOWN]
        return {str(key): _to_printable(item, depth + 1) for key, item in shown}
    return value


def _name_of(value: Any) -> Optional[str]:
    if isinstance(value, re.Pattern):
        return f"/{value.pattern}/{'i' if value.flags & re.IGNORECASE else ''}"
    if isinstance(value, type):
        return f"any {value.__name__}"
    if callable(value):
        return "a value accepted by the function"
    is_plain = value is None or isinstance(value, (str, bool, int, float, list, tuple, Mapping))
    return None if is_plain else str(value)
