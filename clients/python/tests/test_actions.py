"""A recorded function does what it did, and its calls are steps."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import inspect
import threading
import unittest.mock
import warnings
from typing import Any

import playhead

from .support import RecordingTest, outline, run_program


class ValueProblem(ValueError):
    pass


@playhead.record_action("add")
def add(left: int, right: int = 2, *more: int, scale: int = 1) -> int:
    return (left + right + sum(more)) * scale


@playhead.record_action("fail")
def fail(customer_id: Any) -> None:
    raise ValueProblem("customer_id cannot be None")


@playhead.record_action
async def fetch(key: str) -> dict[str, str]:
    await asyncio.sleep(0)
    return {"key": key}


@playhead.record_action("count")
def count(limit: int) -> Any:
    received = []
    for number in range(limit):
        received.append((yield number))
    return received


@playhead.record_action("speak")
async def speak(text: str) -> Any:
    for word in text.split():
        await asyncio.sleep(0)
        yield word + " "


def actions() -> list[Any]:
    session = playhead.get_session()
    assert session is not None
    return session.action_events


class ActionTest(RecordingTest):
    def test_arguments_are_recorded_by_name_and_results_as_they_are(self) -> None:
        with playhead.session():
            self.assertEqual(add(1, 2, 3, 4, scale=2), 20)
            add(1)
        first, second = actions()
        self.assertEqual(first.params, {"left": 1, "right": 2, "more": [3, 4], "scale": 2})
        self.assertEqual((first.action_type, first.returns, first.status), ("add", 20, "ok"))
        self.assertEqual(second.params, {"left": 1})

    def test_the_error_is_the_hosts_own_and_belongs_to_the_step_that_raised_it(self) -> None:
        @playhead.agent("outer")
        def outer() -> None:
            fail(None)

        error: Any = None
        with playhead.session():
            try:
                outer()
            except ValueProblem as caught:
                error = caught
        self.assertIs(type(error), ValueProblem)
        self.assertEqual(error.args, ("customer_id cannot be None",))
        self.assertEqual(vars(error), {})
        session = playhead.get_session()
        (owned,) = session.errors
        self.assertEqual((owned.type, owned.message), ("ValueProblem", "customer_id cannot be None"))
        self.assertEqual(owned.step.name, "fail")
        self.assertIn('raise ValueProblem("customer_id cannot be None")', owned.stack)
        self.assertNotIn("wrap_function", owned.stack)
        agent = next(step for step in session.steps if step.kind == "agent")
        self.assertTrue(agent.error.is_propagated)

    def test_causes_and_groups_are_kept(self) -> None:
        @playhead.record_action("chain")
        def chain() -> None:
            try:
                fail(None)
            except ValueProblem as cause:
                raise RuntimeError("could not answer") from cause

        with playhead.session(), self.assertRaises(RuntimeError):
            chain()
        step = next(step for step in playhead.get_session().steps if step.name == "chain")
        self.assertEqual((step.error.type, step.error.cause.type), ("RuntimeError", "ValueProblem"))

    def test_a_result_that_says_it_failed_is_a_soft_error(self) -> None:
        @playhead.record_action("search")
        def search() -> dict[str, str]:
            return {"error": "no such index"}

        with playhead.session():
            search()
        self.assertEqual([error.message for error in playhead.get_session().errors], ["no such index"])

    def test_functions_stay_what_frameworks_ask_them_to_be(self) -> None:
        self.assertTrue(inspect.iscoroutinefunction(fetch))
        self.assertTrue(inspect.isgeneratorfunction(count))
        self.assertTrue(inspect.isasyncgenfunction(speak))
        self.assertEqual(fetch.__name__, "fetch")
        self.assertEqual(list(inspect.signature(add).parameters), ["left", "right", "more", "scale"])

    def test_async_functions_are_recorded_until_they_are_done(self) -> None:
        async def main() -> None:
            self.assertEqual(await fetch("a"), {"key": "a"})

        with playhead.session():
            asyncio.run(main())
        (action,) = actions()
        self.assertEqual(
            (action.action_type, action.params, action.returns), ("fetch", {"key": "a"}, {"key": "a"})
        )

    def test_a_generator_passes_values_both_ways_and_its_body_alone_runs_in_it(self) -> None:
        with playhead.session():
            generator = count(3)
            self.assertEqual(next(generator), 0)
            add(1)
            self.assertEqual(generator.send("a"), 1)
            self.assertEqual(generator.send("b"), 2)
            with self.assertRaises(StopIteration) as stop:
                generator.send("c")
            self.assertEqual(stop.exception.value, ["a", "b", "c"])
        self.assertEqual(
            outline(playhead.get_session().steps), ["workflow session", "  action count", "  action add"]
        )
        self.assertEqual(actions()[0].returns, {"yielded": [0, 1, 2], "returned": ["a", "b", "c"]})

    def test_a_generator_that_is_closed_or_fails_is_over(self) -> None:
        @playhead.record_action("careful")
        def careful() -> Any:
            try:
                yield 1
            except KeyError:
                yield "caught"
            raise ValueProblem("late")

        with playhead.session():
            stopped = count(5)
            next(stopped)
            stopped.close()
            thrown = careful()
            next(thrown)
            self.assertEqual(thrown.throw(KeyError("x")), "caught")
            with self.assertRaises(ValueProblem):
                next(thrown)
        self.assertEqual([action.status for action in actions()], ["ok", "error"])
        self.assertEqual(actions()[0].returns, [0])

    def test_streamed_texts_are_one_text_with_the_time_of_each_piece(self) -> None:
        async def main() -> list[str]:
            return [word async for word in speak("one two three")]

        with playhead.session():
            self.assertEqual(asyncio.run(main()), ["one ", "two ", "three "])
        (action,) = actions()
        self.assertEqual(action.returns, "one two three ")
        step = next(step for step in playhead.get_session().steps if step.kind == "action")
        self.assertEqual([text for _, text in step.chunks], ["one ", "two ", "three "])

    def test_a_step_says_what_a_later_run_needs_to_give_its_result_again(self) -> None:
        @playhead.record_action("when")
        def when() -> Any:
            return {"at": datetime.datetime(2026, 11, 16, tzinfo=datetime.timezone.utc), "ids": {1}}

        @playhead.record_action("much")
        def much(text: str) -> str:
            return text

        playhead.init(endpoint=False, max_value_bytes=1000)
        with playhead.session(input={"text": "Hi"}) as session:
            when()
            asyncio.run(fetch("a"))
            list(count(2))
            much("x" * 2000)
            playhead.record(playhead.ActionEvent("note"))
        root, *actions = session.steps
        self.assertEqual(root.attributes["playhead.session.input"], '{"text":"Hi"}')
        kept = ("shape", "types")
        told = [
            [step.name, *(step.attributes.get(f"playhead.action.{name}") for name in kept)]
            for step in actions
        ]
        self.assertEqual(
            told,
            [
                ["when", "value", '{"/at":"date","/ids":"set"}'],
                ["fetch", "promise", None],
                ["count", "generator", None],
                ["much", "value", None],
                ["note", None, None],
            ],
        )
        cut = actions[3].attributes["playhead.truncated.of"]
        self.assertEqual(
            (cut, actions[4].attributes["playhead.step.reported"]), (["arguments", "result"], True)
        )

    def test_methods_are_recorded_without_their_object(self) -> None:
        class Tools:
            @playhead.record_action("plain")
            def plain(self, key: str) -> str:
                return key

            @playhead.record_action("of_class")
            @classmethod
            def of_class(cls, key: str) -> str:
                return key

            @staticmethod
            @playhead.record_tool("static", effect="write", description="changes a key")
            def static(key: str) -> str:
                return key

        with playhead.session():
            Tools().plain("a")
            Tools.of_class("b")
            Tools.static("c")
        found = [(action.action_type, action.params, action.effect) for action in actions()]
        expected = [
            ("plain", {"key": "a"}, None),
            ("of_class", {"key": "b"}, None),
            ("static", {"key": "c"}, "write"),
        ]
        self.assertEqual(found, expected)

    def test_a_call_outside_of_any_session_is_one_by_itself(self) -> None:
        add(1)
        add(2)
        self.assertEqual(playhead.get_session().id, "")

    def test_functions_are_recorded_where_warnings_are_errors(self) -> None:
        async def fetch() -> int:
            return 1

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain = playhead.record_action("plain")(lambda: 1)
            awaited = playhead.record_action("awaited")(fetch)
            mocked = playhead.record_action("mocked")(unittest.mock.AsyncMock(return_value=1))
        with playhead.session() as session:
            self.assertEqual((plain(), asyncio.run(awaited()), asyncio.run(mocked())), (1, 1, 1))
        self.assertEqual([one.returns for one in session.action_events], [1, 1, 1])
        self.assertTrue(inspect.iscoroutinefunction(awaited))

    def test_what_can_not_be_recorded_stays_what_it_is(self) -> None:
        # In a process of its own, because each process says it once.
        ended = run_program(
            "import playhead\n"
            "class Tool: pass\n"
            "print([playhead.record_action('tool')(Tool) is Tool for _ in range(2)])"
        )
        said = "playhead: tool is not recorded: decorate functions, or the methods of a class.\n"
        self.assertEqual((ended.stdout, ended.stderr), ("[True, True]\n", said))

    def test_before_init_functions_just_run(self) -> None:
        playhead.shutdown()
        self.assertEqual(add(1, 1), 2)
        self.assertEqual(list(count(2)), [0, 1])
        self.assertEqual(playhead.get_session().action_events, [])
        playhead.init(endpoint=False)


class Plan(enum.Enum):
    PRO = "pro"


@dataclasses.dataclass
class Customer:
    name: str
    plan: Plan


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class ValueTest(RecordingTest):
    def recorded(self, value: Any) -> Any:
        @playhead.record_action("look")
        def look(given: Any) -> None:
            return None

        with playhead.session():
            look(value)
        return actions()[0].params["given"]

    def test_values_are_shown_as_what_they_are(self) -> None:
        self.assertEqual(self.recorded(Customer("Ada", Plan.PRO)), {"name": "Ada", "plan": "pro"})
        self.assertEqual(self.recorded({"a": (1, 2.5, None), 3: {True}}), {"a": [1, 2.5, None], "3": [True]})
        self.assertEqual(self.recorded(float("nan")), "NaN")
        self.assertEqual(self.recorded(2**70), str(2**70))
        self.assertEqual(self.recorded(b"abc"), "[3 bytes]")
        self.assertEqual(self.recorded(threading.Lock()), "[lock]")
        self.assertEqual(self.recorded("half \ud800"), "half \ud800")

    def test_values_of_any_size_and_shape_are_kept_within_bounds(self) -> None:
        circle: list[Any] = []
        circle.append(circle)
        self.assertEqual(self.recorded(circle), ["[circular]"])
        deep: Any = "bottom"
        for _ in range(500):
            deep = [deep]
        self.assertIn("[deeper]", str(self.recorded(deep)))
        self.assertEqual(self.recorded(range(50_000)), list(range(50_000)))
        self.assertEqual(self.recorded(range(200_000))[-1], "… 140028 more")
        playhead.init(endpoint=False, max_value_bytes=1000)
        self.assertIn("of 50000 characters", self.recorded("x" * 50_000))

    def test_objects_that_fight_back_do_no_harm(self) -> None:
        self.assertEqual(self.recorded(Hostile()), "[Hostile]")
        self.assertIsNotNone(self.recorded(unittest.mock.MagicMock()))
