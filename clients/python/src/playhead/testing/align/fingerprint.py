"""Fingerprints of steps, which make comparing them cheap. Equal ones mean equal except for ids and times."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...tape.text_shape import VolatileToken, shape_of_text, shape_of_value
from ..subject import SessionJson
from .comparable import StepJson, input_of, name_of, result_of

# Deeper steps are treated as siblings, which bounds the recursion.
_MAX_DEPTH = 100
_WORD = 0xFFFFFFFF
_WRAPPERS = frozenset(["workflow", "agent", "other"])


@dataclass(eq=False)
class FingerprintedStep:
    step: StepJson
    # Its index among the steps of the session.
    position: int
    # Kind and name; steps with different identities are never paired.
    identity: int
    given: int
    result: int
    agent: str
    is_write: bool
    # True when it or a step below it writes.
    has_write: bool
    is_wrapper: bool
    # The fingerprint of the step and everything below it.
    whole: int
    start_ms: float
    end_ms: float
    children: list[FingerprintedStep]


class FingerprintedSession:
    def __init__(self, session: SessionJson, has_payloads: bool) -> None:
        self.session: SessionJson = session
        # Ids and times that occur in it.
        self.ids: set[str] = set()
        self.identities: set[int] = set()
        self._has_payloads = has_payloads
        self._positions = {step["id"]: index for index, step in enumerate(session["steps"])}
        self._children = _children_of(session["steps"])
        roots = self._children.get(None, [])
        self.top: list[FingerprintedStep] = [one for root in roots for one in self._fingerprint(root, 0)]
        self.fingerprint: int = _hash_all([one.whole for one in self.top])

    def comes_after(self, other: FingerprintedSession) -> bool:
        """Ties must not depend on the order of the sessions."""
        if self.fingerprint != other.fingerprint:
            return self.fingerprint > other.fingerprint
        return str(self.session["session"]["id"]) > str(other.session["session"]["id"])

    def _fingerprint(self, step: StepJson, depth: int) -> Iterator[FingerprintedStep]:
        below = self._children.get(step["id"], [])
        if depth == _MAX_DEPTH and below:
            for alone in self._without_nesting(step):
                yield self._make(alone, [])
            return
        yield self._make(step, [one for child in below for one in self._fingerprint(child, depth + 1)])

    def _without_nesting(self, step: StepJson) -> Iterator[StepJson]:
        waiting = [step]
        while waiting:
            following = waiting.pop()
            yield following
            waiting += reversed(self._children.get(following["id"], []))

    def _make(self, step: StepJson, children: list[FingerprintedStep]) -> FingerprintedStep:
        identity = hash_text(_identity_of(step))
        self.identities.add(identity)
        given = self._shape(input_of(step, self._has_payloads))
        result = self._shape(result_of(step, self._has_payloads))
        is_write = step.get("effect") == "write"
        start_ms = float(step.get("offsetMs") or 0)
        return FingerprintedStep(
            step=step,
            position=self._positions[step["id"]],
            identity=identity,
            given=given,
            result=result,
            agent=str(step.get("agent") or ""),
            is_write=is_write,
            has_write=is_write or any(child.has_write for child in children),
            is_wrapper=step.get("kind") in _WRAPPERS,
            whole=_hash_all([identity, given, result, *(child.whole for child in children)]),
            start_ms=start_ms,
            end_ms=start_ms + float(step.get("durationMs") or 0),
            children=children,
        )

    def _shape(self, value: object) -> int:
        return hash_text(shape_of_value(value, self._note))

    def _note(self, token: VolatileToken) -> None:
        self.ids.add(token.text)


def _children_of(steps: Sequence[StepJson]) -> dict[object, list[StepJson]]:
    """The steps below each step, those at the top below None. Cycles of parents are broken."""
    by_id = {step["id"]: step for step in steps}
    opened: set[str] = set()
    seen_from: dict[str, str] = {}
    for start in by_id:
        at = by_id.get(start)
        while at is not None and at["id"] not in seen_from:
            seen_from[at["id"]] = start
            at = by_id.get(at.get("parentId"))
        if at is not None and seen_from[at["id"]] == start:
            opened.add(at["id"])
    children: dict[object, list[StepJson]] = {}
    for step in by_id.values():
        parent_id = step.get("parentId")
        is_top = step["id"] in opened or parent_id not in by_id
        children.setdefault(None if is_top else parent_id, []).append(step)
    return children


def hash_text(text: str) -> int:
    """TypeScript's hash of a text, because its order decides ties."""
    high, low = 0xDEADBEEF, 0x41C6CE57
    for code in array("H", text.encode("utf-16-le", "surrogatepass")):
        high = (high ^ code) * 2654435761 & _WORD
        low = (low ^ code) * 1597334677 & _WORD
    high = ((high ^ high >> 16) * 2246822507 ^ (low ^ low >> 13) * 3266489909) & _WORD
    low = ((low ^ low >> 16) * 2246822507 ^ (high ^ high >> 13) * 3266489909) & _WORD
    return ((low & 0x1FFFFF) << 32) + high


def _hash_all(hashes: Sequence[int]) -> int:
    return hash_text(",".join(map(str, hashes)))


def _identity_of(step: StepJson) -> str:
    kind = str(step.get("kind"))
    if kind in ("llm", "embedding"):
        return kind
    if kind in ("action", "agent"):
        return f"{kind} {name_of(step)}"
    if kind == "handoff":
        return f"handoff {(step.get('handoff') or {}).get('to', step['name'])}"
    return f"{kind} {shape_of_text(str(step['name']))}"
