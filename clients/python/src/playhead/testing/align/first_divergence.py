"""Finds where two sessions first diverge, and says it in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Optional

from ...format.lines import describe_value, visible_text
from ..calls import MISSING
from ..subject import SessionJson
from .align_trees import AlignedStep, align_trees
from .comparable import name_of, result_of
from .compare_steps import Context, Difference, compare_inputs, compare_results
from .comparison import Comparison, Side, read_moment
from .fingerprint import FingerprintedSession

_WIDTH = 60


class Divergence(NamedTuple):
    difference: Difference
    aligned: AlignedStep
    depth: int
    # The time in the first session.
    at_ms: float

    @property
    def mirrored(self) -> Divergence:
        """Seen from the other side."""
        aligned = replace(self.aligned, a=self.aligned.b, b=self.aligned.a)
        return self._replace(difference=self.difference.mirrored, aligned=aligned)

    def describe(self) -> str:
        """`step 3 fetch_customer_data, argument customer_id null instead of "c_42"`."""
        # The number in the second session, or in the first if the second lacks the step.
        shown = self.aligned.b or self.aligned.a
        assert shown is not None
        name = f"step {shown.position + 1} {visible_text(name_of(shown.step))}"
        return f"{name}{_describe_difference(self.difference, self.aligned)}"


def find_divergence(a: SessionJson, b: SessionJson) -> Optional[Divergence]:
    has_payloads = all(step.get("hasPayload") for step in [*a["steps"], *b["steps"]])
    left, right = FingerprintedSession(a, has_payloads), FingerprintedSession(b, has_payloads)
    if not left.comes_after(right):
        return _compare(left, right, has_payloads)
    found = _compare(right, left, has_payloads)
    return None if found is None else found.mirrored


def _compare(a: FingerprintedSession, b: FingerprintedSession, has_payloads: bool) -> Optional[Divergence]:
    walk = _Walk(Context(Comparison(_side_of(a), _side_of(b)), has_payloads))
    walk.visit_all(align_trees(a, b), 0, 0)
    return walk.first or walk.first_input


def _side_of(fingerprinted: FingerprintedSession) -> Side:
    session = fingerprinted.session["session"]
    return Side(
        read_moment(str(session.get("startedAt"))),
        float(session.get("durationMs") or 0),
        fingerprinted.ids,
        session.get("parentId") is not None,
    )


class _Walk:
    """Goes through the differences in the order in which they happened: the input of a step before the steps
    inside it, its result after them. Among parallel steps, the earliest difference comes first."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.first: Optional[Divergence] = None
        self.first_input: Optional[Divergence] = None

    def visit_all(self, steps: Sequence[AlignedStep], depth: int, at_ms: float) -> None:
        instead = _find_replacements(steps)
        for step in steps:
            self._visit(step, depth, at_ms, instead.get(id(step)))
            at_ms = at_ms if step.a is None else step.a.end_ms

    def _visit(self, step: AlignedStep, depth: int, at_ms: float, instead: Optional[Difference]) -> None:
        a, b, context = step.a, step.b, self._context
        start_ms = at_ms if a is None else a.start_ms
        if a is None or b is None:
            self._note([instead or _alone_difference(step)], step, depth, start_ms)
            self.visit_all(step.children, depth + 1, start_ms)
            context.is_beginning = context.is_beginning and step.is_opened
            return
        self._note(compare_inputs(a.step, b.step, context), step, depth, start_ms)
        self.visit_all(step.children, depth + 1, start_ms)
        self._note(compare_results(a.step, b.step, context), step, depth, a.end_ms)
        if result_of(a.step, context.has_payloads) is not MISSING:
            context.is_beginning = False

    def _note(self, found: Sequence[Difference], step: AlignedStep, depth: int, at_ms: float) -> None:
        for difference in found:
            divergence = Divergence(difference, step, depth, at_ms)
            if not difference.is_minor:
                self.first = _earlier(self.first, divergence)
            elif difference.kind == "input":
                self.first_input = _earlier(self.first_input, divergence)


def _earlier(known: Optional[Divergence], found: Divergence) -> Divergence:
    return found if known is None or found.at_ms < known.at_ms else known


