"""What a call costs here is what it costs on the server."""

from __future__ import annotations

import json
import unittest

from playhead.prices.price import price_of
from playhead.step import Step

from .support import HERE


def step_of(provider: str | None, model: str, kind: str, usage: dict[str, int], started_ms: int) -> Step:
    return Step(
        id="1",
        parent_id=None,
        kind=kind,
        name=model,
        started_at="",
        ended_at="",
        offset_ms=0,
        duration_ms=0,
        status="ok",
        started_ns=started_ms * 1_000_000,
        usage=usage,
        model=model,
        provider=provider,
    )


class PriceTest(unittest.TestCase):
    def test_every_price_equals_the_one_of_the_typescript_side(self) -> None:
        cases = json.loads((HERE / "price_cases.json").read_text())
        found = [[*case[:5], price_of(step_of(*case[:5]))[0]] for case in cases]
        self.assertEqual([case for case, ours in zip(cases, found) if case != ours], [])
        self.assertGreater(len([case for case in cases if case[5] is not None]), 800)

    def test_an_unknown_price_is_none_and_never_zero(self) -> None:
        step = step_of("openai", "no-such-model", "llm", {"input": 10, "output": 2}, 1_763_000_000_000)
        self.assertEqual(price_of(step), (None, None))

    def test_what_the_sender_reports_counts_before_the_table(self) -> None:
        step = step_of("openai", "gpt-4o", "llm", {"input": 10, "output": 2}, 1_763_000_000_000)
        step.attributes = {"gen_ai.usage.cost": 0.5}
        self.assertEqual(price_of(step), (0.5, "reported"))
        step.attributes = {"gen_ai.usage.cost": 0}
        self.assertEqual(price_of(step)[1], "computed")
