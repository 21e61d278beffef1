"""Pairs the steps of two lists of siblings, also those that ran in parallel and started in another order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Callable, NamedTuple

from .fingerprint import FingerprintedStep
from .pair_lists import NEVER, Anchor, align_lists

_SAME_STEP = 2.0
_SAME_GIVEN = 3.0
_SAME_RESULT = 1.5
_SAME_AGENT = 0.5
_SAME_BELOW = 1.0
# Steps that moved further than this are not paired.
_MAX_DISTANCE = 100


class Sibling(NamedTuple):
    fingerprinted: FingerprintedStep
    # Only one session has this level, and its children follow as siblings.
    is_opened: bool


class Pairing:
    """The position of each step's partner on the other side, or -1."""

    def __init__(self, left_count: int, right_count: int) -> None:
        self.right_of: list[int] = [-1] * left_count
        self.left_of: list[int] = [-1] * right_count

    def join(self, left: int, right: int) -> None:
        old_right, old_left = self.right_of[left], self.left_of[right]
        if old_right >= 0:
            self.left_of[old_right] = -1
        if old_left >= 0:
            self.right_of[old_left] = -1
        self.right_of[left], self.left_of[right] = right, left


class SiblingPairs(NamedTuple):
    pairing: Pairing
    # Positions on the left of steps that were paired out of order.
    reordered: set[int]


def pair_siblings(left: Sequence[Sibling], right: Sequence[Sibling]) -> SiblingPairs:
    pairing = Pairing(len(left), len(right))
    anchors = [
        Anchor([one.fingerprinted.whole for one in left], [one.fingerprinted.whole for one in right]),
        Anchor([_call_of(one) for one in left], [_call_of(one) for one in right]),
    ]
    for one, other in align_lists(
        len(left), len(right), lambda one, other: _score(left[one], right[other]), anchors
    ):
        pairing.join(one, other)
    reordered = _Reordering(left, right, pairing).pair()
    return SiblingPairs(pairing, reordered)


def _score(left: Sibling, right: Sibling) -> float:
    one, other = left.fingerprinted, right.fingerprinted
    if one.identity != other.identity or left.is_opened or right.is_opened:
        return NEVER
    return (
        _SAME_STEP
        + (_SAME_GIVEN if one.given == other.given else 0)
        + (_SAME_RESULT if one.result == other.result else 0)
        + (_SAME_AGENT if one.agent == other.agent else 0)
        + (_SAME_BELOW if one.whole == other.whole else 0)
    )


def _call_of(sibling: Sibling) -> int:
    return hash((sibling.fingerprinted.identity, sibling.fingerprinted.given))


_SameTest = Callable[[FingerprintedStep, FingerprintedStep], bool]


def _is_same_call_and_result(one: FingerprintedStep, other: FingerprintedStep) -> bool:
    return one.given == other.given and one.result == other.result


def _is_same_call(one: FingerprintedStep, other: FingerprintedStep) -> bool:
    return one.given == other.given


def _is_same_step(_one: FingerprintedStep, _other: FingerprintedStep) -> bool:
    return True


class _Reordering:
    """Pairs steps that ran in parallel and only started in another order."""

    def __init__(self, left: Sequence[Sibling], right: Sequence[Sibling], pairing: Pairing) -> None:
        self._left = left
        self._right = right
        self._pairing = pairing
        # For each step on the right, the position on the left of the partner of the step before it.
        self._expected: list[int] = []
        last = 0
        for partner in pairing.left_of:
            last = max(last, partner)
            self._expected.append(last)
        self._reordered: set[int] = set()

    def pair(self) -> set[int]:
        left, right, pairing = self._left, self._right, self._pairing
        free_left = [one for one in range(len(left)) if _is_free(left, right, pairing.right_of, one)]
        free_right = [other for other in range(len(right)) if _is_free(right, left, pairing.left_of, other)]
        if not free_left or not free_right:
            return self._reordered
        groups: dict[int, list[int]] = {}
        for other in free_right:
            groups.setdefault(right[other].fingerprinted.identity, []).append(other)
        for is_same in (_is_same_call_and_result, _is_same_call, _is_same_step):
            for one in free_left:
                if not self._is_settled(one):
                    self._pair_one(one, groups.get(left[one].fingerprinted.identity, []), is_same)
        return self._reordered

    def _pair_one(self, one: int, group: Sequence[int], is_same: _SameTest) -> None:
        step = self._left[one].fingerprinted
        for other in self._nearby(group, one):
            is_match = is_same(step, self._right[other].fingerprinted)
            if is_match and self._is_open_to(other, is_same) and self._can_move(one, other):
                if self._pairing.right_of[one] != other:
                    self._reordered.discard(self._pairing.left_of[other])
                    self._pairing.join(one, other)
                    self._reordered.add(one)
                return

    def _nearby(self, group: Sequence[int], one: int) -> list[int]:
        """The steps on the right that are expected near a position on the left."""
        expected = [self._expected[other] for other in group]
        start = bisect_left(expected, one - _MAX_DISTANCE)
        return list(group[start : bisect_left(expected, one + _MAX_DISTANCE + 1)])

    def _is_settled(self, one: int) -> bool:
        partner = self._pairing.right_of[one]
        return partner >= 0 and _is_same_call(
            self._left[one].fingerprinted, self._right[partner].fingerprinted
        )

    def _is_open_to(self, other: int, is_same: _SameTest) -> bool:
        """True when the other step has no partner, or one that may be replaced by a better match."""
        partner = self._pairing.left_of[other]
        if partner < 0:
            return True
        is_better = is_same is not _is_same_step
        return is_better and not _is_same_call(
            self._left[partner].fingerprinted, self._right[other].fingerprinted
        )

    def _can_move(self, one: int, other: int) -> bool:
        """True when every step between the two positions ran in parallel with one of them."""
        left, right, right_of = self._left, self._right, self._pairing.right_of
        if right_of[one] == other:
            return True
        for passed in range(max(0, one - _MAX_DISTANCE), min(len(left) - 1, one + _MAX_DISTANCE) + 1):
            partner = right_of[passed]
            if passed == one or partner < 0 or partner == other or (passed < one) == (partner < other):
                continue
            is_beside = _ran_together(left[one], left[passed]) or _ran_together(right[other], right[partner])
            # A pair that could move itself does not block others.
            is_held = _is_same_call(left[passed].fingerprinted, right[partner].fingerprinted)
            if not is_beside and is_held:
                return False
        return True


def _is_free(
    own: Sequence[Sibling], others: Sequence[Sibling], partners: Sequence[int], position: int
) -> bool:
    """True for a step without partner, or with one that only shares its name."""
    if own[position].is_opened:
        return False
    partner = partners[position]
    return partner < 0 or not _is_same_call(own[position].fingerprinted, others[partner].fingerprinted)


def _ran_together(left: Sibling, right: Sibling) -> bool:
    one, other = left.fingerprinted, right.fingerprinted
    return one.start_ms < other.end_ms and other.start_ms < one.end_ms
