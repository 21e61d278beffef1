"""Records scores: as spans of the session's trace, so that they are delivered and spooled like steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional, Union

from .reading.scores import EVALUATION_RESULT, SOURCES, score_attributes
from .session_record import SessionRecord
from .span import Span
from .step import Step

if TYPE_CHECKING:
    from .runtime import Runtime


def record_score(
    runtime: Runtime,
    record: SessionRecord,
    name: object,
    value: object,
    *,
    comment: Optional[str] = None,
    source: str = "code",
    step: Union[str, Step, None] = None,
    score_id: Optional[str] = None,
) -> None:
    spans = [*record.open.values(), *record.ended]
    if not isinstance(name, str) or not name.strip() or not _is_value(value):
        runtime.reporter.once(
            "score",
            'score() takes a name and a number, True or False, or a word: session.score("helpful", 1)',
        )
        return
    root = next((span for span in spans if span.parent_id is None), spans[0] if spans else None)
    if root is None:
        return
    step_id = step.id if isinstance(step, Step) else step
    is_text_kept = runtime.serialize_options.is_content_kept
    attributes = score_attributes(
        name,
        value,  # type: ignore[arg-type]
        source if source in SOURCES else "code",
        comment if is_text_kept else None,
        step_id if isinstance(step_id, str) else None,
        score_id if isinstance(score_id, str) else None,
    )
    span = Span(EVALUATION_RESULT, record.id, root.id, attributes)
    runtime.step_started(span, record)
    span.end_ns = span.start_ns
    runtime.step_ended(span, record)


def _is_value(value: object) -> bool:
    if isinstance(value, (bool, int)):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) and value.strip() != ""
