"""Matches the calls of a session with the expected ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from .calls import Call
from .expected_call import AnyOrder, ExpectedCall, flatten_calls, is_agent_call, is_named, mismatch_of


def matches_calls(calls: Sequence[Call], expected: Sequence[ExpectedCall], mode: str) -> bool:
    if mode == "exact":
        return _end_of_exact(calls, expected) == len(calls)
    if mode == "effects_only":
        return matches_calls(writes_of(calls), expected, "exact")
    if mode == "contains_in_order":
        return _is_in_order(calls, expected)
    if mode == "same_tools":
        return len(calls) == _size_of(expected) and _can_assign(calls, expected)
    allowed = flatten_calls(expected)
    return all(any(matches_call(call, one) for one in allowed) for call in calls)


def writes_of(calls: Sequence[Call]) -> list[Call]:
    """The calls that write, including those inside sub-agents."""
    found: list[Call] = []
    for call in calls:
        if call.inside is not None:
            found += writes_of(call.inside)
        elif call.effect == "write":
            found.append(call)
    return found


def matches_call(call: Call, expected: ExpectedCall) -> bool:
    """True when the name, the arguments and the inner calls match."""
    if isinstance(expected, AnyOrder) or not is_named(call, expected):
        return False
    if mismatch_of(call, expected) is not None:
        return False
    if isinstance(expected, str) or not is_agent_call(expected) or expected.get("steps") is None:
        return True
    return matches_calls(call.inside or (), expected["steps"], expected.get("mode") or "contains_in_order")


def _end_of_exact(calls: Sequence[Call], expected: Sequence[ExpectedCall]) -> Optional[int]:
    """Matches the expected calls without gaps. The position after the last one."""
    position = 0
    for one in expected:
        size = _size_of([one])
        following = calls[position : position + size]
        is_match = (
            _can_assign(following, one.calls)
            if isinstance(one, AnyOrder)
            else all(matches_call(call, one) for call in following)
        )
        if len(following) < size or not is_match:
            return None
        position += size
    return position


def _is_in_order(calls: Sequence[Call], expected: Sequence[ExpectedCall]) -> bool:
    """Matches the expected calls in order, with gaps allowed."""
    position = 0
    for one in expected:
        found = (
            _end_of_group(calls, one, position)
            if isinstance(one, AnyOrder)
            else _next_of(calls, one, position)
        )
        if found is None:
            return False
        position = found
    return True


def _next_of(calls: Sequence[Call], expected: ExpectedCall, start: int) -> Optional[int]:
    return next(
        (index + 1 for index in range(start, len(calls)) if matches_call(calls[index], expected)), None
    )


def _end_of_group(calls: Sequence[Call], group: AnyOrder, start: int) -> Optional[int]:
    """The earliest position at which every member of the group has a call of its own."""
    members = flatten_calls(group.calls)
    if not members:
        return start
    for end in range(start + len(members), len(calls) + 1):
        if _assign(calls[start:end], members) == len(members):
            return end
    return None


def _can_assign(calls: Sequence[Call], expected: Sequence[ExpectedCall]) -> bool:
    members = flatten_calls(expected)
    return _assign(calls, members) == len(members)


def _assign(calls: Sequence[Call], expected: Sequence[ExpectedCall]) -> int:
    """How many expected calls can have an actual one each. One call may match several, so this is bipartite
    matching."""
    owner_of: dict[int, int] = {}

    def place(member: int, tried: set[int]) -> bool:
        for index, call in enumerate(calls):
            if index in tried or not matches_call(call, expected[member]):
                continue
            tried.add(index)
            if index in owner_of and not place(owner_of[index], tried):
                continue
            owner_of[index] = member
            return True
        return False

    return sum(place(member, set()) for member in range(len(expected)))


def _size_of(expected: Sequence[ExpectedCall]) -> int:
    return len(flatten_calls(expected))
