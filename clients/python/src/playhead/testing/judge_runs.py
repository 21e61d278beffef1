"""Judges all runs of an agent test together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

from ..format.json_text import quote_json
from ..format.numbers import count_of, format_cost, format_percent
from .agent_runs import AgentTestOptions, FinishedRun
from .statistics import Tries, judge_share, pass_at_k, pass_hat_k, wilson
from .subject import replay_link

_MAX_VARIANTS = 40
_REASON_END = re.compile(r"\. Expected .*$|:$")


class Judged(NamedTuple):
    # As the report reads it.
    result: dict[str, Any]
    # Why the test fails; None if it passes.
    failure: Optional[str]


def judge_runs(
    test: Mapping[str, Any],
    runs: Sequence[FinishedRun],
    planned: int,
    options: AgentTestOptions,
    is_budget_spent: bool,
) -> Judged:
    tries = Tries(sum(run.is_passed for run in runs), len(runs))
    is_cut_short = is_budget_spent and tries.total < planned
    verdict = _verdict_of(tries, is_cut_short, options)
    is_tolerated = verdict == "inconclusive" and _is_tolerated(tries, is_cut_short, options)
    is_failed = verdict == "fail" or (verdict == "inconclusive" and not is_tolerated)
    rate = options.pass_rate
    confidence = 0.95 if rate is None else rate.confidence
    by_variant = list(_by_variant(runs).values())
    variants = [Tries(sum(run.is_passed for run in ofs), len(ofs)) for ofs in by_variant]
    ks = range(1, min((one.total for one in variants), default=0) + 1)
    costs = [run.cost for run in runs if run.cost is not None]
    result: dict[str, Any] = {
        "kind": "agent-test",
        "test": dict(test),
        "verdict": verdict,
        "isFailed": is_failed,
        "passed": tries.passed,
        "total": tries.total,
        "planned": planned,
        "interval": wilson(tries.passed, tries.total, confidence)._asdict(),
        "confidence": confidence,
        "minimum": 1 if rate is None else rate.minimum,
        "cost": sum(costs) if costs else None,
        "passAtK": [pass_at_k(variants, k) for k in ks],
        "passHatK": [pass_hat_k(variants, k) for k in ks],
    }
    note = _describe_result(result, runs, is_cut_short, options)
    if note:
        result["note"] = note
    return Judged(result, _describe_failure(result, runs, options) if is_failed else None)


def _verdict_of(tries: Tries, is_cut_short: bool, options: AgentTestOptions) -> str:
    failed = tries.total - tries.passed
    if not isinstance(options.repeat, int):
        # May have been certain already, although the budget is spent.
        return options.repeat.judge(tries.passed, failed)
    if options.pass_rate is not None:
        verdict = judge_share(tries, options.pass_rate.minimum, options.pass_rate.confidence)
    else:
        verdict = "fail" if failed > 0 else "pass"
    # The runs that were left out could have failed.
    return "inconclusive" if is_cut_short and verdict == "pass" else verdict


def _is_tolerated(tries: Tries, is_cut_short: bool, options: AgentTestOptions) -> bool:
    if options.inconclusive is not None:
        return options.inconclusive == "pass"
    if is_cut_short or options.pass_rate is None or tries.total == 0:
        return False
    return tries.passed / tries.total >= options.pass_rate.minimum


def _describe_result(
    result: Mapping[str, Any], runs: Sequence[FinishedRun], is_cut_short: bool, options: AgentTestOptions
) -> str:
    """What the figures alone don't say: that the budget ran out or could not be kept, and why an inconclusive
    test failed."""
    is_inconclusive = result["verdict"] == "inconclusive"
    unknown = sum(run.is_cost_incomplete for run in runs)
    notes = []
    if is_cut_short:
        so = ", so the result is inconclusive" if is_inconclusive else ""
        notes.append(f"The budget ran out after {result['total']} of {result['planned']} runs{so}.")
    if options.has_dollar_budget and unknown > 0:
        ofs = count_of(unknown, "run")
        notes.append(
            f"The budget in US dollars does not include all calls of {ofs}, because their price is unknown."
        )
    if is_inconclusive and result["isFailed"] and not is_cut_short:
        notes.append(
            "The result is inconclusive, which counts as failed here (inconclusive: 'fail')."
            if options.inconclusive == "fail"
            else "The result is inconclusive, and fewer runs passed than the required "
            f"{format_percent(result['minimum'])}."
        )
    return " ".join(notes)


def _by_variant(runs: Sequence[FinishedRun]) -> dict[str, list[FinishedRun]]:
    found: dict[str, list[FinishedRun]] = {}
    for run in runs:
        found.setdefault(run.variant, []).append(run)
    return found


def _describe_failure(
    result: Mapping[str, Any], runs: Sequence[FinishedRun], options: AgentTestOptions
) -> str:
    by_variant = _by_variant(runs)
    failing = {variant: ofs for variant, ofs in by_variant.items() if any(not run.is_passed for run in ofs)}
    parts: list[str] = []
    if failing:
        parts.append(f"Agent failed on {len(failing)}/{len(by_variant)} variants:")
        parts += [_describe_variant(*one) for one in list(failing.items())[:_MAX_VARIANTS]]
    if len(failing) > _MAX_VARIANTS:
        parts.append(f"  … {len(failing) - _MAX_VARIANTS} more")
    note = result.get("note")
    if options.pass_rate is not None or note is not None:
        parts.append(_describe_rate(result))
    if note is not None:
        parts.append(note)
    first = next((run for ofs in failing.values() for run in ofs if not run.is_passed), None)
    if first is not None and first.message is not None and "\n" in first.message:
        parts += ["", f"{quote_json(first.variant)}:", first.message]
    return "\n".join(parts)


def _describe_variant(variant: str, runs: Sequence[FinishedRun]) -> str:
    failed = [run for run in runs if not run.is_passed]
    first = failed[0]
    line = ("failed" if first.message is None else first.message).split("\n", 1)[0]
    often = "" if len(runs) == 1 else f" ({len(failed)} of {len(runs)} runs)"
    lines = [f"  - {quote_json(variant)}{often}: {_REASON_END.sub('', line, count=1)}"]
    divergence = next((run.divergence for run in failed if run.divergence is not None), None)
    if divergence is not None:
        lines.append(f"first divergence from a passing run: {divergence}")
    link = replay_link({"id": first.session_id, "url": first.url}, first.step_id)
    if link != "":
        lines.append(link)
    return "\n    ".join(lines)


def _describe_rate(result: Mapping[str, Any]) -> str:
    """For example "27 of 30 runs passed: 90% [74%–97% with 95% confidence], required 95%; inconclusive."."""
    passed, total, interval = result["passed"], result["total"], result["interval"]
    share = ""
    if total > 0:
        low, high = format_percent(interval["low"]), format_percent(interval["high"])
        certainty = f"{format_percent(result['confidence'])} confidence"
        share = f": {format_percent(passed / total)} [{low}–{high} with {certainty}]"
    cost = "" if result["cost"] is None else f" Cost {format_cost(result['cost'])}."
    required = format_percent(result["minimum"])
    return f"{passed} of {total} runs passed{share}, required {required}; {result['verdict']}.{cost}"
