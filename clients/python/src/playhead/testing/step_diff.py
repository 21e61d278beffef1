"""Expected and actual calls in two columns, with the first difference marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable, Optional

from .calls import Call
from .expected_call import (
    ExpectedCall,
    SingleCall,
    describe_call,
    describe_expected,
    flatten_calls,
    is_named,
    mismatch_of,
    name_of,
)
from .match_arguments import Mismatch
from .match_calls import matches_call

_WIDEST_EXPECTED = 44
_WIDEST_ACTUAL = 70
_SHOWN_BEFORE = 8
_SHOWN_AFTER = 14
_GAP = 2.0
_DIFFERENT = 1.0
_NEVER = float("inf")


@dataclass
class Row:
    """An expected call, an actual call, or both."""

    expected: Optional[SingleCall] = None
    call: Optional[Call] = None
    # Same action, but different arguments or inner calls.
    is_different: bool = False
    mismatch: Optional[Mismatch] = None


@dataclass
class StepDiff:
    text: str
    # A few words on the first difference.
    gist: Optional[str] = None
    # The step at the first difference, or before it if a call is missing.
    step_id: Optional[str] = None


def render_step_diff(
    rows: Sequence[Row], are_others_allowed: bool = False, are_missing_allowed: bool = False
) -> StepDiff:
    def is_difference(row: Row) -> bool:
        if row.is_different:
            return True
        if row.call is None:
            return not are_missing_allowed
        return row.expected is None and not are_others_allowed

    def sign_of(row: Row) -> str:
        if row.is_different:
            return "≠"
        if row.call is None:
            return " " if are_missing_allowed else "-"
        if row.expected is None:
            return " " if are_others_allowed else "+"
        return "="

    first = next((index for index, row in enumerate(rows) if is_difference(row)), None)
    texts = [("" if row.expected is None else describe_expected(row.expected)) for row in rows]
    width = min(_WIDEST_EXPECTED, max([8, *(len(text) for text in texts)]))
    start, end = (
        (0, _SHOWN_BEFORE + _SHOWN_AFTER) if first is None else (first - _SHOWN_BEFORE, first + _SHOWN_AFTER)
    )
    lines = [f"  {'expected'.ljust(width)}   actual"]
    if start > 0:
        lines.append(f"  … {start} more")
    for index in range(max(0, start), min(end, len(rows))):
        row, is_first = rows[index], index == first
        shown = _cut(texts[index], _WIDEST_EXPECTED).ljust(width)
        lines.append(f"{'▶' if is_first else ' '} {shown} {sign_of(row)} {_actual(row, is_first)}".rstrip())
        if row.is_different:
            detail = "the calls inside it differ" if row.mismatch is None else str(row.mismatch)
            lines.append(f"  {' ' * width}   {detail}")
    if end < len(rows):
        lines.append(f"  … {len(rows) - end} more")
    if first is None:
        return StepDiff("\n".join(lines))
    return StepDiff("\n".join(lines), _gist_of(rows[first]), _step_at(rows, first))


def _actual(row: Row, is_first: bool) -> str:
    shown = ("–" if is_first else "") if row.call is None else _cut(describe_call(row.call), _WIDEST_ACTUAL)
    return f"{shown}   ← first difference" if is_first else shown


def _gist_of(row: Row) -> str:
    if row.call is None:
        return f"{'' if row.expected is None else name_of(row.expected)} is missing"
    if row.expected is None:
        return f"unexpected call of {row.call.name}"
    if row.mismatch is None:
        return f"different calls inside {row.call.name}"
    return f"{row.call.name} has different arguments"


def _step_at(rows: Sequence[Row], index: int) -> Optional[str]:
    nearest = [*reversed(rows[: index + 1]), *rows]
    return next((row.call.step_id for row in nearest if row.call is not None), None)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def align_calls(expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> list[Row]:
    """Pairs expected with actual calls so that as few as possible stay unpaired."""
    wanted = flatten_calls(expected)

    def price(row: int, column: int) -> float:
        if matches_call(calls[column], wanted[row]):
            return 0.0
        return _DIFFERENT if is_named(calls[column], wanted[row]) else _NEVER

    costs = _fill_costs(len(wanted), len(calls), price)
    rows: list[Row] = []
    row = column = 0
    while row < len(wanted) or column < len(calls):
        here = costs[row][column]
        has_both = row < len(wanted) and column < len(calls)
        if has_both and here == costs[row + 1][column + 1] + price(row, column):
            rows.append(_to_pair(wanted[row], calls[column]))
            row, column = row + 1, column + 1
        elif row < len(wanted) and here == costs[row + 1][column] + _GAP:
            rows.append(Row(expected=wanted[row]))
            row += 1
        else:
            rows.append(Row(call=calls[column]))
            column += 1
    return rows


def _fill_costs(rows: int, columns: int, price: Callable[[int, int], float]) -> list[list[float]]:
    """`costs[row][column]` is the cost of aligning everything from there on."""
    costs = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows, -1, -1):
        for column in range(columns, -1, -1):
            if row == rows or column == columns:
                costs[row][column] = _GAP * (rows - row + columns - column)
                continue
            costs[row][column] = min(
                costs[row + 1][column + 1] + price(row, column),
                costs[row + 1][column] + _GAP,
                costs[row][column + 1] + _GAP,
            )
    return costs


def _to_pair(expected: SingleCall, call: Call) -> Row:
    if matches_call(call, expected):
        return Row(expected, call)
    return Row(expected, call, True, mismatch_of(call, expected))
