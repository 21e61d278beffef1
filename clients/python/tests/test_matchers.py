"""Matchers of live sessions, of recordings and of sessions from the server."""

from __future__ import annotations

import datetime
import re
import unittest
from typing import Any
from unittest import mock

import playhead
from playhead.runtime import obtain_runtime
from playhead.testing import before, called, expect, fetch_session, open_recording

from .support import ENDPOINT, RecordingTest
from .test_delivery import StandIn


@playhead.record_action("fetch_customer_data", effect="read")
def fetch_customer(customer_id: Any) -> dict[str, Any]:
    if customer_id is None:
        raise TypeError("customer_id must not be None")
    return {"id": customer_id}


@playhead.record_action("issue_refund", effect="write")
def refund(invoice: str, *, amount: float = 12.5, due: Any = None) -> None:
    pass


def run_billing() -> playhead.SessionView:
    with playhead.session("billing") as session:
        playhead.record(playhead.LLMEvent(model="gpt-4o", prompt_tokens=1000, completion_tokens=100))
        fetch_customer("c_42")
        refund("INV-7", amount=12.5, due=datetime.date(2026, 11, 17))
    return session


class MatcherTest(RecordingTest):
    def check(self, session: Any) -> None:
        expect(session).to_have_called("fetch_customer_data", args=["c_42"], times=1)
        expect(session).to_have_called_in_order(["fetch_customer_data", "issue_refund"], exact=True)
        expect(session).to_satisfy_order(before("fetch_customer_data", "issue_refund"))
        expect(session).to_have_effects([{"tool": "issue_refund", "args": {"invoice": "INV-7"}}])
        expect(session).to_cost_less_than(0.01, llm_calls=2)
        expect(session).to_finish_within("20s", per_tool={"issue_refund": datetime.timedelta(seconds=20)})
        expect(session).to_have_no_errors()
        expect(session).to_have_no_loops()
        expect(session).not_.to_have_called("delete_account")
        expect(session).not_.to_cost_less_than(0.001)

    def test_a_judge_that_the_user_writes(self) -> None:
        playhead.init(endpoint=False)
        with playhead.session("judged") as session:
            fetch_customer("c_42")

            @playhead.record_action("ask_model")
            def ask_model(steps: int) -> float:
                return steps / 10

            def judge(given: Any) -> dict[str, Any]:
                return {"value": ask_model(len(given["steps"])), "comment": "too short"}

            said = "it said 0.[0-9], at least 0.9 was expected.\n  too short"
            expected = f'judge "long" to accept the session, but {said}'
            with self.assertRaisesRegex(AssertionError, expected):
                expect(session).to_be_judged(judge, at_least=0.9, name="long")
            expect(session).not_.to_be_judged(judge, at_least=0.9, name="long")
            expect(session).to_be_judged(lambda given: True)

            async def later(given: Any) -> bool:
                return True

            for wrong in (lambda given: "nice", later, "x"):
                with self.assertRaises(TypeError):
                    expect(session).to_be_judged(wrong)  # type: ignore[arg-type]
        # What the judge calls is a step like any other.
        expect(session).to_have_called("ask_model", times=2)
        scores = [(score["name"], score["source"], score.get("comment")) for score in session.scores]
        long = ("long", "model", "too short")
        self.assertEqual(scores, [("judge", "model", None), long, long])

    def test_a_live_session_and_its_recording(self) -> None:
        folder = self.folder()
        playhead.init(endpoint=False, dir=str(folder))
        session = run_billing()
        self.check(session)
        playhead.flush()
        (file,) = folder.glob("*.jsonl")
        self.check(open_recording(file))
        self.assertIn("npx playhead show ", called(session, "delete_account").message)

    def test_a_session_that_still_runs(self) -> None:
        with playhead.session("open") as session:
            fetch_customer("c_1")
            expect(session).to_have_called("fetch_customer_data")
            expect(session).to_finish_within("20s")
            expect(session).to_cost_less_than(0.01)

    def test_arguments_are_matched_as_python_writes_them(self) -> None:
        session = run_billing()
        for args in (
            {"invoice": str, "amount": float},
            {"invoice": re.compile("^inv", re.IGNORECASE), "amount": mock.ANY},
            ("INV-7", 12.5),
            {"due": datetime.date(2026, 11, 17)},
            lambda args: args["amount"] < 20,
            {"amount": lambda amount: 12 < amount < 13},
        ):
            expect(session).to_have_called("issue_refund", args=args)
        expect(session).not_.to_have_called("issue_refund", args={"invoice": int})
        with self.assertRaisesRegex(AssertionError, 'invoice: expected any int, got "INV-7"'):
            expect(session).to_have_called("issue_refund", args={"invoice": int})

    def test_an_unknown_price_fails_with_a_sentence_and_so_does_its_opposite(self) -> None:
        with playhead.session("unpriced") as session:
            playhead.record(playhead.LLMEvent(model="house-model", prompt_tokens=10, completion_tokens=1))
        self.assertIsNone(session.cost)
        for expectation in (expect(session), expect(session).not_):
            with self.assertRaisesRegex(AssertionError, "its cost is unknown: .*no price for house-model"):
                expectation.to_cost_less_than(0.01)
        expect(session).to_cost_less_than(tokens=100)

    def test_errors_that_were_caught_can_be_allowed(self) -> None:
        with playhead.session("caught") as session:
            try:
                fetch_customer(None)
            except TypeError:
                pass
            expect(session).to_have_no_errors(allow_handled=True)
            with self.assertRaisesRegex(AssertionError, "1 error:\n  #2 fetch_customer_data: TypeError: "):
                expect(session).to_have_no_errors()

    def test_what_can_not_be_compared_is_said(self) -> None:
        async def later(_value: Any) -> bool:
            return True

        session = run_billing()
        with self.assertRaisesRegex(TypeError, "not a session"):
            expect({})
        with self.assertRaisesRegex(TypeError, "must not be async"):
            expect(session).to_have_called("issue_refund", args=[later])
        with self.assertRaisesRegex(TypeError, "Set a limit"):
            expect(session).to_cost_less_than()
        with self.assertRaisesRegex(TypeError, "this one has arguments as well"):
            expect(session).to_have_effects([{"tool": "issue_refund", "arguments": {}}])

    def test_files_that_are_no_recordings(self) -> None:
        file = self.folder() / "other.json"
        with self.assertRaisesRegex(OSError, "can't be read"):
            open_recording(file)
        for text, problem in (("{", "not JSON"), ("{}", "not a Playhead"), ('{"version": 9}', "newer")):
            file.write_text(text)
            with self.assertRaisesRegex(ValueError, problem):
                open_recording(file)

    def test_only_the_server_of_init_gets_its_key(self) -> None:
        servers = [StandIn(), StandIn()]
        for server in servers:
            self.addCleanup(server.stop)
        playhead.init(endpoint=servers[0].url, api_key="ph_of_init", silent=True)
        with mock.patch.dict("os.environ", PLAYHEAD_API_KEY="", AGENTOPS_API_KEY=""):
            for url in ("", f"{servers[0].url}/sessions/", f"{servers[1].url}/sessions/"):
                with self.assertRaises((OSError, ValueError)):
                    fetch_session(f"{url}1a2b3c4d")
        self.assertEqual(servers[0].keys, ["Bearer ph_of_init"] * 2)
        self.assertEqual(servers[1].keys, [None])

    @unittest.skipIf(ENDPOINT == "", "run scripts/test-python.mjs")
    def test_a_session_of_the_server(self) -> None:
        playhead.init(endpoint=ENDPOINT)
        session = run_billing()
        playhead.flush()
        self.check(session)
        self.check(fetch_session(session.url))
        self.check(fetch_session(session.id, endpoint=ENDPOINT))
        with mock.patch.dict("os.environ", PLAYHEAD_ENDPOINT="http://127.0.0.1:9"):
            self.check(fetch_session(session.id))
        step_id = session.action_events[0].step_id
        message = called(session, "fetch_customer_data", args=["c_43"]).message
        self.assertTrue(message.endswith(f"Replay: {ENDPOINT}/sessions/{session.id}?step={step_id}"))
        with self.assertRaisesRegex(OSError, "Can't get .*: it responded with 404"):
            fetch_session("0" * 32, endpoint=ENDPOINT)
        obtain_runtime().options.clear()
