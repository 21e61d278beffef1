"""The golden cases of the testing kit: the same file as in TypeScript, so that the two can't drift apart."""

from __future__ import annotations

import json
import math
import re
import unittest
from typing import Any, Callable

from playhead.testing import any_order, before, called, directly_before, expect, never_both, variations
from playhead.testing.agent_runs import FinishedRun, read_agent_options
from playhead.testing.called import has_no_loops
from playhead.testing.cost import costs_less_than
from playhead.testing.divergence import describe_divergence
from playhead.testing.judge_runs import judge_runs
from playhead.testing.limits import finishes_within, has_no_errors
from playhead.testing.order_rules import satisfies_order
from playhead.testing.statistics import Tries, judge_sequence, judge_share, pass_at_k, pass_hat_k, wilson
from playhead.testing.trajectory import called_in_order, has_effects, matches_trajectory
from playhead.testing.verdict import Verdict

from .support import ROOT

FOLDER = ROOT / "packages/playhead/test/testing"
GOLDEN = json.loads((FOLDER / "golden-cases.json").read_text("utf-8"))
DIVERGENCES = json.loads((FOLDER / "golden-divergences.json").read_text("utf-8"))
MATCHERS: dict[str, Callable[..., Verdict]] = {
    "toHaveCalled": called,
    "toHaveCalledInOrder": called_in_order,
    "toSatisfyOrder": satisfies_order,
    "toMatchTrajectory": matches_trajectory,
    "toHaveEffects": has_effects,
    "toCostLessThan": costs_less_than,
    "toFinishWithin": finishes_within,
    "toHaveNoErrors": has_no_errors,
    "toHaveNoLoops": has_no_loops,
}
TYPES = {"string": str, "number": float, "boolean": bool}
CHECKS = {
    "always": lambda _value: True,
    "never": lambda _value: False,
    "isText": lambda value: isinstance(value, str),
}
# What each language spells in its own way.
SPELLINGS = {
    "limit { tokens, llmCalls } instead": "limit tokens and llm_calls instead",
    "limit { llmCalls } instead": "limit llm_calls instead",
    "Any<String>": "any str",
    "Any<Number>": "any float",
    "Any<Boolean>": "any bool",
}


def to_snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


def decode(value: Any, name: str = "") -> Any:
    """Patterns, types, functions, groups and rules, which JSON does not have; modes in Python's spelling."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, str) and name == "mode":
        return to_snake_case(value)
    if not isinstance(value, dict):
        return value
    decoders: dict[str, Callable[[Any], Any]] = {
        "$pattern": re.compile,
        "$any": TYPES.__getitem__,
        "$check": CHECKS.__getitem__,
        "$anyOrder": lambda calls: any_order(decode(calls)),
        "$before": lambda names: before(*names),
        "$directlyBefore": lambda names: directly_before(*names),
        "$neverBoth": lambda names: never_both(*names),
    }
    for kind, given in value.items():
        if kind in decoders:
            return decoders[kind](given)
    return {key: decode(item, key) for key, item in value.items()}


def arguments_of(case: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """TypeScript's last argument, if it is an object, has the options."""
    positional = list(case["arguments"])
    has_options = positional and isinstance(positional[-1], dict) and case["matcher"] != "toSatisfyOrder"
    options = positional.pop() if has_options else {}
    return [decode(value) for value in positional], {
        to_snake_case(name): decode(value, name) for name, value in options.items()
    }


def spell(message: str) -> str:
    for typescript, python in SPELLINGS.items():
        message = message.replace(typescript, python)
    return message


