"""What a call costs here is what it costs on the server."""

from __future__ import annotations

import json
import unittest

from playhead.prices.price import Call, price_of

from .support import HERE


def call_of(provider: str | None, model: str, kind: str, usage: dict[str, int], started_ms: int) -> Call:
    return Call("1", None, kind, "ok", started_ms * 1_000_000, model, None, provider, usage)


class PriceTest(unittest.TestCase):
    def test_every_price_equals_the_one_of_the_typescript_side(self) -> None:
        cases = json.loads((HERE / "price_cases.json").read_text())
        found = [[*case[:5], price_of(call_of(*case[:5]))[0]] for case in cases]
        self.assertEqual([case for case, ours in zip(cases, found) if case != ours], [])
        self.assertGreater(len([case for case in cases if case[5] is not None]), 800)

    def test_an_unknown_price_is_none_and_never_zero(self) -> None:
        call = call_of("openai", "no-such-model", "llm", {"input": 10, "output": 2}, 1_763_000_000_000)
        self.assertEqual(price_of(call), (None, "no-price"))

    def test_what_the_sender_reports_counts_before_the_table(self) -> None:
        call = call_of("openai", "gpt-4o", "llm", {"input": 10, "output": 2}, 1_763_000_000_000)
        self.assertEqual(price_of(call._replace(reported_cost=0.5)), (0.5, "reported"))
        self.assertEqual(price_of(call._replace(reported_cost=0))[1], "computed")
