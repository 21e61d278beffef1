"""Sessions start, end, nest and never mix."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import playhead

from .support import RecordingTest, outline


@playhead.record_action("work")
def work(key: str) -> str:
    return key


def run_agent(key: str) -> str:
    playhead.start_session(tags=["agent", key])
    try:
        result = work(key)
        playhead.record(
            playhead.ActionEvent(action_type="session_complete", params={"key": key}, returns={"n": 1})
        )
        playhead.end_session("Success")
        return result
    except Exception as error:
        playhead.end_session("Fail", end_state_reason=str(error))
        raise


def fail_midway(key: str) -> None:
    playhead.start_session(tags=[key])
    raise RuntimeError("before the end")


class SessionTest(RecordingTest):
    def test_a_session_is_scored_while_it_runs_and_after_its_end(self) -> None:
        playhead.start_session()
        work("a")
        session = playhead.get_session()
        session.score("helpful", True)
        playhead.end_session("Success")
        before = (len(session.steps), session.duration_ms)
        session.score("helpful", 0.25, comment="slow", source="user", id="u1")
        session.score("helpful", 0.75, id="u1")
        session.score("tone", "rude", step=session.steps[-1])
        session.score("", 1)
        session.score("helpful", float("nan"))
        self.assertEqual((len(session.steps), session.duration_ms), before)
        shown = [(score["name"], score["value"], score["source"]) for score in session.scores]
        self.assertEqual(
            shown, [("tone", "rude", "code"), ("helpful", 0.25, "user"), ("helpful", True, "code")]
        )
        whole = session.to_json()
        self.assertEqual(
            [(score["name"], score["value"], score.get("stepId")) for score in whole["session"]["scores"]],
            [("helpful", 0.25, None), ("tone", "rude", session.steps[-1].id)],
        )
        self.assertEqual(len(whole["scores"]), 3)

    def test_a_session_tells_all_of_itself_while_it_runs_and_after(self) -> None:
        playhead.start_session(tags=["support", "v2.1"], metadata={"plan": "pro"}, user_id="u1")
        work("a")
        session = playhead.get_session()
        self.assertEqual((session.end_state, session.duration_ms), ("running", None))
        playhead.add_tags("vip")
        playhead.set_metadata({"region": "eu"})
        playhead.end_session("Fail", end_state_reason="the customer could not be found")
        self.assertEqual(
            (session.end_state, session.end_state_reason), ("fail", "the customer could not be found")
        )
        self.assertEqual(session.tags, ["support", "v2.1", "vip"])
        self.assertEqual(session.metadata, {"plan": "pro", "region": "eu"})
        self.assertGreater(session.duration_ms, 0)
        self.assertEqual(playhead.get_session(session.id[:8]).id, session.id)
        self.assertEqual(playhead.get_session().id, session.id)
        self.assertIsNone(playhead.get_session("ffffffff"))

    def test_a_session_around_a_block_ends_as_the_block_does(self) -> None:
        with playhead.session("fine") as fine:
            work("a")
        self.assertEqual((fine.end_state, fine.name), ("success", "fine"))
        with self.assertRaises(KeyError), playhead.session("bad") as bad:
            raise KeyError("x")
        self.assertEqual((bad.end_state, bad.end_state_reason), ("fail", "KeyError: 'x'"))

    def test_a_session_inside_another_is_a_part_of_it_and_shows_its_own_steps(self) -> None:
        playhead.init(endpoint="http://127.0.0.1:9", silent=True)
        playhead.start_session(tags=["outer"])
        urls = []
        for key in ("a", "b"):
            playhead.start_session(tags=["variant"])
            run_agent(key)
            part = playhead.get_session()
            self.assertEqual([event.params for event in part.action_events], [{"key": key}, {"key": key}])
            self.assertEqual(part.tags, ["variant", "agent", key])
            urls.append(part.url)
            playhead.end_session("Success")
            self.assertEqual(part.end_state, "success")
        whole = playhead.get_session()
        playhead.end_session("Success")
        self.assertEqual(len(set(urls)), 2)
        self.assertTrue(all(url.startswith(f"{whole.url}?step=") for url in urls))
        self.assertEqual(len(whole.action_events), 4)
        self.assertEqual(
            outline(whole.steps)[:4],
            ["workflow session", "  workflow session", "    workflow session", "      action work"],
        )

    def test_whoever_ends_its_own_session_ends_what_failing_code_left_open_in_it(self) -> None:
        playhead.start_session(tags=["outer"])
        outer = playhead.get_session()
        try:
            fail_midway("inner")
        except RuntimeError:
            playhead.end_session("Fail")
        self.assertEqual(outer.end_state, "fail")

    def test_a_session_that_failing_code_left_open_does_not_swallow_the_next(self) -> None:
        for key in ("a", "b"):
            try:
                fail_midway(key)
            except RuntimeError:
                pass
        self.assertEqual(playhead.get_session().tags, ["b"])

    def test_tasks_side_by_side_have_sessions_of_their_own(self) -> None:
        async def agent(key: str) -> tuple[str, Any]:
            playhead.start_session(tags=[key])
            await asyncio.sleep(0.001)
            work(key)
            await asyncio.sleep(0.001)
            playhead.end_session("Success")
            session = playhead.get_session()
            return session.id, (session.tags, [event.params["key"] for event in session.action_events])

        async def main() -> list[Any]:
            return await asyncio.gather(*(agent(str(number)) for number in range(20)))

        results = asyncio.run(main())
        self.assertEqual([told for _, told in results], [([str(one)], [str(one)]) for one in range(20)])
        self.assertEqual(len({session_id for session_id, _ in results}), 20)

    def test_threads_side_by_side_have_sessions_of_their_own(self) -> None:
        found: dict[str, Any] = {}
        together = threading.Barrier(8)

        def agent(key: str) -> None:
            playhead.start_session(tags=[key])
            together.wait()
            work(key)
            together.wait()
            playhead.end_session("Success")
            session = playhead.get_session()
            found[session.id] = (session.tags, [event.params["key"] for event in session.action_events])

        threads = [threading.Thread(target=agent, args=(str(number),)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found.values()), [([str(one)], [str(one)]) for one in range(8)])

    def test_what_threads_and_pools_do_for_a_step_belongs_to_it(self) -> None:
        @playhead.record_action("in_parallel")
        def in_parallel(pool: ThreadPoolExecutor) -> None:
            list(pool.map(work, ["a", "b"]))
            thread = threading.Thread(target=work, args=("c",))
            thread.start()
            thread.join()
            asyncio.run(in_executor("d"))

        async def in_executor(key: str) -> None:
            await asyncio.get_running_loop().run_in_executor(None, work, key)

        with ThreadPoolExecutor(2) as pool:
            for _ in range(2):
                with playhead.session() as session:
                    in_parallel(pool)
                lines = outline(session.steps)
                self.assertEqual(
                    lines, ["workflow session", "  action in_parallel", *["    action work"] * 4]
                )

    def test_ending_twice_ends_no_other_session(self) -> None:
        is_open, is_checked = threading.Event(), threading.Event()
        states: list[str] = []

        def other() -> None:
            playhead.start_session(tags=["other"])
            is_open.set()
            is_checked.wait(5)
            states.append(playhead.get_session().end_state)
            playhead.end_session("Success")

        playhead.init(endpoint=False, silent=True)
        playhead.start_session()
        playhead.end_session("Success")
        thread = threading.Thread(target=other)
        thread.start()
        is_open.wait(5)
        playhead.end_session("Fail")
        is_checked.set()
        thread.join()
        self.assertEqual(states, ["running"])

    def test_a_child_process_can_be_part_of_the_session(self) -> None:
        code = (
            "import playhead; playhead.init(endpoint=False); s = playhead.start_session(tags=['child']); "
            "print(s.id, s.steps[0].parent_id)"
        )
        with playhead.session() as session:
            environment = {**os.environ, **playhead.session_environment()}
            child = subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
                timeout=30,
            )
        self.assertEqual(child.stdout.split(), [session.id, session.steps[0].id])

    def test_events_of_every_kind_become_steps(self) -> None:
        with playhead.session() as session:
            playhead.record(playhead.ToolEvent(name="search", params={"q": 1}, returns=[1], call_id="call_1"))
            usage = {"input": 1000, "output": 100, "cache_read": 500}
            playhead.record(playhead.LLMEvent(model="gpt-4o", prompt="hi", completion="hello", usage=usage))
            playhead.record(playhead.ErrorEvent(error_type="PolicyViolation", details="promises a refund"))
            playhead.record("nonsense")  # type: ignore[arg-type]
        self.assertEqual(
            outline(session.steps),
            ["workflow session", "  action search", "  llm gpt-4o", "  event PolicyViolation"],
        )
        self.assertEqual([error.message for error in session.errors], ["promises a refund"])
        # 500 tokens at $2.50, 500 from the cache at $1.25, 100 at $10 a million.
        self.assertAlmostEqual(session.cost, 0.002875)

    def test_the_cost_lacks_what_has_no_price_and_says_so(self) -> None:
        with playhead.session() as session:
            self.assertEqual(session.cost, 0.0)
            playhead.record(playhead.LLMEvent(model="no-such-model", usage={"input": 5, "output": 5}))
            self.assertIsNone(session.cost)
            playhead.record(playhead.LLMEvent(model="gpt-4o", usage={"input": 1000, "output": 100}))
        self.assertAlmostEqual(session.cost, 0.0035)
        self.assertEqual(session.unpriced_models, ["no-such-model"])

    def test_ended_sessions_are_kept_up_to_a_bound(self) -> None:
        playhead.init(endpoint=False, keep_sessions=2)
        ids = []
        for _ in range(4):
            with playhead.session() as session:
                ids.append(session.id)
        kept = [one for one in ids if playhead.get_session(one) is not None]
        self.assertEqual(kept, ids[-2:])
