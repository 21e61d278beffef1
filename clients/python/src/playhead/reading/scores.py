"""Scores of a session: recorded as spans that are no steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from ..clock import to_iso
from ..span import Span

EVALUATION_RESULT = "gen_ai.evaluation.result"
SOURCES = ("person", "code", "model", "user")
MAX_NAME = 100
MAX_WORD = 200
MAX_COMMENT = 4000

ScoreValue = Union[bool, float, str]


def is_score(span: Span) -> bool:
    """True for a span that only brings a score."""
    return span.name == EVALUATION_RESULT and "playhead.score.source" in span.attributes


def score_attributes(
    name: str,
    value: ScoreValue,
    source: str,
    comment: Optional[str],
    step_id: Optional[str],
    score_id: Optional[str],
) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": name.strip()[:MAX_NAME],
        "playhead.score.source": source,
    }
    if isinstance(value, str):
        attributes["gen_ai.evaluation.score.label"] = value[:MAX_WORD]
    else:
        attributes["gen_ai.evaluation.score.value"] = float(value)
        if isinstance(value, bool):
            attributes["gen_ai.evaluation.score.label"] = "true" if value else "false"
    if comment:
        attributes["gen_ai.evaluation.explanation"] = comment[:MAX_COMMENT]
    if step_id is not None:
        attributes["playhead.score.step"] = step_id
    if score_id is not None:
        attributes["playhead.score.id"] = score_id
    return attributes


def scores_of(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """All scores, newest first, in the format of the API and of recordings."""
    scores: dict[str, dict[str, Any]] = {}
    for span in sorted(filter(is_score, spans), key=lambda span: span.start_ns):
        score = _to_score(span)
        scores.setdefault(score["id"], score)
    return list(reversed(scores.values()))


def counting_scores(scores: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One of each name: the session's before those of its steps, the newest of several."""
    counting: dict[str, dict[str, Any]] = {}
    for score in scores:
        known = counting.get(score["name"])
        if known is None or ("stepId" in known and "stepId" not in score):
            counting[score["name"]] = score
    return [counting[name] for name in sorted(counting)]


def _to_score(span: Span) -> dict[str, Any]:
    attributes = span.attributes
    label = attributes.get("gen_ai.evaluation.score.label")
    number = attributes.get("gen_ai.evaluation.score.value")
    value = label if number is None else (label == "true" if label in ("true", "false") else number)
    described = {
        "id": attributes.get("playhead.score.id") or span.id,
        "name": attributes["gen_ai.evaluation.name"],
        "value": value,
        "source": attributes["playhead.score.source"],
        "comment": attributes.get("gen_ai.evaluation.explanation"),
        "stepId": attributes.get("playhead.score.step"),
        "at": to_iso(span.start_ns),
    }
    return {field: given for field, given in described.items() if given is not None}
