"""Gives every error one owner, and says which were handled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Optional

from ..step import Step, StepError

# Errors kept per step on the way up: enough to recognise one, and a bound for sessions full of failures.
_MAX_TRAILS = 16
# Shorter messages match too much by chance.
_MIN_MATCH_LENGTH = 8
_CAUSES_FOLLOWED = 5
_BARE = re.compile(r"(?:error in agent run|run status: error)\.?", re.IGNORECASE)
_ONLY_STATUS = re.compile(r"(?:http |status(?: code)? )?[45]\d\d(?: [\w ]{1,40})?", re.IGNORECASE | re.ASCII)


def has_failed(step: Step) -> bool:
    return step.status in ("error", "soft-error")


def owns_error(step: Step) -> bool:
    """True for the failed step that the error came from; false for steps above that only passed it on."""
    return has_failed(step) and not (step.error is not None and step.error.is_propagated)


class _Node:
    __slots__ = ("children", "ends_with_failure", "is_blind", "may_fail_above", "parent", "step", "trails")

    def __init__(self, step: Step) -> None:
        self.step = step
        self.parent: Optional[_Node] = None
        self.children: list[_Node] = []
        # Its status says nothing.
        self.is_blind = False
        self.ends_with_failure = False
        self.may_fail_above = False
        # The latest errors of this step and below.
        self.trails: list[_Trail] = []


class _Trail:
    """An error: the step that owns it and the highest step that it reached."""

    __slots__ = ("owner", "top")

    def __init__(self, node: _Node) -> None:
        self.owner = node
        self.top = node


def attribute_errors(steps: Sequence[Step], is_read_while_recording: bool) -> None:
    """The deepest step that has an error owns it; steps above that have it too passed it on.

    It counts as handled when a step above them succeeded, whatever the steps in between made of it, or when
    a later attempt of the same call did. Steps are in start order, so parents come before their children.
    """
    if not any(has_failed(step) for step in steps):
        return
    walk = _build_tree(steps)
    retries = _Retries(walk)
    _mark_blind_containers(walk)
    for node in walk:
        above = node.parent
        if above is not None and (above.may_fail_above or above.is_blind or has_failed(above.step)):
            node.may_fail_above = True
    trails: list[_Trail] = []
    for node in reversed(walk):
        if node.is_blind and node.step.status == "ok":
            _copy_status_of_last_child(node)
        if has_failed(node.step):
            _follow_error(node, trails, retries)
        if node.trails and node.may_fail_above and node.parent is not None:
            node.parent.trails = [*node.trails, *node.parent.trails][-_MAX_TRAILS:]
    for trail in trails:
        if _has_survivor(trail.top, is_read_while_recording) or retries.was_tried_again(trail.top):
            _mark_handled(trail)


def _build_tree(steps: Sequence[Step]) -> list[_Node]:
    """Parents before their children."""
    nodes = {step.id: _Node(step) for step in steps}
    roots: list[_Node] = []
    for node in nodes.values():
        parent = nodes.get(node.step.parent_id or "")
        if parent is None or parent is node:
            roots.append(node)
        else:
            node.parent = parent
            parent.children.append(node)
    walk: list[_Node] = []
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        walk.append(node)
        waiting.extend(reversed(node.children))
    return walk


def _mark_blind_containers(walk: Sequence[_Node]) -> None:
    """A container without an output whose last step is an agent that failed has failed too."""
    for node in reversed(walk):
        step = node.step
        if step.status == "running" or step.output_preview is not None:
            continue
        last = _last_child(node) if step.kind in ("workflow", "agent", "other") else None
        if last is None:
            continue
        has_agent_failed = last.step.kind == "agent" and last.step.status == "error"
        if has_agent_failed or last.ends_with_failure:
            node.ends_with_failure = True
            node.is_blind = step.status == "ok"


def _last_child(node: _Node) -> Optional[_Node]:
    last: Optional[_Node] = None
    for child in node.children:
        if child.step.kind in ("guardrail", "event", "handoff"):
            continue
        if last is None or child.step.started_ns >= last.step.started_ns:
            last = child
    return last


def _copy_status_of_last_child(node: _Node) -> None:
    last = _last_child(node)
    if last is None or not has_failed(last.step):
        return
    node.step.status = last.step.status
    if node.step.error is None:
        node.step.error = replace(_error_of(last.step), is_propagated=False, is_handled=False)


def _follow_error(node: _Node, found: list[_Trail], retries: _Retries) -> None:
    error = replace(_error_of(node.step), is_propagated=False, is_handled=False)
    node.step.error = error
    below = _trails_below(error, node, retries)
    if below:
        error.is_propagated = True
        for trail in below:
            trail.top = node
        return
    trail = _Trail(node)
    found.append(trail)
    node.trails = [*node.trails, trail][-_MAX_TRAILS:]


def _error_of(step: Step) -> StepError:
    return step.error or StepError("Error", "")


def _trails_below(error: StepError, node: _Node, retries: _Retries) -> list[_Trail]:
    """The errors below that this step passes on."""
    if lacks_details(error):
        direct = [
            one for one in node.trails if one.top.parent is node and not retries.was_tried_again(one.top)
        ]
        return direct[-1:]
    same = [
        trail
        for trail in node.trails
        if _is_same(error, _error_of(trail.owner.step))
        or _is_same(error, _error_of(trail.top.step))
        or (
            trail.top.parent is node
            and _says_only_status(_error_of(trail.top.step))
            and not retries.was_tried_again(trail.top)
        )
    ]
    unsolved = [trail for trail in same if not retries.was_tried_again(trail.top)]
    return unsolved or same


def lacks_details(error: StepError) -> bool:
    """True for an error without details: a bare status."""
    text = error.message.strip()
    return text in ("", error.type) or _BARE.fullmatch(text) is not None


def _says_only_status(error: StepError) -> bool:
    return lacks_details(error) or _ONLY_STATUS.fullmatch(error.message.strip()) is not None


def _is_same(outer: StepError, inner: StepError) -> bool:
    """Compares the chains of causes, because an error may be wrapped several times on its way up."""
    return any(
        _is_same_text(left.message, right.message) for left in _causes(outer) for right in _causes(inner)
    )


def _causes(error: StepError) -> list[StepError]:
    causes: list[StepError] = []
    following: Optional[StepError] = error
    while following is not None and len(causes) < _CAUSES_FOLLOWED:
        causes.append(following)
        following = following.cause
    return causes


def _is_same_text(left: str, right: str) -> bool:
    shorter, longer = (left.strip(), right) if len(left) < len(right) else (right.strip(), left)
    if shorter == longer.strip():
        return shorter != ""
    return len(shorter) >= _MIN_MATCH_LENGTH and shorter in longer


class _CallKey(NamedTuple):
    kind: str
    parent_id: int


class _Retries:
    """Finds out whether a later sibling repeated a failed model call successfully."""

    def __init__(self, walk: Sequence[_Node]) -> None:
        self._last_successes: dict[_CallKey, int] = {}
        for node in walk:
            step = node.step
            if node.parent is None or step.status != "ok" or step.kind not in ("llm", "embedding"):
                continue
            key = _CallKey(step.kind, id(node.parent))
            self._last_successes[key] = max(self._last_successes.get(key, 0), step.started_ns)

    def was_tried_again(self, node: _Node) -> bool:
        if node.parent is None or node.step.kind not in ("llm", "embedding"):
            return False
        last = self._last_successes.get(_CallKey(node.step.kind, id(node.parent)), -1)
        return last >= node.step.started_ns


def _has_survivor(top: _Node, is_read_while_recording: bool) -> bool:
    below, above = top, top.parent
    while above is not None:
        status = above.step.status
        if status == "ok" or (status == "running" and _went_on(above, below)):
            return True
        below, above = above, above.parent
    return below is not top and below.step.status == "running" and is_read_while_recording


def _went_on(running: _Node, failed: _Node) -> bool:
    """A step that still runs has caught an error below it if it has started something since."""
    ended_ns = failed.step.ended_ns
    if ended_ns is None:
        return False
    return max(child.step.started_ns for child in running.children) >= ended_ns


def _mark_handled(trail: _Trail) -> None:
    node: Optional[_Node] = trail.owner
    while node is not None:
        if node.step.error is not None and has_failed(node.step):
            node.step.error.is_handled = True
        if node is trail.top:
            return
        node = node.parent
