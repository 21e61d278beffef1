"""Nothing raises, whatever it is called with, and innocent sessions beside it arrive whole."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import tracemalloc
import types
from typing import Any, Callable, ClassVar

import playhead
from playhead.capture.content_writer import ContentWriter
from playhead.deliver.encode import encode_spans
from playhead.deliver.export_response import read_export_response
from playhead.deliver.send import Target
from playhead.deliver.spool import MAX_BYTES, Spool
from playhead.host_value import MAX_FIELDS, to_fields, to_names
from playhead.redaction.redact import Redactor
from playhead.reporter import Reporter
from playhead.runtime import obtain_runtime
from playhead.serialize import SerializeOptions, serialize_value
from playhead.session_record import SessionRecord
from playhead.span import Span

from .hostile import EndlessList, Generator, HostError, Trapped
from .support import RecordingTest
from .test_delivery import StandIn, spans_of

# A sample; `npm run test:python -- --long` makes 1,000 of each.
CALLS = int(os.environ.get("PLAYHEAD_HOSTILE_CALLS", "40"))
CALLS_PER_SESSION = 20
# Texts would send steps elsewhere, write files, or mask what is compared.
NOT_GENERATED = {"endpoint", "dir", "redact"}


@playhead.record_action("act")
def act(text: str) -> str:
    return text


class AnyArguments(RecordingTest):
    settings: ClassVar[dict[str, Any]] = {"endpoint": False, "silent": True}

    def setUp(self) -> None:
        self.server = StandIn()
        self.addCleanup(self.server.stop)
        type(self).settings = {"endpoint": self.server.url, "silent": True, "capture_llm": False}
        super().setUp()

    def call_often(self, call: Callable[[Generator], Any]) -> None:
        names = []
        for index in range(CALLS):
            settle(call, Generator(index))
            if index % CALLS_PER_SESSION == 0:
                names.append(f"innocent {index}")
                with playhead.session(names[-1]):
                    act("a")
                    act("b")
        is_sent = playhead.flush()
        state = (is_sent, playhead.stats(), obtain_runtime().last_fault)
        spans = [span for _, body in self.server.requests for span in spans_of(body)]
        roots = {span["name"]: span["spanId"] for span in spans if span["name"].startswith("innocent")}
        self.assertEqual(sorted(roots), sorted(names), state)
        for name in names:
            inside = [span["name"] for span in spans if span.get("parentSpanId") == roots[name]]
            self.assertEqual(inside, ["act", "act"])

    def test_every_public_function_raises_nothing(self) -> None:
        public = [
            getattr(playhead, name)
            for name in playhead.__all__
            if name not in ("__version__", "PlayheadEvent")
        ]
        for function in public:
            with self.subTest(function.__name__):
                self.server.requests.clear()
                playhead.init(**self.settings)
                self.call_often(lambda generator, function=function: call_any(function, generator))
                playhead.init(**self.settings)

    def test_rules_for_redaction_raise_nothing(self) -> None:
        for index in range(CALLS):
            generator = Generator(index)
            for rules in (generator.value(), generator.values()):
                playhead.init(endpoint=False, silent=True, redact=rules)
                act("text")
                self.assertIsInstance(obtain_runtime().redactor.text("text", "key"), str)

    def test_recorded_functions_only_raise_what_the_host_raises(self) -> None:
        def call(generator: Generator) -> None:
            for decorate in (playhead.record_action, playhead.record_tool, playhead.agent):
                name = generator.value()
                # Without a name it decorates what it is given.
                call_decorated(decorate(None if callable(name) else name), generator)

        self.call_often(call)


def call_any(function: Any, generator: Generator) -> None:
    """Call it with any values for its parameters, and use what it returns."""
    parameters = inspect.signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
    options = generator.options([name for name in names if name not in NOT_GENERATED])
    required = {
        one.name: generator.value()
        for one in parameters
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    }
    variable = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    arguments = generator.values() if variable else []
    given = {**required, **options}
    if function is playhead.init:
        given["endpoint"] = AnyArguments.settings["endpoint"]
    result = function(*arguments, **given) if not variable else function(*arguments)
    if function is playhead.session:
        with result as view:
            read(view)
    elif type(result) is playhead.SessionView:
        read(result)
    elif type(result) is types.FunctionType and not any(map(callable, given.values())):
        call_decorated(result, generator)
    elif type(result) in (playhead.ActionEvent, playhead.ToolEvent, playhead.LLMEvent, playhead.ErrorEvent):
        playhead.record(result)
    if function is playhead.start_session:
        playhead.end_session("Success")
    if function is playhead.shutdown:
        playhead.init(**AnyArguments.settings)


def read(view: playhead.SessionView) -> Any:
    return view.steps, view.tags, view.cost, view.url


def call_decorated(decorate: Any, generator: Generator) -> None:
    recorded = decorate(generator.function())
    # A staticmethod is called through its class.
    if type(recorded) is not staticmethod:
        settle(lambda one: recorded(one.value()), generator)


def settle(call: Callable[[Generator], Any], generator: Generator) -> None:
    """Only what the host's own function raises may come out."""
    try:
        result = call(generator)
        if type(result) is types.GeneratorType:
            list(result)
        elif type(result) is types.CoroutineType:
            result.close()
    except HostError:
        pass


