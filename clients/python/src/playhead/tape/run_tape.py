"""Answers a test from its cassette, and records what the cassette lacks."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

from ..capture.content_writer import ContentWriter
from ..capture.json_value import JsonObject
from ..capture.model_api import ModelApi, ModelRequest
from ..capture.wire import ReadCall
from ..redaction.redact_json import redact_json
from ..runtime import Runtime
from ..scope import current_scope, settle
from .active import ActionCall, TapeMissError
from .call_tap import CallTap
from .cassette import load_cassette
from .compare import MISSING, visible_text
from .meaning import read_question
from .miss import TapeMiss
from .served import Served, TapedError, TapedResponse
from .stream_form import assemble_events, name_of_api, stream_body, stream_type, write_error
from .tape import ActionEntry, ModelEntry, Tape, to_entries
from .value_types import describe_raised, find_types, read_types, revive_error

# A recorded wait before a retry is no reason to wait again.
_RETRY_AT_ONCE = {"retry-after-ms": "1"}


@dataclass
class Draft:
    """An entry that is being recorded."""

    line: JsonObject
    is_done: bool = False


@dataclass
class RunTape:
    path: Path
    # strict: nothing goes live. fill: what the cassette lacks is recorded. record: everything is, anew.
    mode: str
    runtime: Runtime
    volatile: Sequence[str] = ()
    misses: list[TapeMiss] = field(default_factory=list)
    # What the agent was started with, if `run_agent` started it.
    started: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._drafts: list[Draft] = []
        # The actions that are running, by their step.
        self._open: dict[str, Draft] = {}
        self.has_file: bool = self.path.exists()
        known = load_cassette(self.path).entries if self.has_file and self.mode != "record" else []
        self._tape = Tape(to_entries(known), self.volatile)
        self.counts: dict[str, int] = {"taped": 0, "live": 0}

    @property
    def is_strict(self) -> bool:
        return self.mode == "strict"

    @property
    def unused(self) -> list[Any]:
        return self._tape.unused

    def respond(self, path: str, call: ReadCall) -> Union[TapedResponse, TapedError, CallTap]:
        """The answer to a model call; a tap if the call goes live."""
        with self._lock:
            self._mark_containers()
            api, question = call.api, _read_question(self.runtime, call.request)
            if self.mode == "record":
                return self._record_call(path, api, question)
            found = self._tape.take_model_call(question)
            if isinstance(found, ModelEntry):
                answer = _answer_of(found, call)
                if answer is not None:
                    self.counts["taped"] += 1
                    return answer
                found = _not_servable(found)
            if self.mode == "fill":
                return self._record_call(path, api, question)
            return self._miss_response(self.note_miss(found), name_of_api(api))

    def refuse(self, method: str, url: str) -> Optional[TapedResponse]:
        """The answer to any other request. None lets it through: an action that is being recorded may ask
        other servers, and the cassette gets its result."""
        with self._lock:
            if self._open:
                return None
            if url.startswith(("ws:", "wss:")):
                what = f"The test opened a WebSocket to {visible_text(url)}, and WebSockets are not recorded."
            else:
                asked = visible_text(f"{method} {url}")
                what = f"The test made a request that no cassette can answer: {asked}."
            sentence = f"{what} Record the function that makes it with @playhead.record_tool."
            miss = TapeMiss("action", sentence, is_refusal=True)
            return self._miss_response(self.note_miss(miss), "openai-chat")

    def act(self, call: ActionCall, step_id: str) -> Optional[Served]:
        """What the action returned when it was recorded; None if it runs."""
        with self._lock:
            self._mark_containers()
            if call.replay == "run":
                return None
            arguments = redact_json(json.loads(call.arguments), self.runtime.redactor, "arguments")
            if self.mode != "record":
                found = self._tape.take_action(call.name, arguments)
                if isinstance(found, ActionEntry):
                    return self._serve(found, call)
                if self.is_strict:
                    raise TapeMissError(self.note_miss(found))
            self._open[step_id] = self._add({"kind": "action", "name": call.name, "arguments": arguments})
            if call.effect == "write" or call.replay == "serve":
                self._open[step_id].line["isContainer"] = False
            return None

    def is_recording(self, step_id: str) -> bool:
        """True if the action runs because the cassette lacks it."""
        return step_id in self._open

    def agent_started(self) -> None:
        with self._lock:
            self._mark_containers()

    def acted(
        self, step_id: str, shape: str, result: Any = MISSING, error: Optional[BaseException] = None
    ) -> None:
        """An action that ran has ended."""
        with self._lock:
            draft = self._open.pop(step_id, None)
            if draft is None:
                return
            line, draft.is_done = draft.line, True
            is_container = line.pop("isContainer", False)
            line["shape"] = shape
            self.counts["live"] += 1
            if is_container:
                line["isContainer"] = True
                return
            if result is not MISSING:
                self._write_result(line, result)
            if error is not None:
                line["error"] = describe_raised(error)

    def note_miss(self, miss: TapeMiss) -> str:
        """Only the first miss counts: what follows it is asked in a state that was never recorded."""
        self.misses.append(miss)
        return self.misses[0].sentence

    @property
    def recorded(self) -> list[JsonObject]:
        """What was made live, in the order in which it was asked for."""
        return [draft.line for draft in self._drafts if draft.is_done]

    def _serve(self, entry: ActionEntry, call: ActionCall) -> Optional[Served]:
        if entry.is_container:
            return None
        scope = getattr(call.fn, "__globals__", {})
        line = entry.line
        error = revive_error(line["error"], scope) if "error" in line else None
        self.counts["taped"] += 1
        served = Served(
            line.get("shape"), line.get("result", MISSING), read_types(line.get("types")), error, call.revive
        )
        problem = served.problem
        if problem is None:
            return served
        sentence = (
            f"{visible_text(call.name)} (step {entry.number}) returned {problem}, which a cassette can't "
            'hold. Mark it replay="run", or pass revive= to its decorator.'
        )
        raise TapeMissError(self.note_miss(TapeMiss("action", sentence, entry.number)))

    def _write_result(self, line: JsonObject, result: Any) -> None:
        text, is_cut = self.runtime.serialize(result)
        types = find_types(result)
        if is_cut:
            types = {"": {"type": "not-data", "name": "more than a recording keeps"}}
        if types:
            line["types"] = types
        line["result"] = json.loads(text)

    def _record_call(self, path: str, api: ModelApi, question: JsonObject) -> CallTap:
        draft = self._add({"kind": "model", "api": name_of_api(api), "path": path, "asked": question})
        self.counts["live"] += 1

        def finish(answer: JsonObject) -> None:
            with self._lock:
                draft.line["answer"], draft.is_done = answer, True

        def is_complete(events: list[list[Any]]) -> bool:
            whole = assemble_events(events, name_of_api(api))
            return whole is not None and bool(api.read_response(whole).finish_reasons)

        return CallTap(finish, self.runtime.fault, is_complete)

    def _add(self, line: JsonObject) -> Draft:
        draft = Draft(line)
        self._drafts.append(draft)
        return draft

    def _mark_containers(self) -> None:
        """The actions around this code hold other entries, so they run again."""
        scope = settle(current_scope.get())
        if scope is None or not self._open:
            return
        around = {scope.span_id}
        if scope.frame is not None and scope.span is not None:
            around |= scope.frame.record.ancestors_of(scope.span)
        for step_id in around & self._open.keys():
            self._open[step_id].line.setdefault("isContainer", True)

    def _miss_response(self, sentence: str, api: str) -> TapedResponse:
        """No client retries it, and all show its message."""
        body = write_error(api, "playhead_miss", sentence, 400)
        headers = {"content-type": "application/json", "x-should-retry": "false"}
        return TapedResponse(400, headers, [json.dumps(body)])


def _read_question(runtime: Runtime, request: ModelRequest) -> JsonObject:
    writer = ContentWriter(True, runtime.redactor, runtime.settings.max_value_bytes)
    question = read_question(request, writer)
    if "parameters" in question:
        question["parameters"].pop("stream", None)
        if not question["parameters"]:
            del question["parameters"]
    return question


def _not_servable(entry: ModelEntry) -> TapeMiss:
    sentence = (
        f"The answer of step {entry.number} {visible_text(entry.title)} was not recorded in a form that "
        "can be served."
    )
    return TapeMiss("model", sentence, entry.number)


def _answer_of(entry: ModelEntry, call: ReadCall) -> Union[TapedResponse, TapedError, None]:
    answer, api = entry.line["answer"], name_of_api(call.api)
    if "error" in answer:
        return TapedError(str(answer["error"].get("code")), str(answer["error"].get("message")))
    status, headers = answer["status"], dict(answer.get("headers") or {})
    if status >= 400:
        headers.pop("retry-after", None)
        body = answer["body"] if "body" in answer else "".join(text for _, text in answer["events"])
        return TapedResponse(status, {**headers, **_RETRY_AT_ONCE}, [_text_of(body)])
    if entry.line["api"] != api:
        return None
    is_list = api == "gemini-generate" and isinstance(answer.get("body"), list)
    is_stream = call.request.is_stream
    if "body" in answer and is_stream == is_list and is_list == call.is_listed:
        return TapedResponse(status, headers, [_text_of(answer["body"])])
    if "events" in answer and is_stream and not call.is_listed:
        chunks = [text for _, text in answer["events"]]
        return TapedResponse(status, headers, chunks, is_aborted=answer.get("isAborted") is True)
    return _in_other_form(answer, api, call)


def _in_other_form(answer: JsonObject, api: str, call: ReadCall) -> Optional[TapedResponse]:
    """One body of what was streamed, or the other way round."""
    whole = answer.get("body")
    if not isinstance(whole, dict):
        whole = assemble_events(answer.get("events") or [[0, _text_of(whole)]], api)
    if whole is None:
        return None
    if not call.request.is_stream:
        return TapedResponse(answer["status"], _JSON, [json.dumps(whole)])
    texts = stream_body(whole, api, call)
    if texts is None:
        return None
    return TapedResponse(answer["status"], {"content-type": stream_type(api, call)}, texts)


_JSON = {"content-type": "application/json"}


def _text_of(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
