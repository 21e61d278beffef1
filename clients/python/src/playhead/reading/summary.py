"""Summarises a session or a part of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Optional

from ..format.json_text import utf16_length, utf16_slice
from ..step import Step
from .errors import has_failed, lacks_details, owns_error
from .previews import preview_of_user

_NAME_LENGTH = 80
# Default names of frameworks, which say nothing.
_DEFAULT_NAMES = frozenset(
    [
        "agent workflow",
        "default",
        "invocation",
        "response",
        "root",
        "runnablesequence",
        "session",
        "span",
        "trace",
        "turn",
        "unknown",
    ]
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# JSON, or an object as Python prints it.
_DATA = re.compile(r"[{\[]|[A-Z]\w*\(\w+=|<[\w.]+ object at 0x", re.ASCII)


def is_model_call(step: Step) -> bool:
    return step.kind in ("llm", "embedding")


def owned_errors(steps: Sequence[Step]) -> list[Step]:
    """The steps that raised or returned an error, without those it propagated through."""
    return [step for step in steps if owns_error(step)]


class Outline:
    """The steps of a session or a part, and those at its top."""

    def __init__(self, steps: Sequence[Step]) -> None:
        known = {step.id for step in steps}
        self.steps = steps
        self.top: list[Step] = [step for step in steps if step.parent_id not in known]
        # Steps at the top take precedence in what they say about the session.
        self.by_precedence: list[Step] = [*self.top, *(step for step in steps if step.parent_id in known)]

    def fact(self, key: str) -> Any:
        return next((step.attributes[key] for step in self.by_precedence if key in step.attributes), None)

    @property
    def tags(self) -> list[str]:
        tags: dict[str, None] = {}
        for step in self.by_precedence:
            tags.update(dict.fromkeys(step.attributes.get("playhead.session.tags") or ()))
        return list(tags)

    @property
    def name(self) -> str:
        """The given name, that of the root, of the first agent or workflow, or the user's question."""
        given = self.fact("playhead.session.name")
        if given:
            return str(given)
        root = self.top[0] if self.top else None
        if root is not None and _is_descriptive(root.name) and not _is_model_name(root):
            return root.name
        for kind in ("agent", "workflow"):
            for step in self.steps:
                name = step.agent or step.name if kind == "agent" else step.name
                if step.kind == kind and _is_descriptive(name):
                    return name
        line = (self.input_preview or "").strip().split("\n", 1)[0]
        if line:
            return line if utf16_length(line) <= _NAME_LENGTH else f"{utf16_slice(line, _NAME_LENGTH)}…"
        return "session" if root is None or root.name.strip() == "" else root.name

    @property
    def input_preview(self) -> Optional[str]:
        """What the user said: the input of the root, otherwise of the first step of a run."""
        texts = [
            text for text in (_said(step) for step in self.top if not step.is_inferred) if text is not None
        ]
        for step in self.steps:
            said = _said(step) if step.kind in ("llm", "agent", "workflow") else None
            if said is not None:
                texts.append(said)
                if _DATA.match(said) is None:
                    break
        return next((text for text in texts if _DATA.match(text) is None), texts[0] if texts else None)

    @property
    def end_state(self) -> tuple[str, Optional[str]]:
        """An explicit end state wins, the root's first; otherwise the roots' status decides."""
        reporter = next(
            (step for step in self.by_precedence if "playhead.session.end_state" in step.attributes), None
        )
        reason = None
        if reporter is not None:
            reason = reporter.attributes.get("playhead.session.end_state_reason") or None
            state = parse_end_state(str(reporter.attributes["playhead.session.end_state"]))
            # Without a reason, it only means that nobody said how it ended.
            if state == "indeterminate" and reason is None and self._ends_with_failure():
                state = "fail"
        elif not self.steps or any(step.status == "running" for step in self.steps):
            state = "running"
        else:
            has_failed_root = any(has_failed(step) and not step.is_inferred for step in self.top)
            state = "fail" if has_failed_root else "success"
        return state, self._reason() if reason is None and state == "fail" else reason

    def _ends_with_failure(self) -> bool:
        """True when the last agent or task raised and nothing came after it."""
        roots = {step.id for step in self.top}
        last = next(
            (
                step
                for step in reversed(self.steps)
                if step.id not in roots and step.kind in ("agent", "workflow")
            ),
            None,
        )
        if last is None or last.status != "error" or last.ended_ns is None:
            return False
        ended_ns = last.ended_ns
        return not any(step.started_ns > ended_ns for step in self.steps)

    def _reason(self) -> Optional[str]:
        telling = next(
            (step for step in self.top if has_failed(step) and step.error and not lacks_details(step.error)),
            None,
        )
        if telling is None:
            failed = owned_errors(self.steps)
            unhandled = [step for step in failed if step.error is None or not step.error.is_handled]
            telling = next(reversed(unhandled or failed), None)
        if telling is None or telling.error is None:
            return None
        return telling.error.message or telling.error.type


def parse_end_state(text: str) -> str:
    word = text.rsplit(".", 1)[-1].strip().lower()
    if word in ("success", "succeeded", "ok", "passed", "pass"):
        return "success"
    return "fail" if word in ("fail", "failed", "failure", "error") else "indeterminate"


def _is_descriptive(name: str) -> bool:
    text = name.strip().lower()
    return text != "" and text not in _DEFAULT_NAMES and _UUID.search(text) is None


def _is_model_name(step: Step) -> bool:
    """A session of a single model call is better named by its input."""
    return is_model_call(step) and any(
        known and known in step.name for known in (step.model, step.requested_model)
    )


def _said(step: Step) -> Optional[str]:
    return preview_of_user(step.messages or []) or step.input_preview
