"""Checks the calls of a session against a list of expected ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .calls import Call, calls_of
from .expected_call import MODES, AnyOrder, ExpectedCall, agents_in, any_order, flatten_calls, require_calls
from .match_calls import matches_call, matches_calls, writes_of
from .required_argument import require_one_of
from .step_diff import Row, align_calls, render_step_diff
from .subject import SessionJson, SessionSubject, read_subject, replay_line
from .verdict import Verdict

_EXPECTATIONS = {
    "exact": "exactly these calls in this order",
    "contains_in_order": "these calls in this order, with others allowed in between",
    "same_tools": "exactly these calls in any order",
    "only_these_tools": "no calls other than these",
    "effects_only": "exactly these calls that write, in this order",
}
_DIFF_OPTIONS: dict[str, dict[str, Any]] = {
    "contains_in_order": {"are_others_allowed": True},
    "only_these_tools": {"are_missing_allowed": True},
}


def matches_trajectory(
    subject: SessionSubject, expected: Sequence[ExpectedCall], *, mode: str = "exact"
) -> Verdict:
    """Checks the calls of a session against the expected ones.

    `exact`: these calls in this order and no others. `contains_in_order`: others may come in between.
    `same_tools`: these calls and no others, in any order. `only_these_tools`: no other calls, in any order
    and number. `effects_only`: the calls that write are exactly these, in this order.
    """
    session = read_subject(subject)
    require_calls(expected)
    require_one_of(mode, "The mode", MODES)
    calls = calls_of(session, agents_in(expected))
    if mode == "effects_only":
        calls = writes_of(calls)
    text = _EXPECTATIONS[mode]
    return _compare(session, calls, expected, mode, ("tool sequence", text, f"anything but {text}"))


def called_in_order(
    subject: SessionSubject, expected: Sequence[ExpectedCall], *, exact: bool = False
) -> Verdict:
    """Checks that these actions were called in this order; others may come in between, unless `exact`."""
    return matches_trajectory(subject, expected, mode="exact" if exact else "contains_in_order")


def has_effects(
    subject: SessionSubject, expected: Sequence[ExpectedCall], *, in_order: bool = False
) -> Verdict:
    """Checks that a session made exactly these writes (`effect="write"`), whatever it read."""
    if in_order:
        return matches_trajectory(subject, expected, mode="effects_only")
    session = read_subject(subject)
    require_calls(expected)
    calls = _without_reads(calls_of(session, agents_in(expected)))
    words = (
        ("effects", "exactly these effects", "anything but these effects")
        if expected
        else ("effects", "no effects", "at least one effect")
    )
    return _compare(session, calls, expected, "same_tools", words)


def _without_reads(calls: Sequence[Call]) -> list[Call]:
    kept = []
    for call in calls:
        if call.inside is not None:
            kept.append(replace(call, inside=_without_reads(call.inside)))
        elif call.effect == "write":
            kept.append(call)
    return kept


def _compare(
    session: SessionJson,
    calls: Sequence[Call],
    expected: Sequence[ExpectedCall],
    mode: str,
    words: tuple[str, str, str],
) -> Verdict:
    what, text, opposite = words
    passed = matches_calls(calls, expected, mode)
    diff = render_step_diff(_align(mode, expected, calls), **_DIFF_OPTIONS.get(mode, {}))
    if passed:
        return Verdict(True, f"Expected {opposite}:\n\n{diff.text}{replay_line(session['session'])}")
    message = f"Wrong {what}: {diff.gist}. Expected {text}:\n\n{diff.text}"
    return Verdict(False, f"{message}{replay_line(session['session'], diff.step_id)}", diff.step_id)


def _align(mode: str, expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> list[Row]:
    """Where order does not matter, the expected calls come in the order of the actual ones."""
    if mode not in ("same_tools", "only_these_tools"):
        return align_calls(_sort_groups(expected, calls), calls)
    is_each_once = mode == "same_tools"
    left = list(flatten_calls(expected))
    in_order: list[ExpectedCall] = []
    for call in calls:
        index = next((index for index, one in enumerate(left) if matches_call(call, one)), None)
        if index is None:
            continue
        in_order.append(left[index])
        if is_each_once:
            del left[index]
    missing = left if is_each_once else [one for one in left if not _is_among(one, in_order)]
    return align_calls([*in_order, *missing], calls)


def _is_among(call: ExpectedCall, calls: Sequence[ExpectedCall]) -> bool:
    return any(call is one or (isinstance(call, str) and call == one) for one in calls)


def _sort_groups(expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> list[ExpectedCall]:
    """Sorts the members of each group by when they were called."""

    def position_of(member: ExpectedCall) -> int:
        return next((index for index, call in enumerate(calls) if matches_call(call, member)), len(calls))

    return [
        any_order(sorted(one.calls, key=position_of)) if isinstance(one, AnyOrder) else one
        for one in expected
    ]