class GoldenCases(unittest.TestCase):
    maxDiff = None

    def test_matchers(self) -> None:
        for index, case in enumerate(GOLDEN["matchers"]):
            with self.subTest(index=index, matcher=case["matcher"], arguments=case["arguments"]):
                self.check_matcher(case)

    def check_matcher(self, case: dict[str, Any]) -> None:
        session = GOLDEN["sessions"][case["session"]]
        if case.get("throws"):
            with self.assertRaises(TypeError):
                positional, options = arguments_of(case)
                MATCHERS[case["matcher"]](session, *positional, **options)
            return
        positional, options = arguments_of(case)
        verdict = MATCHERS[case["matcher"]](session, *positional, **options)
        self.assertEqual(verdict.message, spell(case["message"]))
        found = (verdict.passed, verdict.is_undecided, verdict.step_id)
        self.assertEqual(found, (case["passed"], case.get("isUndecided", False), case.get("stepId")))
        for is_not in (False, True):
            expectation = expect(session).not_ if is_not else expect(session)
            must_fail = verdict.is_undecided or verdict.passed == is_not
            try:
                getattr(expectation, to_snake_case(case["matcher"]))(*positional, **options)
            except AssertionError:
                self.assertTrue(must_fail)
            else:
                self.assertFalse(must_fail)

    def test_statistics(self) -> None:
        for case in GOLDEN["statistics"]:
            with self.subTest(case["function"], arguments=case["arguments"]):
                found = STATISTICS[case["function"]](*case["arguments"])
                self.assert_close(found, case["result"])

    def assert_close(self, found: Any, expected: Any) -> None:
        if isinstance(expected, dict):
            self.assertEqual(set(found), set(expected))
            for name, value in expected.items():
                self.assert_close(found[name], value)
        elif isinstance(expected, list):
            self.assertEqual(len(found), len(expected))
            for one, value in zip(found, expected):
                self.assert_close(one, value)
        elif expected is None:
            self.assertTrue(found is None or math.isnan(found))
        elif isinstance(expected, str):
            self.assertEqual(found, expected)
        else:
            self.assertAlmostEqual(found, expected, places=12)

    def test_judgements(self) -> None:
        for index, case in enumerate(GOLDEN["judgements"]):
            with self.subTest(index=index, options=case["options"]):
                runs = [
                    FinishedRun(**{to_snake_case(name): value for name, value in run.items()})
                    for run in case["runs"]
                ]
                given = {to_snake_case(name): value for name, value in case["options"].items()}
                options = read_agent_options(**given)
                planned, is_spent = case["planned"], case["isBudgetSpent"]
                found = judge_runs({"name": "any words"}, runs, planned, options, is_spent)
                self.assertEqual(found.failure, case["failure"])
                self.assert_close(found.result, case["result"])

    def test_variations(self) -> None:
        for case in GOLDEN["variations"]:
            with self.subTest(text=case["text"], rules=case["rules"]):
                made = variations(case["text"], seed=case["seed"])
                for rule, *args in case["rules"]:
                    options = args.pop() if args and isinstance(args[-1], dict) else {}
                    getattr(made, to_snake_case(rule))(*args, **options)
                self.assertEqual(list(made), case["result"])

    def test_divergences(self) -> None:
        for case in DIVERGENCES["cases"]:
            with self.subTest(case["name"]):
                found = describe_divergence(DIVERGENCES["session"], change(case))
                self.assertEqual(found, case["result"])


def change(case: dict[str, Any]) -> dict[str, Any]:
    """The session of the divergences with the changes of a case."""
    steps: list[dict[str, Any]] = []
    for step in DIVERGENCES["session"]["steps"]:
        own = case.get("steps", {}).get(step["id"], {})
        steps += [] if own is None else [{**step, **own}]
        steps += case.get("after", {}).get(step["id"], [])
    if "order" in case:
        by_id = {step["id"]: step for step in steps}
        steps = [by_id[step_id] for step_id in case["order"]]
    return {"session": {**DIVERGENCES["session"]["session"], "id": "f" * 32}, "steps": steps}


def to_tries(inputs: list[list[int]]) -> list[Tries]:
    return [Tries(*pair) for pair in inputs]


STATISTICS: dict[str, Callable[..., Any]] = {
    "wilson": lambda *args: wilson(*args)._asdict(),
    "judgeShare": lambda passed, total, minimum, confidence: judge_share(
        Tries(passed, total), minimum, confidence
    ),
    "judgeSequence": lambda passed, failed, options: judge_sequence(passed, failed, **options),
    "passAtK": lambda inputs, k: pass_at_k(to_tries(inputs), k),
    "passHatK": lambda inputs, k: pass_hat_k(to_tries(inputs), k),
}
