"""Pairs the steps of two sessions, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable, Optional

from .fingerprint import FingerprintedSession, FingerprintedStep
from .pair_siblings import Pairing, Sibling, SiblingPairs, pair_siblings

_LONGEST_PERIOD = 4
_Test = Callable[[FingerprintedStep], bool]


@dataclass(eq=False)
class AlignedStep:
    """A step of one or both sessions, with the steps below it."""

    a: Optional[FingerprintedStep] = None
    b: Optional[FingerprintedStep] = None
    # Only one session has it, and it repeats the step right before or after.
    is_repeat: bool = False
    # Only one session has this level; the steps below it follow as siblings.
    is_opened: bool = False
    children: list[AlignedStep] = field(default_factory=list)

    @property
    def is_alone(self) -> bool:
        return self.a is None or self.b is None


def align_trees(a: FingerprintedSession, b: FingerprintedSession) -> list[AlignedStep]:
    def is_unknown_to(other: FingerprintedSession) -> _Test:
        return lambda step: (
            step.is_wrapper and len(step.children) > 0 and step.identity not in other.identities
        )

    opening = (is_unknown_to(b), is_unknown_to(a))
    if len(a.top) == len(b.top) == 1:
        left, right = a.top[0], b.top[0]
        if left.is_wrapper and right.is_wrapper and left.step.get("kind") == right.step.get("kind"):
            children = _align_siblings(left.children, right.children, opening)
            return [AlignedStep(left, right, children=children)]
    return _align_siblings(a.top, b.top, opening)


def _align_siblings(
    a: Sequence[FingerprintedStep], b: Sequence[FingerprintedStep], opening: tuple[_Test, _Test]
) -> list[AlignedStep]:
    left, right = _open_levels(a, opening[0]), _open_levels(b, opening[1])
    is_same = [one.fingerprinted.whole for one in left] == [one.fingerprinted.whole for one in right]
    pairing, reordered = _straight(len(left)) if is_same else pair_siblings(left, right)
    left_repeats = _find_repeats(left, pairing.right_of)
    right_repeats = _find_repeats(right, pairing.left_of)
    rows: list[AlignedStep] = []
    at = 0

    def add_right_until(end: int) -> None:
        nonlocal at
        for other in range(at, end):
            if pairing.left_of[other] < 0:
                rows.append(_alone("b", right[other], other in right_repeats))
        at = max(at, end)

    for one, sibling in enumerate(left):
        partner = pairing.right_of[one]
        if partner < 0:
            rows.append(_alone("a", sibling, one in left_repeats))
            continue
        if one not in reordered:
            add_right_until(partner)
        other_step = right[partner].fingerprinted
        children = _align_siblings(sibling.fingerprinted.children, other_step.children, opening)
        rows.append(AlignedStep(sibling.fingerprinted, other_step, children=children))
    add_right_until(len(right))
    return rows


def _straight(length: int) -> SiblingPairs:
    pairing = Pairing(length, length)
    for position in range(length):
        pairing.join(position, position)
    return SiblingPairs(pairing, set())


def _open_levels(steps: Sequence[FingerprintedStep], is_unknown: _Test) -> list[Sibling]:
    """Puts the children of levels that the other session lacks next to them, as siblings."""
    siblings: list[Sibling] = []
    for step in steps:
        is_opened = is_unknown(step)
        siblings.append(Sibling(step, is_opened))
        if is_opened:
            siblings += _open_levels(step.children, is_unknown)
    return siblings


def _alone(side: str, sibling: Sibling, is_repeat: bool) -> AlignedStep:
    def alone(step: FingerprintedStep) -> AlignedStep:
        made = AlignedStep(is_repeat=is_repeat, children=[alone(child) for child in step.children])
        setattr(made, side, step)
        return made

    if not sibling.is_opened:
        return alone(sibling.fingerprinted)
    opened = AlignedStep(is_opened=True)
    setattr(opened, side, sibling.fingerprinted)
    return opened


def _find_repeats(siblings: Sequence[Sibling], partners: Sequence[int]) -> set[int]:
    """The unpaired steps that only repeat their neighbours; a write never counts as a repeat."""
    repeats: set[int] = set()
    start = 0
    while start < len(siblings):
        if partners[start] >= 0:
            start += 1
            continue
        end = start
        while end < len(siblings) and partners[end] < 0:
            end += 1
        if _is_round(siblings, start, end):
            repeats.update(range(start, end))
        start = end + 1
    return repeats


def _is_round(siblings: Sequence[Sibling], start: int, end: int) -> bool:
    alone = siblings[start:end]
    if any(one.is_opened or one.fingerprinted.has_write for one in alone):
        return False

    def is_same_as(distance: int) -> bool:
        if start + distance < 0 or end + distance > len(siblings):
            return False
        others = siblings[start + distance : end + distance]
        return all(one.fingerprinted.whole == other.fingerprinted.whole for one, other in zip(alone, others))

    periods = [period for period in range(1, _LONGEST_PERIOD + 1) if len(alone) % period == 0]
    return any(is_same_as(-period) or is_same_as(period) for period in periods)