class BadValues(RecordingTest):
    settings: ClassVar[dict[str, Any]] = {"endpoint": False, "silent": True}

    def test_names_that_are_no_text_cost_nothing_but_themselves(self) -> None:
        with playhead.session(4711, tags=["a", 5]) as session:  # type: ignore[arg-type,list-item]
            playhead.record_action(42)(lambda: 1)()  # type: ignore[call-overload]
            playhead.record(playhead.ActionEvent(action_type=43))  # type: ignore[arg-type]
            act("innocent")
        self.assertEqual([step.name for step in session.steps], ["4711", "42", "43", "act"])
        self.assertEqual(session.tags, ["a", "5"])

    def test_integers_that_python_refuses_to_write_are_read_back_as_text(self) -> None:
        huge, large = 10**5000, 10**30
        folder = self.folder()
        playhead.init(endpoint=False, dir=str(folder), silent=True)
        with playhead.session("huge", metadata={"count": huge}) as session:
            act(huge)  # type: ignore[arg-type]
            act(large)  # type: ignore[arg-type]
            playhead.record(playhead.ActionEvent(action_type="told", params={"n": huge}, returns=huge))
            playhead.record(
                playhead.LLMEvent(model="gpt-4o", prompt=huge, completion="b", prompt_tokens=huge)
            )
        label = f"[integer of {huge.bit_length()} bits]"
        outputs = [step.output for step in session.steps if step.kind == "action"]
        self.assertEqual(outputs, [label, str(large), label])
        self.assertEqual(session.to_json()["session"]["metadata"], {"count": label})
        playhead.flush()
        (path,) = folder.glob("*.jsonl")
        self.assertEqual(len(json.loads(path.read_text())["steps"]), 5)

    def test_a_list_whose_length_lies_is_counted(self) -> None:
        class Short(list):  # type: ignore[type-arg]
            def __len__(self) -> int:
                return 0

        options = SerializeOptions(1_000_000, True, lambda _key: False, max_values=3)
        self.assertEqual(serialize_value(Short("abcdef"), options).text, '["… 6 more"]')

    def test_of_a_conversation_without_end_the_first_and_the_last_messages_are_kept(self) -> None:
        for prompt in ([f"word {index}" for index in range(60_000)], ["x" * 9000] * 500 + ["word 59999"]):
            prompt[0] = "word 0"
            with playhead.session("long") as session:
                playhead.record(playhead.LLMEvent(model="gpt-4o", prompt=prompt, completion="ok"))
            (call,) = session.llm_calls
            texts = [message["parts"][0]["text"] for message in call.messages]
            self.assertEqual((texts[0], texts[-2:]), ("word 0", ["word 59999", "ok"]))
            left_out = len(prompt) - (len(texts) - 2)
            self.assertEqual(texts[1], f"… [{left_out} more left out]")
            self.assertLessEqual(len(texts), 3003)
            self.assertTrue(call.attributes["playhead.truncated"])

    def test_of_endless_fields_only_the_first_are_read(self) -> None:
        read: list[int] = []

        def pairs() -> Any:
            for index in range(10 * MAX_FIELDS):
                read.append(index)
                yield f"key {index}", index

        self.assertEqual((len(to_fields(pairs())), len(read)), (MAX_FIELDS, MAX_FIELDS))
        self.assertEqual((to_fields(EndlessList()), to_fields([EndlessList()])), ({}, {}))
        self.assertEqual(to_fields([("a", 1), (2, "b")]), {"a": 1})
        self.assertEqual(to_fields(types.MappingProxyType({"a": 1})), {"a": 1})
        with playhead.session("endless") as session:
            playhead.record(playhead.LLMEvent("gpt-4o", "q", "a", usage=EndlessList()))  # type: ignore[arg-type]
        self.assertEqual([step.name for step in session.steps], ["endless", "gpt-4o"])

    def test_a_name_that_is_a_list_costs_no_more_than_a_name(self) -> None:
        values = EndlessList()
        self.assertEqual(len(to_names([range(10**12), values])), 2)
        self.assertLess(values.read_count, 10_000)

    def test_of_too_many_short_messages_the_first_and_the_last_are_kept(self) -> None:
        writer = ContentWriter(True, Redactor(), 10_000)
        messages = [
            {"role": "user", "parts": [{"type": "text", "content": str(index)}]} for index in range(5000)
        ]
        text = writer.messages(messages)
        kept = json.loads(text)
        self.assertTrue(9_500 < len(text) <= 10_000)
        self.assertEqual((kept[0], kept[2:]), (messages[0], messages[5000 - len(kept[2:]) :]))
        note = kept[1]["parts"][0]["content"]
        self.assertEqual((note, writer.is_cut), (f"… [{5000 - len(kept) + 1} more left out]", True))

    def test_a_step_that_can_not_be_encoded_is_dropped_and_counted(self) -> None:
        server = StandIn()
        self.addCleanup(server.stop)
        playhead.init(endpoint=server.url, silent=True)
        before = playhead.stats()
        broken = Span("broken", "1" * 32, None, {})
        broken.end_ns = broken.start_ns
        broken.kind = Trapped()  # type: ignore[assignment]
        runtime = obtain_runtime()
        with playhead.session("host"):
            runtime.delivery.on_step_end(broken, SessionRecord("1" * 32))
            act("innocent")
        self.assertIs(playhead.flush(), False)
        names = [span["name"] for _, body in server.requests for span in spans_of(body)]
        self.assertEqual(names, ["act", "host"])
        now = playhead.stats()
        counts = {name: now[name] - before[name] for name in ("recorded", "delivered", "dropped")}
        self.assertEqual(counts, {"recorded": 3, "delivered": 2, "dropped": 1})
        act("next")
        self.assertIs(playhead.flush(), True)

    def test_what_the_parent_lost_is_no_loss_of_a_forked_child(self) -> None:
        server = StandIn()
        self.addCleanup(server.stop)
        playhead.init(endpoint=server.url, silent=True)
        delivery = obtain_runtime().delivery
        delivery.counts["dropped"] += 1
        delivery.forget()
        act("child")
        self.assertIs(playhead.flush(), True)

    def test_a_page_is_not_the_response_of_a_server(self) -> None:
        for content_type, body in (
            ("text/html; charset=utf-8", b"<html>Log in</html>"),
            ("", b"<!doctype html>"),
            ("text/plain", b"OK"),
            ("application/json", b'{"login":"required"}'),
            ("application/x-protobuf", b"<html></html>"),
        ):
            self.assertIsNone(read_export_response(content_type, body))
        for content_type, body in (
            ("application/json", b"{}"),
            ("application/json; charset=utf-8", b'{"partialSuccess":{}}'),
            ("application/x-protobuf", b""),
            ("application/x-protobuf", b"\x0a\x00"),
            ("", b""),
        ):
            self.assertEqual(read_export_response(content_type, body), (0, ""))
        partial = b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no id"}}'
        self.assertEqual(read_export_response("application/json", partial), (3, "no id"))
        message = b"\x08\x83\x02\x12\x05no id"
        self.assertEqual(
            read_export_response("application/x-protobuf", b"\x0a" + bytes([len(message)]) + message),
            (259, "no id"),
        )

    def test_a_login_page_keeps_the_steps(self) -> None:
        server = StandIn(headers={"content-type": "text/html"})
        self.addCleanup(server.stop)
        playhead.init(endpoint=server.url, silent=True)
        before = playhead.stats()["delivered"]
        act("kept")
        self.assertIs(playhead.flush(), False)
        self.assertEqual(playhead.stats()["delivered"], before)

    def test_the_queue_and_the_spool_hold_a_limited_number_of_bytes(self) -> None:
        server = StandIn(status=500)
        self.addCleanup(server.stop)
        playhead.init(endpoint=server.url, silent=True)
        delivery = obtain_runtime().delivery
        before = playhead.stats()["dropped"]
        server.is_free.clear()
        for index in range(60):
            act(f"{index} " + "x" * 1_000_000)
        self.assertLessEqual(delivery._queued_bytes, 64 * 1024 * 1024)
        self.assertGreater(playhead.stats()["dropped"] - before, 10)
        server.is_free.set()
        dropped: list[int] = []
        folder = self.folder()
        spool = Spool(folder, Target("http://x", None), dropped.append)
        for _ in range(9):
            self.assertIs(spool.write("x" * 10 * 1024 * 1024, 10), True)
        sizes = [path.stat().st_size for path in folder.rglob("*.json")]
        self.assertEqual((len(sizes), sum(sizes) <= MAX_BYTES, sum(dropped)), (6, True, 30))
        self.assertIs(spool.write("x" * (MAX_BYTES + 1), 1), False)

    def test_values_are_serialised_with_a_bounded_amount_of_work(self) -> None:
        options = SerializeOptions(1_048_576, True, lambda _key: False)
        wide = {f"key {index}": index for index in range(200_000)}
        for value in (wide, list(range(200_000)), [wide, wide], range(10**12), 10**50_000, {10**50_000: 1}):
            text = serialize_value(value, options).text
            self.assertLess(len(text), 1_000_000)
            json.loads(text)
        large_numbers = serialize_value([10**400] * 100_000, options)
        self.assertLess(len(large_numbers.text), 1_100_000)
        self.assertIs(large_numbers.is_cut, True)
        self.assertEqual(
            json.loads(serialize_value({"kept": 1, "bad": Trapped(), "list": [1, Trapped()]}, options).text),
            {"kept": 1, "bad": "[Trapped]", "list": [1, "[Trapped]"]},
        )

    def test_an_object_with_many_attributes_is_not_copied(self) -> None:
        wide = types.SimpleNamespace(**{f"key_{index}": index for index in range(300_000)})
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        written = serialize_value(wide, SerializeOptions(1_048_576, True, lambda _key: False))
        self.assertLess(tracemalloc.get_traced_memory()[1], 5_000_000)
        self.assertEqual((written.is_cut, json.loads(written.text)["…"]), (True, "more keys were left out"))

    def test_anything_that_was_recorded_can_be_encoded(self) -> None:
        redactor = Redactor()
        for index in range(CALLS):
            generator = Generator(index)
            span = Span(
                generator.value(), "1" * 32, None, {"value": generator.value(), "list": generator.values()}
            )
            text, failed = encode_spans([span], {}, redactor)
            self.assertEqual((len(spans_of(json.loads(text))), failed), (1, ()))


class Warnings(RecordingTest):
    def test_text_of_others_in_a_warning_commands_neither_the_build_nor_the_terminal(self) -> None:
        written = io.StringIO()
        with contextlib.redirect_stderr(written):
            Reporter().say("No answer: \x1b[2J\n::error file=x::gone\n##[error]b")
        self.assertEqual(
            written.getvalue(), "playhead: No answer: \\x1b[2J\n\\::error file=x::gone\n#\\#[error]b\n"
        )
