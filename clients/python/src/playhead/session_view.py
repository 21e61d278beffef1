"""A session as seen by the recording process: readable at any time, with or without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from .clock import to_iso
from .reading import summary
from .reading.parse import parse_json
from .reading.scores import ScoreValue, scores_of
from .reading.session_json import steps_of
from .reading.usage import Totals, total_of
from .record_score import record_score
from .scope import SessionFrame
from .session_record import SessionRecord
from .step import RecordedAction, RecordedError, Step

if TYPE_CHECKING:
    from .runtime import Runtime


class SessionView:
    def __init__(
        self, runtime: Optional[Runtime], record: SessionRecord, frame: Optional[SessionFrame] = None
    ) -> None:
        # The class is public, and a host may pass anything.
        is_own = type(record) is SessionRecord and (runtime is None or hasattr(type(runtime), "step_ended"))
        self._runtime = runtime if is_own else None
        self._record = record if is_own else SessionRecord("")
        self._frame = frame if is_own and type(frame) is SessionFrame and frame.is_part else None

    @classmethod
    def empty(cls) -> SessionView:
        """The empty view returned where nothing is being recorded."""
        return cls(None, SessionRecord(""))

    @property
    def id(self) -> str:
        """The trace id, 32 hex digits. Empty if nothing is being recorded."""
        return self._record.id

    @property
    def session_id(self) -> str:
        return self.id

    @property
    def url(self) -> str:
        """Opens the replay at this part; the recording's file URL if nothing is sent to a server."""
        if self._runtime is None:
            return ""
        return self._runtime.url_of(self._record, None if self._frame is None else self._frame.span.id)

    @property
    def session_url(self) -> str:
        return self.url

    @property
    def steps(self) -> list[Step]:
        """Everything recorded, in start order."""
        if self._runtime is None:
            return []
        steps = steps_of(self._record, self._runtime.redactor)
        return steps if self._frame is None else _below(steps, self._frame.span.id)

    @property
    def action_events(self) -> list[RecordedAction]:
        return [_to_action(step) for step in self.steps if step.kind == "action"]

    @property
    def llm_calls(self) -> list[Step]:
        return [step for step in self.steps if step.kind == "llm"]

    @property
    def errors(self) -> list[RecordedError]:
        """Each error once, with the step that raised or returned it."""
        return [
            RecordedError(step.error.type, step.error.message, step.error.stack, step, step.error.is_handled)
            for step in summary.owned_errors(self.steps)
            if step.error is not None
        ]

    @property
    def cost(self) -> Optional[float]:
        """US dollars, at the server's prices. None if models were used and none could be priced."""
        totals = self._totals
        return 0.0 if totals.cost is None and totals.is_complete else totals.cost

    @property
    def unpriced_models(self) -> list[str]:
        """Models without a known price; `cost` excludes them."""
        return self._totals.unpriced_models

    @property
    def models_without_usage(self) -> list[str]:
        """Models of calls that reported no usage; `tokens` and `cost` exclude them."""
        return self._totals.models_without_usage

    @property
    def tokens(self) -> dict[str, int]:
        return dict(self._totals.tokens)

    @property
    def models_without_output(self) -> list[str]:
        """Models of calls that reported tokens, but not those of their output."""
        return self._totals.models_without_output

    @property
    def _totals(self) -> Totals:
        ledger = self._record.ledger
        if self._frame is None:
            return ledger.totals
        inside = {step.id for step in self.steps}
        return total_of(call for call in ledger.calls if call.id in inside)

    @property
    def name(self) -> str:
        return summary.Outline(self.steps).name

    @property
    def tags(self) -> list[str]:
        return summary.Outline(self.steps).tags

    @property
    def metadata(self) -> dict[str, Any]:
        fields = parse_json(summary.Outline(self.steps).fact("playhead.session.metadata"))
        return fields if isinstance(fields, dict) else {}

    @property
    def end_state(self) -> str:
        """success, fail or indeterminate; running until the session ends."""
        if self._frame is not None:
            return self._frame.end_state or "running"
        return summary.Outline(self.steps).end_state[0]

    @property
    def end_state_reason(self) -> Optional[str]:
        return self._frame.reason if self._frame is not None else summary.Outline(self.steps).end_state[1]

    @property
    def started_at(self) -> str:
        steps = self.steps
        return steps[0].started_at if steps else to_iso(self._record.started_ns)

    @property
    def duration_ms(self) -> Optional[float]:
        """None while the session runs."""
        steps = self.steps
        if not steps or self.end_state == "running":
            return None
        ended_ms = max(step.offset_ms + (step.duration_ms or 0) for step in steps)
        return round(ended_ms - steps[0].offset_ms, 3)

    @property
    def scores(self) -> list[dict[str, Any]]:
        """All scores of the session and its steps, newest first, as in `to_json()`."""
        return scores_of(self._record.ended)

    def score(
        self,
        name: str,
        value: ScoreValue,
        *,
        comment: Optional[str] = None,
        source: str = "code",
        step: Union[str, Step, None] = None,
        id: Optional[str] = None,
    ) -> None:
        """Give the session a score: a number, yes or no, or a word. It may have ended.

        The newest of a name counts. `source` is code, person, model or user; `step` makes it about one step;
        with the same `id` it counts once.
        """
        if self._runtime is None:
            return
        with self._runtime.guard():
            record_score(
                self._runtime,
                self._record,
                name,
                value,
                comment=comment,
                source=source,
                step=step,
                score_id=id,
            )

    def to_json(self) -> dict[str, Any]:
        """The whole session, in the format of the API and of recordings."""
        if self._runtime is None:
            return {}
        whole = self._runtime.read(self._record)
        whole["session"]["url"] = self._runtime.url_of(self._record)
        return whole

    def __repr__(self) -> str:
        return f"<playhead session s_{self.id[:8]} {self.end_state} {self.url}>"


def _below(steps: list[Step], root_id: str) -> list[Step]:
    """A step and its descendants. Parents come before their children."""
    inside = {root_id}
    found: list[Step] = []
    for step in steps:
        if step.id in inside or step.parent_id in inside:
            inside.add(step.id)
            found.append(step)
    return found


def _to_action(step: Step) -> RecordedAction:
    return RecordedAction(
        action_type=step.name,
        params=step.input,
        returns=step.output,
        effect=step.effect,
        status=step.status,
        error=step.error,
        started_at=step.started_at,
        duration_ms=step.duration_ms,
        step_id=step.id,
    )
