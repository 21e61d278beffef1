"""Rules about the order of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional

from .called import list_of_calls
from .calls import Call, calls_of
from .expected_call import describe_call
from .required_argument import fail, require_sync, require_text
from .subject import SessionSubject, read_subject, replay_line
from .verdict import Verdict

_MAX_LISTED = 40


@dataclass(frozen=True)
class OrderRule:
    text: str
    # The call that breaks the rule, if any.
    find_violation: Callable[[Sequence[Call]], Optional[Call]]


def before(first: str, second: str) -> OrderRule:
    """The first action is called before the second. A session that never calls the second satisfies it."""
    _require_names(first, second)

    def find_violation(calls: Sequence[Call]) -> Optional[Call]:
        for call in calls:
            if call.name == first:
                # The first of both is the first action, unless they are the same.
                return None
            if call.name == second:
                return call
        return None

    return OrderRule(f"{first} before {second}", find_violation)


def directly_before(first: str, second: str) -> OrderRule:
    """Every call of the second action comes right after one of the first."""
    _require_names(first, second)

    def find_violation(calls: Sequence[Call]) -> Optional[Call]:
        for index, call in enumerate(calls):
            if call.name == second and (index == 0 or calls[index - 1].name != first):
                return call
        return None

    return OrderRule(f"{first} directly before {second}", find_violation)


def never_both(one: str, other: str) -> OrderRule:
    """A session calls at most one of the two actions."""
    _require_names(one, other)

    def find_violation(calls: Sequence[Call]) -> Optional[Call]:
        found = [next((call for call in calls if call.name == name), None) for name in (one, other)]
        first, second = found
        if first is None or second is None:
            return None
        return first if first.number > second.number else second

    return OrderRule(f"never both {one} and {other}", find_violation)


def satisfies_order(subject: SessionSubject, *rules: OrderRule) -> Verdict:
    """Checks that the calls of a session satisfy rules about their order."""
    session = read_subject(subject)
    calls = calls_of(session)
    for rule in rules:
        if not isinstance(rule, OrderRule):
            fail("A rule about the order", "must come from before, directly_before or never_both", rule)
    for rule in rules:
        violation = require_sync(rule.find_violation(calls), "The find_violation of a rule")
        if violation is None:
            continue
        if not any(call is violation for call in calls):
            fail(f'The violation of "{rule.text}"', "must be one of the calls or None", violation)
        link = replay_line(session["session"], violation.step_id)
        listed = "\n".join(
            f"{'▶' if call is violation else ' '} {describe_call(call)}" for call in calls[:_MAX_LISTED]
        )
        message = f"Expected {rule.text}, but {describe_call(violation)} violates it:\n\n{listed}{link}"
        return Verdict(False, message, violation.step_id)
    texts = ", ".join(rule.text for rule in rules)
    head = f"Expected the session to violate {texts}, but it did not."
    return Verdict(True, f"{head}\n{list_of_calls(calls)}{replay_line(session['session'])}")


def _require_names(*names: Any) -> None:
    for name in names:
        require_text(name, "The name of an action in a rule")
