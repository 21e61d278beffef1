"""Aligns two lists: Needleman–Wunsch with affine gaps (Gotoh)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Callable, NamedTuple

Pair = tuple[int, int]
# How well two items match; NEVER when they can't be the same.
Scorer = Callable[[int, int], float]

NEVER = -1e6
_GAP_OPENED = -1.2
_GAP_GOES_ON = -0.3
# The largest table that is filled completely, in a fraction of a second.
_MAX_CELLS = 100_000
_MIN_BAND = 64
_OUTSIDE = float("-inf")
# The state that the best path to a cell came from.
_PAIRED, _LEFT_ALONE, _RIGHT_ALONE = 0, 1, 2
_Cell = tuple[float, float, float]
_NOWHERE: _Cell = (_OUTSIDE, _OUTSIDE, _OUTSIDE)


class _Part(NamedTuple):
    left: int
    left_end: int
    right: int
    right_end: int


class Anchor(NamedTuple):
    """Fingerprints of both lists. Those that are unique on both sides cut long lists into short ones."""

    left: Sequence[int]
    right: Sequence[int]


def align_lists(left_count: int, right_count: int, score: Scorer, anchors: Sequence[Anchor]) -> list[Pair]:
    """The positions of matching items, ascending on both sides. The most specific anchors come first."""
    return _align_part(_Part(0, left_count, 0, right_count), score, anchors)


def _align_part(part: _Part, score: Scorer, anchors: Sequence[Anchor]) -> list[Pair]:
    left_length, right_length = part.left_end - part.left, part.right_end - part.right
    if left_length == 0 or right_length == 0:
        return []
    if left_length * right_length <= _MAX_CELLS or not anchors:
        return _align_table(part, score)
    head, inner, tail = _trim(part, anchors[0])
    pairs = list(head)
    left, right = inner.left, inner.right
    for anchor_left, anchor_right in [*_find_anchors(inner, anchors[0]), (inner.left_end, inner.right_end)]:
        pairs += _align_part(_Part(left, anchor_left, right, anchor_right), score, anchors[1:])
        if anchor_left < inner.left_end:
            pairs.append((anchor_left, anchor_right))
        left, right = anchor_left + 1, anchor_right + 1
    return [*pairs, *tail]


def _trim(part: _Part, anchor: Anchor) -> tuple[list[Pair], _Part, list[Pair]]:
    """Splits off the common start and the common end."""
    left, left_end, right, right_end = part
    head: list[Pair] = []
    tail: list[Pair] = []
    while left < left_end and right < right_end and anchor.left[left] == anchor.right[right]:
        head.append((left, right))
        left, right = left + 1, right + 1
    while left < left_end and right < right_end and anchor.left[left_end - 1] == anchor.right[right_end - 1]:
        left_end, right_end = left_end - 1, right_end - 1
        tail.append((left_end, right_end))
    return head, _Part(left, left_end, right, right_end), tail[::-1]


def _find_anchors(part: _Part, anchor: Anchor) -> list[Pair]:
    """The longest series of fingerprints that are unique on each side and in the same order on both."""
    on_left = _unique_positions(anchor.left, part.left, part.left_end)
    on_right = _unique_positions(anchor.right, part.right, part.right_end)
    pairs = [(position, on_right[one]) for one, position in on_left.items() if one in on_right]
    return _longest_rising(sorted(pairs))


def _unique_positions(fingerprints: Sequence[int], start: int, end: int) -> dict[int, int]:
    positions: dict[int, int] = {}
    repeated: set[int] = set()
    for position in range(start, end):
        if fingerprints[position] in positions:
            repeated.add(fingerprints[position])
        positions[fingerprints[position]] = position
    return {one: position for one, position in positions.items() if one not in repeated}


def _longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest subsequence of the pairs that is ascending on the right too."""
    ends: list[int] = []
    values: list[int] = []
    before: list[int] = []
    for index, (_left, right) in enumerate(pairs):
        length = bisect_left(values, right)
        before.append(-1 if length == 0 else ends[length - 1])
        ends[length : length + 1] = [index]
        values[length : length + 1] = [right]
    rising: list[Pair] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        rising.append(pairs[at])
        at = before[at]
    return rising[::-1]


def _align_table(part: _Part, score: Scorer) -> list[Pair]:
    """Fills only a band around the diagonal when the whole table would be too large."""
    left_count, right_count = part.left_end - part.left, part.right_end - part.right
    width = min(right_count + 1, max(_MIN_BAND, _MAX_CELLS // (left_count + 1)))

    def start_of(left: int) -> int:
        # Rounds as JavaScript does.
        centre = (2 * left * right_count + left_count) // (2 * left_count)
        return max(0, min(right_count + 1 - width, centre - (width >> 1)))

    ways: list[list[int]] = []
    above: list[_Cell] = []
    above_start = 0
    for left in range(left_count + 1):
        start = start_of(left)
        row: list[_Cell] = []
        came: list[int] = []
        for column in range(width):
            right = start + column
            up = right - above_start
            paired, from_paired = _OUTSIDE, _PAIRED
            if left > 0 and right > 0 and 0 < up <= len(above):
                gain = score(part.left + left - 1, part.right + right - 1)
                if gain > NEVER:
                    from_paired = _best_of(*above[up - 1])
                    paired = above[up - 1][from_paired] + gain
            over = above[up] if left > 0 and up < len(above) else _NOWHERE
            beside = row[column - 1] if column > 0 else _NOWHERE
            left_alone, from_left = _gap(over, _LEFT_ALONE)
            right_alone, from_right = _gap(beside, _RIGHT_ALONE)
            row.append((0.0 if left == right == 0 else paired, left_alone, right_alone))
            came.append(from_paired | from_left << 2 | from_right << 4)
        ways.append(came)
        above, above_start = row, start
    state = _best_of(*above[right_count - above_start])
    found = _walk_back(left_count, right_count, state, lambda left, right: ways[left][right - start_of(left)])
    return [(part.left + left, part.right + right) for left, right in found]


def _gap(cell: _Cell, gap: int) -> tuple[float, int]:
    """One more unmatched item: extends a gap or opens one."""
    paired = cell[_PAIRED] + _GAP_OPENED
    left_alone = cell[_LEFT_ALONE] + (_GAP_GOES_ON if gap == _LEFT_ALONE else _GAP_OPENED)
    right_alone = cell[_RIGHT_ALONE] + (_GAP_GOES_ON if gap == _RIGHT_ALONE else _GAP_OPENED)
    state = _best_of(paired, left_alone, right_alone)
    return (paired, left_alone, right_alone)[state], state


def _best_of(paired: float, left_alone: float, right_alone: float) -> int:
    """Among equally good paths, the one whose gap comes last, so that equal items are paired early."""
    if paired > left_alone and paired > right_alone:
        return _PAIRED
    if left_alone == _OUTSIDE and right_alone == _OUTSIDE:
        return _PAIRED
    return _LEFT_ALONE if left_alone >= right_alone else _RIGHT_ALONE


def _walk_back(left: int, right: int, state: int, way_of: Callable[[int, int], int]) -> list[Pair]:
    pairs: list[Pair] = []
    while left > 0 or right > 0:
        way = way_of(left, right)
        if state == _PAIRED:
            state = way & 3
            left, right = left - 1, right - 1
            pairs.append((left, right))
        elif state == _LEFT_ALONE:
            state = way >> 2 & 3
            left -= 1
        else:
            state = way >> 4 & 3
            right -= 1
    return pairs[::-1]