def _alone_difference(step: AlignedStep) -> Difference:
    if step.is_opened:
        return Difference("nesting")
    if step.is_repeat:
        return Difference("repeat")
    alone = step.a or step.b
    is_write = alone is not None and alone.is_write
    if step.a is None:
        return Difference("added-effect" if is_write else "extra-step")
    return Difference("missing-effect" if is_write else "missing-step")


def _find_replacements(steps: Sequence[AlignedStep]) -> dict[int, Difference]:
    """Where both sessions continue with different steps, the first of each replaces the other."""
    replacements: dict[int, Difference] = {}
    group: list[AlignedStep] = []
    for step in [*steps, None]:
        if step is not None and step.is_alone:
            group.append(step)
            continue
        alone = [one for one in group if not one.is_repeat and not one.is_opened]
        one = next((one for one in alone if one.a is not None), None)
        other = next((one for one in alone if one.b is not None), None)
        if one is not None and one.a is not None and other is not None and other.b is not None:
            difference = Difference("other-step", "", one.a.step["name"], other.b.step["name"])
            replacements[id(one)] = replacements[id(other)] = difference
        group = []
    return replacements


_PLAIN = {
    "wording": ", different wording",
    "repeat": " again",
    "nesting": ", nested differently",
    "missing-step": " is missing",
    "extra-step": " is extra",
    "missing-effect": " (a write) is missing",
    "added-effect": " (a write) is extra",
}


def _describe_difference(difference: Difference, aligned: AlignedStep) -> str:
    """To be appended to the name of its step."""
    kind, path, a, b = difference
    if kind in _PLAIN:
        return _PLAIN[kind]
    at = f" {visible_text(path)}" if path else ""
    if kind == "decision":
        verb = "called" if path == "tool calls" else f"replied{at}"
        return f", the model {verb} {_instead_of(a, b)}"
    if kind == "prompt":
        return f", the prompt differs:{at} {_instead_of(*_differing_parts(a, b))}"
    if kind == "argument":
        return f", argument{at} {_instead_of(a, b)}"
    if kind == "result":
        return _describe_failure(a, b) if path == "error" else f", returned{at} {_instead_of(a, b)}"
    if kind == "input":
        return f", got another input:{at} {_instead_of(a, b)}"
    # Another step ran there.
    if aligned.b is None:
        return f" did not run; {visible_text(str(b))} ran instead"
    return f" instead of {visible_text(str(a))}"


def _instead_of(a: Any, b: Any) -> str:
    if b is MISSING:
        return f"missing, was {_show(a)}"
    return f"{_show(b)} added" if a is MISSING else f"{_show(b)} instead of {_show(a)}"


def _show(value: Any) -> str:
    is_list = isinstance(value, list)
    if not is_list or not all(
        isinstance(one, dict) and "name" in one and "arguments" in one for one in value
    ):
        return describe_value(value, _WIDTH)
    calls = [f"{visible_text(str(one['name']))}({_arguments(one['arguments'])})" for one in value]
    return ", ".join(calls) or "no tool"


def _arguments(given: Any) -> str:
    return describe_value("" if given is None or given is MISSING else given, _WIDTH)


def _describe_failure(a: Any, b: Any) -> str:
    before, now = _error_text(a), _error_text(b)
    if now is None:
        if b is MISSING:
            return f", did not fail with {before}"
        return f", returned {_show(b)} instead of failing with {before}"
    return f", failed with {now}" if a is MISSING else f", failed with {now} instead of returning {_show(a)}"


def _error_text(value: Any) -> Optional[str]:
    if not isinstance(value, dict) or "error" not in value:
        return None
    parts = [str(part) for part in value["error"].values() if part is not MISSING and part not in (None, "")]
    return visible_text(": ".join(parts) or "an error")


def _differing_parts(a: Any, b: Any) -> tuple[Any, Any]:
    """Cuts long texts to start shortly before they differ."""
    if not isinstance(a, str) or not isinstance(b, str):
        return a, b
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    word_start = max(0, a.rfind(" ", 0, max(0, start - 12) + 1))
    return (a, b) if word_start == 0 else (f"…{a[word_start:]}", f"…{b[word_start:]}")
