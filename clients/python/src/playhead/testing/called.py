"""Checks that an action was called, with which arguments and how often; and that no call is a loop."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..format.numbers import count_of
from .calls import MISSING, Call, calls_of
from .expected_call import describe_call
from .match_arguments import ArgumentOptions, Mismatch, describe, find_mismatch, require_arguments
from .required_argument import require_number, require_text, require_texts
from .subject import SessionSubject, read_subject, replay_line
from .verdict import Verdict

_DEFAULT_MAX_REPEATS = 2


def called(
    subject: SessionSubject,
    name: str,
    *,
    args: Any = None,
    times: Optional[int] = None,
    agent: Optional[str] = None,
    mode: str = "partial",
    ignore: Sequence[str] = (),
    defaults: Optional[Mapping[str, Any]] = None,
) -> Verdict:
    """Checks that an action was called. `agent` counts only calls inside that sub-agent."""
    session = read_subject(subject)
    require_text(name, "The name of the action")
    options = ArgumentOptions(mode, ignore, {} if defaults is None else defaults)
    require_arguments(args, options)
    if times is not None:
        require_number(times, "The option times", least=0, is_whole=True)
    if agent is not None:
        require_text(agent, "The option agent")
    calls = calls_of(session, frozenset() if agent is None else {agent})
    if agent is not None:
        calls = [inner for call in calls for inner in call.inside or ()]
    named = [call for call in calls if call.name == name]
    mismatches = [None if args is None else find_mismatch(call.args, args, options) for call in named]
    matching = [call for call, found in zip(named, mismatches) if found is None]
    passed = bool(matching) if times is None else len(matching) == times
    wanted = name + _describe_wanted(args, agent) + ("" if times is None else f" {_describe_times(times)}")
    if passed:
        shown = matching[0] if matching else None
        head = f"Expected the session not to call {wanted}, but it did:"
        details = [f"  {describe_call(call)}" for call in matching]
    else:
        shown = named[0] if named else None
        head = f"Expected the session to call {wanted}, but {_describe_actual(named, matching)}"
        details = _describe_named(named, mismatches) or [list_of_calls(calls)]
    step_id = None if shown is None else shown.step_id
    lines = "\n".join(details)
    return Verdict(passed, f"{head}\n{lines}{replay_line(session['session'], step_id)}", step_id)


def _describe_wanted(args: Any, agent: Optional[str]) -> str:
    given = "" if args is None else f" with {'matching arguments' if callable(args) else describe(args)}"
    return given + ("" if agent is None else f" inside {agent}")


def _describe_named(named: Sequence[Call], mismatches: Sequence[Optional[Mismatch]]) -> list[str]:
    return [
        f"  {describe_call(call)}" + ("" if found is None else f"\n      {found}")
        for call, found in zip(named, mismatches)
    ]


def _describe_actual(named: Sequence[Call], matching: Sequence[Call]) -> str:
    if not named:
        return "it did not."
    if not matching:
        return "the arguments were different:"
    return f"it did {_describe_times(len(matching))}:"


def _describe_times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else count_of(count, "time")


def list_of_calls(calls: Sequence[Call]) -> str:
    names = list(dict.fromkeys(call.name for call in calls))
    return f"  It called: {', '.join(names)}." if names else "  It made no calls."


def has_no_loops(
    subject: SessionSubject, *, max: int = _DEFAULT_MAX_REPEATS, allow: Sequence[str] = ()
) -> Verdict:
    """Checks that no call with the same arguments was made more than `max` times. `allow` names actions that
    may repeat, such as polling."""
    session = read_subject(subject)
    require_number(max, "The option max", least=0, is_whole=True)
    require_texts(allow, "The option allow")
    same: dict[str, list[Call]] = {}
    for call in calls_of(session):
        if call.name not in allow:
            same.setdefault(_key_of(call), []).append(call)
    repeated = [calls for calls in same.values() if len(calls) > max]
    if not repeated:
        message = f"Expected the session to repeat a call more than {max} times, but it did not."
        return Verdict(True, message + replay_line(session["session"]))
    lines = [
        f"  {len(calls)} times: {describe_call(calls[0])}"
        + "".join(f", #{call.number}" for call in calls[1:])
        for calls in repeated
    ]
    step_id = repeated[0][max].step_id
    message = "\n".join([f"Expected no call to be repeated more than {max} times:", *lines])
    return Verdict(False, message + replay_line(session["session"], step_id), step_id)


def _key_of(call: Call) -> str:
    """Equal for the same call, whatever the order of the argument's keys."""
    return json.dumps([call.name, None if call.args is MISSING else call.args], sort_keys=True, default=str)
