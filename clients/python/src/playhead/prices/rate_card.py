"""Computes a call's cost from a model's rates, with exactly the server's arithmetic."""

from __future__ import annotations

import math
from typing import Any, Optional

_RATES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cacheRead": "cache_read_mtok",
    "cacheWrite": "cache_write_mtok",
    "cacheWrite5m": "cache_write_5m_mtok",
    "cacheWrite1h": "cache_write_1h_mtok",
    "audioInput": "input_audio_mtok",
    "audioCacheRead": "cache_audio_read_mtok",
    "audioOutput": "output_audio_mtok",
    "imageInput": "input_image_mtok",
    "imageCacheRead": "cache_image_read_mtok",
    "reasoning": "output_reasoning_mtok",
}

Card = dict[str, Any]
Usage = dict[str, Any]


def card_of(prices: Optional[dict[str, Any]]) -> Optional[Card]:
    """None if the model is not charged per token."""
    if prices is None:
        return None
    card: Card = {field: prices[key] for field, key in _RATES.items() if key in prices}
    _add_hour_rate(card)
    if isinstance(prices.get("requests_kcount"), (int, float)):
        card["request"] = prices["requests_kcount"] / 1000
    is_charged_by_token = "input" in card or "output" in card
    return card if not prices or is_charged_by_token else None


def _add_hour_rate(card: Card) -> None:
    """Claude's one-hour cache writes cost twice the input, whoever serves; the table has only Anthropic's."""
    if "cacheWrite1h" in card or "input" not in card or "cacheWrite" not in card:
        return
    rate = card["input"]
    if abs(_rate_for(card["cacheWrite"], 0) - 1.25 * _rate_for(rate, 0)) >= 1e-9:
        return
    if not isinstance(rate, dict):
        card["cacheWrite1h"] = 2 * rate
        return
    tiers = [{"start": tier["start"], "price": 2 * tier["price"]} for tier in rate["tiers"]]
    card["cacheWrite1h"] = {"base": 2 * rate["base"], "tiers": tiers}


def cost_of(
    usage: Usage, input_tokens: float, output_tokens: float, context_tokens: float, card: Card
) -> float:
    """US dollars for one call."""
    return (
        _input_cost(usage, input_tokens, context_tokens, card)
        + _output_cost(usage, output_tokens, context_tokens, card)
        + (card.get("request") or 0)
    )


def _input_cost(usage: Usage, total: float, context_tokens: float, card: Card) -> float:
    audio = _up_to(usage.get("audioInput"), total)
    image = _up_to(usage.get("imageInput"), total - audio)
    text = total - audio - image
    both = usage.get("cacheWrite")
    if both is None:
        both = (usage.get("cacheWrite5m") or 0) + (usage.get("cacheWrite1h") or 0)
    written = _up_to(both, text)
    written_for_hour = _up_to(usage.get("cacheWrite1h"), written)
    read = _up_to(usage.get("cacheRead"), total - written)
    # Reports don't say which tokens were cached; assume text first, because prompts repeat text.
    read_text = _up_to(read, text - written)
    read_audio = _up_to(read - read_text, audio)
    read_image = _up_to(read - read_text - read_audio, image)

    def rate(*fields: str) -> float:
        chosen = next((card[field] for field in fields if field in card), None)
        return _rate_for(chosen, context_tokens)

    dollars = (
        (text - written - read_text) * rate("input")
        + read_text * rate("cacheRead", "input")
        + (written - written_for_hour) * rate("cacheWrite5m", "cacheWrite", "input")
        + written_for_hour * rate("cacheWrite1h", "cacheWrite", "input")
        + (audio - read_audio) * rate("audioInput", "input")
        + read_audio * rate("audioCacheRead", "cacheRead", "audioInput", "input")
        + (image - read_image) * rate("imageInput", "input")
        + read_image * rate("imageCacheRead", "cacheRead", "imageInput", "input")
    )
    return dollars / 1e6


def _output_cost(usage: Usage, total: float, context_tokens: float, card: Card) -> float:
    audio = _up_to(usage.get("audioOutput"), total)
    reasoning = _up_to(usage.get("reasoning"), total - audio) if "reasoning" in card else 0
    dollars = (
        (total - audio - reasoning) * _rate_for(card.get("output"), context_tokens)
        + audio * _rate_for(card.get("audioOutput", card.get("output")), context_tokens)
        + reasoning * _rate_for(card.get("reasoning"), context_tokens)
    )
    return dollars / 1e6


def _up_to(count: Optional[float], limit: float) -> float:
    return 0 if count is None else max(0, min(count, limit))


def _rate_for(rate: Any, context_tokens: float) -> float:
    """A tier applies to the whole call once its input exceeds the tier's start."""
    if rate is None:
        return 0
    if not isinstance(rate, dict):
        return float(rate)
    price: float = rate["base"]
    for tier in sorted(rate["tiers"], key=lambda one: one["start"]):
        if context_tokens > tier["start"]:
            price = tier["price"]
    return price


def round_dollars(dollars: float) -> float:
    """Round to twelve decimals; the rest is floating-point noise."""
    return math.floor(dollars * 1e12 + 0.5) / 1e12
