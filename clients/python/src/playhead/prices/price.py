"""A step's cost: as the sender reported it, else by the price table."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any, NamedTuple, Optional

from ..step import Step
from .price_table import DatedCard, find_card
from .rate_card import Card, card_of, cost_of, round_dollars

# Audio rates missing from the table; the server has the same list.
_TABLE_GAPS = (
    ("gpt-4o-mini-audio-preview", (0.15, 0.6, 10, 20)),
    ("gpt-4o-audio-preview", (2.5, 10, 40, 80)),
)
_AUDIO_MODEL = re.compile(r"audio|realtime|voice")


class _Lookup(NamedTuple):
    dated: Optional[DatedCard]
    is_audio_model: bool


def price_of(step: Step) -> tuple[Optional[float], Optional[str]]:
    """The cost in US dollars and its source; None if unknown."""
    reported = _reported(step)
    if reported is not None:
        return reported, "reported"
    if step.kind == "action" or step.usage is None or (step.model is None and step.requested_model is None):
        return None, None
    lookup = _look_up(step.provider, step.model, step.requested_model)
    card = None if lookup.dated is None else lookup.dated(step.started_ns / 1e6)
    if card is None:
        return None, None
    tokens = _tokens_of(step, card)
    if tokens is None or _lacks_audio_rate(step.usage, card, lookup):
        return None, None
    # A total over many calls says nothing about the size of each.
    context_tokens = tokens[0] if step.kind in ("llm", "embedding") else 0
    return round_dollars(cost_of(step.usage, *tokens, context_tokens, card)), "computed"


def _reported(step: Step) -> Optional[float]:
    """Ignore a reported cost of 0 for a model call."""
    cost = step.attributes.get("gen_ai.usage.cost")
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


def _tokens_of(step: Step, card: Card) -> Optional[tuple[float, float]]:
    """A call's input and output totals. An unreported total is unknown unless other figures imply it."""
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
    if sent is None or answered is None or sent < 0 or answered < 0:
        return None
    return sent, answered


def _lacks_audio_rate(usage: dict[str, Any], card: Card, lookup: _Lookup) -> bool:
    """Gemini charges audio like text unless its rates say otherwise; audio models never do."""
    if not lookup.is_audio_model:
        return False
    return ((usage.get("audioInput") or 0) > 0 and "audioInput" not in card) or (
        (usage.get("audioOutput") or 0) > 0 and "audioOutput" not in card
    )
