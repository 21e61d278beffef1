"""Checks what a session cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..format.numbers import describe_cost, format_cost, format_count, format_offset
from .required_argument import require_number
from .subject import SessionJson, SessionSubject, read_subject, replay_line
from .verdict import Verdict

_NO_USAGE = "no usage reported (OpenAI: stream_options.include_usage)"
_NO_OUTPUT = "no output tokens reported"
_MAX_LISTED = 20


def costs_less_than(
    subject: SessionSubject,
    usd: Optional[float] = None,
    *,
    tokens: Optional[float] = None,
    llm_calls: Optional[float] = None,
) -> Verdict:
    """Checks that a session cost less than a limit in US dollars, or stayed below several limits.

    If a model has no known price or a call reported no usage, the cost is undecided: both the check and its
    negation fail.
    """
    session = read_subject(subject)
    limits = {"usd": usd, "tokens": tokens, "llm_calls": llm_calls}
    if all(limit is None for limit in limits.values()):
        raise TypeError("Set a limit: usd, tokens or llm_calls.")
    for name, limit in limits.items():
        if limit is not None:
            require_number(limit, f"The limit {name}")
    summary = session["session"]
    cost = summary.get("cost")
    counted = _list_counted(session)
    if usd is not None and is_cost_incomplete(summary) and (cost or 0) < usd:
        message = (
            f"Expected the session to cost less than {format_cost(usd)}, but {_describe_unknown(summary)}"
        )
        return Verdict(False, f"{message}{counted}{replay_line(summary)}", is_undecided=True)
    used = total_tokens(summary.get("usage") or {}) or 0
    calls = summary.get("llmCallCount") or 0
    rows: list[tuple[bool, str]] = []
    if usd is not None:
        rows.append(((cost or 0) < usd, f"cost {format_cost(cost or 0)}, limit {format_cost(usd)}"))
    if tokens is not None:
        rows.append((used < tokens, f"{format_count(used)} tokens, limit {format_count(tokens)}"))
    if llm_calls is not None:
        rows.append((calls < llm_calls, f"{calls} model calls, limit {llm_calls}"))
    passed = all(is_kept for is_kept, _ in rows)
    head = (
        "Expected the session to exceed a limit, but it did not:"
        if passed
        else "Expected the session to stay below its limits:"
    )
    lines = "\n".join([head, *(f"  {'✓' if is_kept else '✗'} {text}" for is_kept, text in rows)])
    dearest = _most_expensive_call(session)
    return Verdict(passed, f"{lines}{counted}{replay_line(summary, dearest)}", dearest)


def is_cost_incomplete(summary: Mapping[str, Any]) -> bool:
    names = ("unpricedModels", "modelsWithoutUsage", "modelsWithoutOutput")
    return any(summary.get(name) for name in names)


def _describe_unknown(summary: Mapping[str, Any]) -> str:
    unpriced = summary.get("unpricedModels") or []
    reasons = [
        *([_NO_USAGE] if "modelsWithoutUsage" in summary else []),
        *([_NO_OUTPUT] if "modelsWithoutOutput" in summary else []),
    ]
    described = describe_cost(summary.get("cost"), unpriced, ", ".join(reasons) if reasons else None)
    remedy = (
        "Set the price in the project's settings, or limit tokens and llm_calls instead."
        if unpriced
        else "Ask for the usage, or limit llm_calls instead."
    )
    return f"its cost is unknown: {described}. {remedy}"


def total_tokens(usage: Mapping[str, Any]) -> Optional[float]:
    if "total" in usage:
        known: float = usage["total"]
        return known
    if "input" not in usage and "output" not in usage:
        return None
    total: float = (usage.get("input") or 0) + (usage.get("output") or 0)
    return total


def _list_counted(session: SessionJson) -> str:
    """Every step that counts, with its model, tokens and cost. The lines add up to the session's figures."""
    counted = _counted_steps(session)
    if not counted:
        return "\n\nCounted: no model calls."
    listed = counted[: _MAX_LISTED - 1] if len(counted) > _MAX_LISTED else counted
    rest = counted[len(listed) :]
    numbers = {step["id"]: index + 1 for index, step in enumerate(session["steps"])}
    lines = [
        f"  #{numbers[step['id']]} {format_offset(step.get('offsetMs') or 0)} "
        f"{step.get('model', step['name'])}: {_describe_figures([step])}"
        for step in listed
    ]
    if rest:
        lines.append(f"  and {len(rest)} more: {_describe_figures(rest)}")
    return "\n\nCounted:\n" + "\n".join(lines)


def _describe_figures(steps: Sequence[Mapping[str, Any]]) -> str:
    """For example "1,100 tokens, $0.0035"."""
    tokens = [
        total for total in (total_tokens(step.get("usage") or {}) for step in steps) if total is not None
    ]
    costs = [step["cost"] for step in steps if step.get("cost") is not None]
    unpriced = sum(step.get("cost") is None and not _is_output_unknown(step) for step in steps)
    parts = [f"{format_count(sum(tokens))} tokens" if tokens else "no usage reported"]
    if costs:
        parts.append(format_cost(sum(costs)))
    if tokens and unpriced:
        parts.append("no price" if len(steps) == 1 else f"{unpriced} without a price")
    if any(_is_output_unknown(step) for step in steps):
        parts.append(_NO_OUTPUT)
    return ", ".join(parts)


def _is_output_unknown(step: Mapping[str, Any]) -> bool:
    """Whether a call that ended well reported tokens, but not those of its output."""
    if step.get("kind") == "embedding" or step.get("status") not in ("ok", "soft-error"):
        return False
    usage = step.get("usage") or {}
    if step.get("costSource") == "reported" or not usage or "output" in usage:
        return False
    given, total = usage.get("input"), usage.get("total")
    return total is None or given is None or total <= given


def _counted_steps(session: SessionJson) -> list[Mapping[str, Any]]:
    """The steps whose tokens and cost make up the session's, and model calls that reported none."""
    steps = session["steps"]
    by_id = {step["id"]: step for step in steps}
    above_calls: set[str] = set()
    for step in steps:
        above = step.get("parentId") if step.get("kind") in ("llm", "embedding") else None
        while above is not None and above not in above_calls:
            above_calls.add(above)
            above = by_id.get(above, {}).get("parentId")
    return [step for step in steps if _is_counted(step, above_calls)]


def _is_counted(step: Mapping[str, Any], above_calls: set[str]) -> bool:
    if step.get("usageScope") is not None:
        return bool(step["usageScope"] == "call")
    return step.get("kind") in ("llm", "embedding") and step["id"] not in above_calls


def _most_expensive_call(session: SessionJson) -> Optional[str]:
    calls = [step for step in _counted_steps(session) if step.get("cost") is not None]
    return None if not calls else str(max(calls, key=lambda step: float(step["cost"]))["id"])
