"""Summarises a session or a part of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from .prices.rate_card import round_dollars
from .step import Step

UNKNOWN_MODEL = "unknown model"


def tokens_of(steps: Sequence[Step]) -> dict[str, int]:
    """The sum over all calls; unreported fields are absent."""
    total: dict[str, int] = {}
    for step in steps:
        for field, count in (step.usage or {}).items():
            total[field] = total.get(field, 0) + count
    return total


def cost_of_steps(steps: Sequence[Step]) -> Optional[float]:
    """US dollars; None if nothing could be priced."""
    costs = [step.cost for step in steps if step.cost is not None]
    return round_dollars(sum(costs)) if costs else None


def unpriced_models(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(step.model or UNKNOWN_MODEL for step in steps if _lacks_price(step)))


def models_without_usage(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(step.model or UNKNOWN_MODEL for step in steps if _lacks_usage(step)))


def _lacks_price(step: Step) -> bool:
    """True for a call with tokens whose price is unknown."""
    return step.cost is None and step.usage is not None


def _lacks_usage(step: Step) -> bool:
    """True for a call that reported no tokens, so nobody knows what it cost."""
    if step.cost is not None or step.usage is not None:
        return False
    return step.kind in ("llm", "embedding") and step.status in ("ok", "soft-error")


def is_failed(step: Step) -> bool:
    return step.status in ("error", "soft-error")


def owned_errors(steps: Sequence[Step]) -> list[Step]:
    """The steps that raised or returned an error, without those it propagated through."""
    return [
        step for step in steps if is_failed(step) and step.error is not None and not step.error.is_propagated
    ]


def end_state_of(steps: Sequence[Step]) -> tuple[str, Optional[str]]:
    """An explicit end state wins, the root's first; otherwise the roots' status decides."""
    known = {step.id for step in steps}
    roots = [step for step in steps if step.parent_id not in known]
    for step in [*roots, *steps]:
        given = step.attributes.get("playhead.session.end_state")
        if given is not None:
            return str(given).lower(), step.attributes.get("playhead.session.end_state_reason")
    if any(step.status == "running" for step in steps) or not steps:
        return "running", None
    failed = next((step for step in roots if is_failed(step)), None)
    if failed is None:
        return "success", None
    return "fail", None if failed.error is None else failed.error.message or failed.error.type


def tags_of(steps: Sequence[Step]) -> list[str]:
    tags: dict[str, None] = {}
    for step in steps:
        tags.update(dict.fromkeys(step.attributes.get("playhead.session.tags") or ()))
    return list(tags)


def name_of(steps: Sequence[Step]) -> str:
    """The given name, else the name of the first meaningful step, else the user's question."""
    given = next(
        (
            step.attributes["playhead.session.name"]
            for step in steps
            if "playhead.session.name" in step.attributes
        ),
        None,
    )
    if given is not None:
        return str(given)
    if steps and steps[0].kind in ("action", "agent"):
        return steps[0].name
    agent = next((step for step in steps if step.kind == "agent"), None)
    if agent is not None:
        return agent.agent or agent.name
    asked = first_question(steps)
    return "session" if asked is None else asked.split("\n", 1)[0][:80]


def first_question(steps: Sequence[Step]) -> Optional[str]:
    for step in steps:
        for message in reversed(step.messages or []):
            if message.get("role") not in ("system", "assistant") and "is_output" not in message:
                text = " ".join(
                    str(part.get("content"))
                    for part in message.get("parts") or ()
                    if part.get("type") == "text"
                )
                if text.strip():
                    return text.strip()
    return None


def first_fact(steps: Sequence[Step], key: str) -> Any:
    return next((step.attributes[key] for step in steps if key in step.attributes), None)
