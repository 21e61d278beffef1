"""A step's cost: as the sender reported it, else by the price table."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any, NamedTuple, Optional

from .price_table import DatedCard, find_card
from .rate_card import Card, card_of, cost_of, round_dollars

# Audio rates missing from the table; the server has the same list.
_TABLE_GAPS = (
    ("gpt-4o-mini-audio-preview", (0.15, 0.6, 10, 20)),
    ("gpt-4o-audio-preview", (2.5, 10, 40, 80)),
)
_AUDIO_MODEL = re.compile(r"audio|realtime|voice")


class Call(NamedTuple):
    """A step with what its price depends on."""

    id: str
    parent_id: Optional[str]
    kind: str
    # running, ok or error
    status: str
    started_ns: int
    model: Optional[str]
    requested_model: Optional[str]
    provider: Optional[str]
    usage: Optional[dict[str, int]]
    reported_cost: Any = None


class _Lookup(NamedTuple):
    dated: Optional[DatedCard]
    is_audio_model: bool


def price_of(step: Call) -> tuple[Optional[float], Optional[str]]:
    """The cost in US dollars and its source; `no-price` if nobody knows the rates of the model."""
    reported = _reported(step)
    if reported is not None:
        return reported, "reported"
    is_named = step.model is not None or step.requested_model is not None
    is_call = step.kind in ("llm", "embedding")
    if step.kind == "action" or (step.usage is None and not (is_call and is_named)):
        return None, None
    lookup = _look_up(step.provider, step.model, step.requested_model) if is_named else _Lookup(None, False)
    card = None if lookup.dated is None else lookup.dated(step.started_ns / 1e6)
    if card is None:
        return None, "no-price"
    tokens = None if step.usage is None else _tokens_of(step, card)
    if step.usage is None or tokens is None:
        return None, None
    if _lacks_audio_rate(step.usage, card, lookup):
        return None, "no-price"
    # A total over many calls says nothing about the size of each.
    context_tokens = tokens[0] if is_call else 0
    return round_dollars(cost_of(step.usage, *tokens, context_tokens, card)), "computed"


def _reported(step: Call) -> Optional[float]:
    """Ignore a reported cost of 0 for a model call."""
    cost = step.reported_cost
    if not isinstance(cost, (int, float)) or not math.isfinite(cost) or cost < 0:
        return None
    return None if cost == 0 and (step.usage or step.kind in ("llm", "embedding")) else float(cost)


@lru_cache(maxsize=10_000)
def _look_up(provider: Optional[str], model: Optional[str], requested: Optional[str]) -> _Lookup:
    names = [name.strip().lower() for name in (model, requested) if name is not None and name.strip() != ""]
    of = None if provider is None else provider.strip().lower()
    dated = next((card for card in (_gap(name) for name in names) if card is not None), None)
    for name in names:
        dated = dated or find_card(name, of)
    return _Lookup(dated, any(_AUDIO_MODEL.search(name) for name in names))


def _gap(name: str) -> Optional[DatedCard]:
    for prefix, (text_in, text_out, audio_in, audio_out) in _TABLE_GAPS:
        if name.startswith(prefix):
            card = card_of(
                {
                    "input_mtok": text_in,
                    "output_mtok": text_out,
                    "input_audio_mtok": audio_in,
                    "output_audio_mtok": audio_out,
                }
            )
            return lambda _at_ms: card
    return None


def _tokens_of(step: Call, card: Card) -> Optional[tuple[float, float]]:
    """A call's input and output totals. What an ended call did not report or imply is 0."""
    usage: dict[str, Any] = step.usage or {}
    makes_no_output = (
        step.kind == "embedding" or step.status == "error" or ("output" not in card and "input" in card)
    )
    total = usage.get("total")
    sent, answered = usage.get("input"), usage.get("output")
    if answered is None and makes_no_output:
        answered = 0
    if sent is None and total is not None and answered is not None:
        sent = total - answered
    if answered is None and total is not None and sent is not None:
        answered = total - sent
    is_partial = sent is None or answered is None
    if (sent is None and answered is None) or (is_partial and step.status == "running"):
        return None
    sent, answered = sent or 0, answered or 0
    return None if sent < 0 or answered < 0 else (sent, answered)


def _lacks_audio_rate(usage: dict[str, Any], card: Card, lookup: _Lookup) -> bool:
    """Gemini charges audio like text unless its rates say otherwise; audio models never do."""
    if not lookup.is_audio_model:
        return False
    return ((usage.get("audioInput") or 0) > 0 and "audioInput" not in card) or (
        (usage.get("audioOutput") or 0) > 0 and "audioOutput" not in card
    )
