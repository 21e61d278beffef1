"""Reads recorded arguments as a list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .calls import MISSING


@dataclass(eq=False)
class Position:
    """An argument with the name that it was recorded under; a group of properties has none."""

    value: Any
    name: str


def readings_of(actual: Any, expected: Sequence[Any]) -> list[list[Position]]:
    """The ways to read recorded arguments as a list, likeliest first.

    They are recorded by name, so `change("c_42", {"plan": "pro"})` in TypeScript is
    `{"customerId": "c_42", "plan": "pro"}`: two values, a value and an object, or one object.
    """
    if not isinstance(actual, Mapping):
        return [[Position(value, str(index)) for index, value in enumerate(_to_list(actual))]]
    positions = _in_order(actual)
    readings = [positions]
    grouped = _group_properties(positions, expected)
    if grouped is not None:
        readings.append(grouped)
    if positions and isinstance(positions[-1].value, list):
        readings.append(_spread_last(positions))
    return readings


def ordered_items(fields: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """As JavaScript orders them: positions first."""
    numbered = sorted((name for name in fields if is_position(name)), key=int)
    return [(name, fields[name]) for name in [*numbered, *(name for name in fields if name not in numbered)]]


def is_position(name: Any) -> bool:
    return isinstance(name, str) and re.fullmatch("[0-9]+", name) is not None


def _to_list(actual: Any) -> Sequence[Any]:
    if isinstance(actual, (list, tuple)):
        return actual
    return [] if actual is MISSING else [actual]


def _in_order(actual: Mapping[str, Any]) -> list[Position]:
    """An argument without a name is recorded under its position."""
    entries = [Position(value, name) for name, value in ordered_items(actual)]
    by_position = [entry for entry in entries if is_position(entry.name) and int(entry.name) < len(entries)]
    ordered = [entry for entry in entries if entry not in by_position]
    for entry in by_position:
        ordered.insert(int(entry.name), entry)
    return ordered


def _group_properties(positions: Sequence[Position], expected: Sequence[Any]) -> Optional[list[Position]]:
    """Gives each expected object the properties it names, and the last one all that are left."""
    left = list(positions)
    is_grouped = False
    read: list[Position] = []
    for index, value in enumerate(expected):
        group = _properties_for(value, left, index == len(expected) - 1)
        if not group:
            read += left[:1]
            left = left[1:]
            continue
        is_grouped = True
        left = [position for position in left if position not in group]
        read.append(Position({position.name: position.value for position in group}, ""))
    return [*read, *left] if is_grouped else None


def _properties_for(expected: Any, left: Sequence[Position], is_last: bool) -> Sequence[Position]:
    is_named = isinstance(expected, Mapping)
    if not is_named and not callable(expected):
        return []
    if is_named and not any(position.name in expected for position in left):
        return []
    if is_last:
        return left
    return [position for position in left if position.name in expected] if is_named else []


def _spread_last(positions: Sequence[Position]) -> list[Position]:
    """`*args` are recorded as one list."""
    last = positions[-1]
    spread = [Position(item, f"{last.name}.{index}") for index, item in enumerate(last.value)]
    return [*positions[:-1], *spread]
