"""Completes the actions of a session with what its model calls say.

A tool that was asked for and answered, but that nobody recorded, becomes an inferred action between the two
calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from ..clock import to_iso
from ..step import Step, StepError
from .messages import unwrap_function_response
from .previews import one_line, preview_json, preview_of_arguments
from .soft_error import soft_error_of
from .span_to_step import between_ms

JsonObject = dict[str, Any]
_MAX_REQUESTS = 64
_MAX_ANSWERS = 64
_MAX_EARLIER_ANSWERS = 8
_HANDOFF = re.compile(r"handoff$|handoff_to_|transfer_to_|transfer_back_to_")
# Times are kept in milliseconds elsewhere, so an action may seem to start before the reply that asked for it.
_CLOCK_SLACK_NS = 1_000_000
_NO_LETTERS = re.compile(r"[\W_]+")


class _Answer(NamedTuple):
    node: Step
    part: JsonObject


class _Exchange:
    """A tool that a model asked for, and the later call that got its result."""

    def __init__(self, caller: Step, index: int, request: JsonObject) -> None:
        self.caller = caller
        self.index = index
        self.request = request
        self.answer: Optional[_Answer] = None

    @property
    def call_id(self) -> Optional[str]:
        return self.request.get("id")

    @property
    def name(self) -> str:
        return str(self.request["name"])


def infer_actions(steps: Sequence[Step], origin_ns: int) -> list[Step]:
    """The actions that nobody recorded. Recorded ones get the call id that a model gave them."""
    calls = [step for step in steps if step.kind == "llm" and step.messages]
    requests = {step.id: _requests_in(step.messages or []) for step in calls}
    if not any(requests.values()):
        return []
    exchanges = _find_exchanges(calls, requests)
    executions = _Executions(steps, {exchange.call_id for exchange in exchanges})
    ordered = [one for one in exchanges if one.answer] + [one for one in exchanges if not one.answer]
    # Agents that run in parallel call the same tool: what says whose it is comes before name and order.
    sure = [executions.take_sure(exchange) for exchange in ordered]
    inferred: list[Step] = []
    for exchange, known in zip(ordered, sure):
        step = known or executions.take(exchange)
        if step is not None:
            _complete_action(step, exchange)
        elif exchange.answer is not None and _HANDOFF.match(exchange.name) is None:
            inferred.append(_infer_action(exchange, exchange.answer, origin_ns))
    return inferred


def _requests_in(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The tools that the model asked for in its reply."""
    return [
        part
        for message in messages
        if message.get("isOutput")
        for part in message["parts"]
        if part["type"] == "tool-call" and part["name"] != "" and not part.get("isServerSide")
    ][:_MAX_REQUESTS]


