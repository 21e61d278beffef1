"""The tape and its files, with the cases that TypeScript's tests read too."""

from __future__ import annotations

import dataclasses
import json
import unittest
from typing import Any

from playhead.capture.content_writer import ContentWriter
from playhead.capture.recognize import recognize_request
from playhead.redaction.redact import Redactor
from playhead.tape.cassette import CassetteError, read_cassette, write_cassette
from playhead.tape.compare import MISSING
from playhead.tape.meaning import read_meaning, read_question
from playhead.tape.miss import TapeMiss
from playhead.tape.stream_form import assemble_events
from playhead.tape.tape import Tape, to_entries

from .support import ROOT

CASSETTES = sorted((ROOT / "fixtures/cassettes").glob("*.jsonl"))


def read_cases(name: str) -> Any:
    return json.loads((ROOT / "fixtures" / name).read_text("utf-8"))


class SharedCasesTest(unittest.TestCase):
    def test_what_each_golden_request_asks(self) -> None:
        requests = {}
        for expected in read_cases("tape/meanings.json"):
            provider = expected["provider"]
            cases = requests.setdefault(
                provider, {case["name"]: case for case in read_cases(f"providers/{provider}.json")}
            )
            case = cases[expected["name"]]
            with self.subTest(provider=provider, case=case["name"]):
                self.assertEqual(meaning_of(case), expected["meaning"])

    def test_what_is_served_and_what_is_missed(self) -> None:
        cases = read_cases("tape/matching.json")
        self.assertGreater(len(cases), 30)
        for case in cases:
            with self.subTest(case["name"]):
                lines = "\n".join(json.dumps(line) for line in case["cassette"])
                tape = Tape(to_entries(read_cassette(lines).entries), case.get("volatile", ()))
                expected = [
                    {"served": ask["served"]} if "served" in ask else {"miss": ask["miss"]}
                    for ask in case["asks"]
                ]
                self.assertEqual([outcome_of(tape, ask) for ask in case["asks"]], expected)
                if "mapped" in case:
                    self.assertEqual(tape.mapped, case["mapped"])


class CutSecretsTest(unittest.TestCase):
    PIECES = ("Use sk-pr", "oj-Ab12Cd34", "Ef56Gh78Ij90", " for it.")

    def events_of(self, api: str) -> list[Any]:
        if api == "gemini-generate":
            pieces: list[Any] = [
                {"candidates": [{"index": 0, "content": {"parts": [{"text": text}]}}]} for text in self.PIECES
            ]
            return [[0, f"data: {json.dumps(piece)}\r\n\r\n"] for piece in pieces]
        if api == "chat":
            lines = [{"message": {"role": "assistant", "content": text}} for text in self.PIECES]
        else:
            lines = [{"response": text} for text in self.PIECES]
        return [[0, f"{json.dumps(line)}\n"] for line in lines]

    def test_a_secret_that_a_stream_cuts_is_in_no_cassette(self) -> None:
        for form in ("gemini-generate", "chat", "generate"):
            api = form if form == "gemini-generate" else "ollama-chat"
            answer = {"status": 200, "headers": {}, "events": self.events_of(form)}
            entry = {"kind": "model", "api": api, "path": "/x", "asked": {"messages": []}, "answer": answer}
            written = write_cassette({"name": "cut"}, [entry], Redactor())
            with self.subTest(form):
                self.assertNotIn("Cd34", written)
                whole = assemble_events(read_cassette(written).entries[0]["answer"]["events"], api)
                self.assertIn("Use [redacted] for it.", json.dumps(whole))


def meaning_of(case: dict[str, Any]) -> Any:
    path = case["url"].split("?")[0].split("/", 3)[3]
    api = recognize_request(f"/{path}", case["request"])
    if api is None:
        return None
    writer = ContentWriter(True, Redactor(), 1024 * 1024)
    meaning = read_meaning(read_question(api.read_request(case["request"], f"/{path}"), writer))
    fields = dataclasses.asdict(meaning)
    return json.loads(json.dumps({name: value for name, value in fields.items() if value is not None}))


def outcome_of(tape: Tape, ask: dict[str, Any]) -> Any:
    if "model" in ask:
        found: Any = tape.take_model_call(ask["model"])
    else:
        found = tape.take_action(ask["action"], ask.get("arguments", MISSING))
    if not isinstance(found, TapeMiss):
        return {"served": found.number}
    named = {"step": found.step, "message": found.message, "field": found.field, "sentence": found.sentence}
    return {"miss": {name: value for name, value in named.items() if value is not None}}


def ask_again(tape: Tape, entry: Any) -> Any:
    if entry.kind == "model":
        return tape.take_model_call(entry.line["asked"])
    return tape.take_action(entry.title, entry.arguments)


class CassetteFilesTest(unittest.TestCase):
    def test_golden_cassettes_are_written_as_they_were_read(self) -> None:
        self.assertGreaterEqual(len(CASSETTES), 3)
        for path in CASSETTES:
            with self.subTest(path.name):
                text = path.read_text("utf-8")
                meta, entries = read_cassette(text)
                fields = {name: value for name, value in meta.items() if name not in ("v", "kind")}
                self.assertEqual(write_cassette(fields, entries, Redactor()), text)

    def test_golden_cassettes_answer_everything_that_they_hold(self) -> None:
        for path in CASSETTES:
            with self.subTest(path.name):
                tape = Tape(to_entries(read_cassette(path.read_text("utf-8")).entries))
                for entry in tape.entries:
                    self.assertIs(ask_again(tape, entry), entry)
                self.assertEqual(tape.unused, [])

    def test_an_entry_that_is_not_there_is_the_only_one_that_is_missed(self) -> None:
        for path in CASSETTES:
            entries = to_entries(read_cassette(path.read_text("utf-8")).entries)
            for removed in entries:
                with self.subTest(cassette=path.name, removed=removed.number):
                    tape = Tape([dataclasses.replace(one) for one in entries if one is not removed])
                    outcomes = [ask_again(tape, entry) for entry in entries]
                    misses = [outcome for outcome in outcomes if isinstance(outcome, TapeMiss)]
                    self.assertEqual([miss.kind for miss in misses], [removed.kind])

    def test_a_line_that_can_not_be_read_is_named(self) -> None:
        meta = '{"v":1,"kind":"meta","name":"x"}'
        call = '{"kind":"model","api":"openai-chat","path":"/","asked":{"messages":[7]},"answer":{}}'
        for text, problem in [
            ("", 'Line 1 of the cassette is no {"v":1,"kind":"meta",…}, so this is not a cassette.'),
            ("{", "Line 1 of the cassette is not JSON."),
            (
                '{"v":2,"kind":"meta"}',
                "Line 1 of the cassette has version 2; this Playhead reads version 1. Update it.",
            ),
            (f"{meta}\n\n[]", "Line 3 of the cassette is no message, model call or action."),
            (
                f"{meta}\n{call}",
                "Line 2 of the cassette refers to message 7, which is not above it.",
            ),
            (f'{meta}\n{{"kind":"action"}}', "Line 2 of the cassette is an action without a name."),
        ]:
            with self.subTest(text), self.assertRaises(CassetteError) as raised:
                read_cassette(text)
            self.assertEqual(str(raised.exception), problem)