def _answers_in(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The results since the model's previous reply, oldest first.

    In the Responses API every call of a reply is a message of its own, so such messages don't end the search
    at once.
    """
    answers: list[JsonObject] = []
    limit = _MAX_ANSWERS
    for message in reversed(messages):
        if len(answers) >= limit:
            break
        if message.get("isOutput"):
            continue
        parts = message["parts"]
        if message["role"] == "assistant":
            if len(parts) != 1 or parts[0]["type"] != "tool-call":
                break
            limit = _MAX_EARLIER_ANSWERS
        answers.extend(part for part in reversed(parts) if part["type"] == "tool-result")
    answers.reverse()
    return answers


def _find_exchanges(calls: Sequence[Step], requests: dict[str, list[JsonObject]]) -> list[_Exchange]:
    """Pairs requests with results: by call id, otherwise by name and order. Calls are earliest first."""
    exchanges: list[_Exchange] = []
    by_call_id: dict[str, _Exchange] = {}
    for step in calls:
        without_id: dict[Optional[str], list[JsonObject]] = {}
        for part in _answers_in(step.messages or []):
            if part.get("id") is None:
                without_id.setdefault(part.get("name"), []).append(part)
                continue
            found = by_call_id.get(part["id"])
            if found is not None and found.caller is not step and found.answer is None:
                found.answer = _Answer(step, part)
        for name, parts in without_id.items():
            open_ones = _open_for(exchanges, step, name)
            # A conversation repeats its earlier results, so the last ones answer what is open.
            for exchange, part in zip(open_ones, parts[-len(open_ones) :] if open_ones else []):
                exchange.answer = _Answer(step, part)
        for index, request in enumerate(requests[step.id]):
            if request.get("id") is not None and request["id"] in by_call_id:
                continue
            exchange = _Exchange(step, index, request)
            exchanges.append(exchange)
            if exchange.call_id is not None:
                by_call_id[exchange.call_id] = exchange
    return exchanges


def _open_for(exchanges: Sequence[_Exchange], step: Step, name: Optional[str]) -> list[_Exchange]:
    """The open requests with this name, oldest first; of calls beside this one if any asked for the tool."""
    named = [
        exchange
        for exchange in exchanges
        if exchange.caller is not step and (name is None or exchange.name == name)
    ]
    beside = [exchange for exchange in named if exchange.caller.parent_id == step.parent_id]
    return [exchange for exchange in beside or named if exchange.answer is None]


class _Executions:
    """The recorded steps that may be the execution of a tool; each is one execution only."""

    def __init__(self, steps: Sequence[Step], request_ids: set[Optional[str]]) -> None:
        self._by_call_id: dict[str, Step] = {}
        self._by_name: dict[str, list[Step]] = {}
        self._taken: set[str] = set()
        self._request_ids = request_ids
        for step in steps:
            if step.kind in ("llm", "embedding", "event"):
                continue
            if step.tool_call_id is not None:
                self._by_call_id.setdefault(step.tool_call_id, step)
            names = (step.name, step.agent if step.kind == "agent" and step.agent else step.name)
            for word in {_identifier(name) for name in names}:
                self._by_name.setdefault(word, []).append(step)

    def take_sure(self, exchange: _Exchange) -> Optional[Step]:
        """The execution with the call's id, otherwise one with the same arguments."""
        by_id = None if exchange.call_id is None else self._by_call_id.get(exchange.call_id)
        preview = preview_of_arguments(exchange.request["arguments"])
        if by_id is not None or preview is None:
            return self._take(by_id)
        same = [
            step
            for step in self._candidates(exchange)
            if step.kind == "action" and step.input_preview == preview
        ]
        beside = (step for step in same if step.parent_id == exchange.caller.parent_id)
        return self._take(next(beside, same[0] if same else None))

    def take(self, exchange: _Exchange) -> Optional[Step]:
        named = self._candidates(exchange)
        actions = (step for step in named if step.kind == "action")
        return self._take(next(actions, named[0] if named else None))

    def _take(self, found: Optional[Step]) -> Optional[Step]:
        if found is not None:
            self._taken.add(found.id)
        return found

    def _candidates(self, exchange: _Exchange) -> list[Step]:
        named = self._by_name.get(_identifier(exchange.name), [])
        return [step for step in named if step.id not in self._taken and self._may_be(step, exchange)]

    def _may_be(self, step: Step, exchange: _Exchange) -> bool:
        """True for a step after the request and before the result that has no call id of another request."""
        if step.tool_call_id is not None and exchange.call_id is not None:
            is_other = step.input_preview != preview_of_arguments(exchange.request["arguments"])
            if step.tool_call_id in self._request_ids or is_other:
                return False
        caller = exchange.caller
        from_ns = caller.started_ns if step.kind == "action" else _end_ns(caller)
        if step.started_ns < from_ns - _CLOCK_SLACK_NS:
            return False
        answer = exchange.answer
        return answer is None or step.started_ns <= answer.node.started_ns + _CLOCK_SLACK_NS


def _end_ns(step: Step) -> float:
    return float("inf") if step.ended_ns is None else step.ended_ns


def _complete_action(step: Step, exchange: _Exchange) -> None:
    """Adds what a recorded execution lacks; its own values take precedence."""
    if step.kind != "action":
        return
    if step.tool_call_id is None:
        step.tool_call_id = exchange.call_id


def _infer_action(exchange: _Exchange, answer: _Answer, origin_ns: int) -> Step:
    caller, request = exchange.caller, exchange.request
    started_ns = caller.started_ns if caller.ended_ns is None else caller.ended_ns
    ended_ns = max(started_ns, answer.node.started_ns)
    result = unwrap_function_response(answer.part.get("result"))
    error = _error_in(answer.part, result)
    key = f"{caller.id} {exchange.call_id or f'{exchange.name} {exchange.index}'}"
    return Step(
        id=stable_id(key, 16),
        parent_id=caller.parent_id,
        kind="action",
        name=exchange.name,
        started_at=to_iso(started_ns),
        ended_at=to_iso(ended_ns),
        offset_ms=between_ms(origin_ns, started_ns),
        duration_ms=between_ms(started_ns, ended_ns),
        status="ok" if error is None else "soft-error",
        started_ns=started_ns,
        ended_ns=ended_ns,
        error=error,
        input=request["arguments"],
        output=result,
        has_output=True,
        agent=caller.agent,
        tool_call_id=exchange.call_id,
        is_inferred=True,
        input_preview=preview_of_arguments(request["arguments"]),
        output_preview=one_line(result if isinstance(result, str) else preview_json(result)),
    )


def _error_in(part: JsonObject, result: Any) -> Optional[StepError]:
    if part.get("isError"):
        text = result if isinstance(result, str) else preview_json(result)
        return StepError("ToolError", one_line(text) or "")
    said = soft_error_of(result)
    return None if said is None else StepError(*said)


def stable_id(text: str, digits: int) -> str:
    """An id with the given number of hex digits: a hash of the text, the same as the server's."""
    found = ""
    part = 0
    while len(found) < digits:
        found += _hash(f"{part}:{text}")
        part += 1
    return found[:digits]


def _hash(text: str) -> str:
    """FNV-1a, spread so that neighbouring texts differ in every digit."""
    value = 0x811C9DC5
    data = text.encode("utf-16-le", "surrogatepass")
    for index in range(0, len(data), 2):
        value = (value ^ int.from_bytes(data[index : index + 2], "little")) * 0x01000193 & 0xFFFFFFFF
    value = (value ^ (value >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ (value >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    return f"{value ^ (value >> 16):08x}"


def _identifier(name: str) -> str:
    """Models get the names of tools as identifiers."""
    return _NO_LETTERS.sub("_", name.lower())
