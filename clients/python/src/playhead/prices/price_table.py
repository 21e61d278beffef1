"""Model prices, from the table that `scripts/write-python-prices.mjs` generates from the server's source."""

from __future__ import annotations

import datetime
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Optional

from .rate_card import Card, card_of

DatedCard = Callable[[float], Optional[Card]]

# Our provider ids and common aliases, mapped to the table's names.
_TABLE_PROVIDERS = {
    "gcp.gemini": "google",
    "gcp.vertex_ai": "google",
    "gcp.gen_ai": "google",
    "aws.bedrock": "aws",
    "azure.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "x_ai": "x-ai",
    "xai": "x-ai",
    "mistral_ai": "mistral",
    "moonshot_ai": "moonshotai",
    "together_ai": "together",
    "togetherai": "together",
    "fireworks_ai": "fireworks",
    "voyage_ai": "voyageai",
    "zhipu_ai": "zhipuai",
    "z_ai": "zai",
    "github_copilot": "github-copilot",
}
_LOCAL_PROVIDERS = frozenset(
    [
        "ollama",
        "lmstudio",
        "lm_studio",
        "lm-studio",
        "vllm",
        "llamacpp",
        "llama_cpp",
        "llama.cpp",
        "localai",
        "local",
        "mlx",
        "sglang",
        "tgi",
    ]
)
# Providers of their own models, tried by model name when the provider is unknown.
_MODEL_MAKERS = ("openai", "anthropic", "google", "mistral", "cohere", "x-ai", "deepseek", "voyageai")
# Ollama's model names: family, colon, size or tag.
_LOCAL_MODEL = re.compile(r":(latest|\d+(\.\d+)?[bm])\b", re.IGNORECASE | re.ASCII)
_DATE_IN_NAME = re.compile(r"(-)(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)", re.ASCII)
_DAY_MS = 86_400_000


@lru_cache(maxsize=1)
def _providers() -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "prices.json").read_text(encoding="utf-8")
    providers: list[dict[str, Any]] = json.loads(text)
    return providers


def find_card(model: str, provider: Optional[str]) -> Optional[DatedCard]:
    """The rates of a model, by provider id and model name; None if the table has none."""
    if _is_local(model, provider):
        return None
    own = None if provider is None else _TABLE_PROVIDERS.get(provider, provider)
    slash = model.find("/")
    maker = model[:slash] if slash > 0 else None
    bare = model[slash + 1 :]
    if maker is not None and _is_local(bare, maker):
        return None
    found = _look_up(model, own)
    if found is None and maker is not None:
        found = _look_up(bare, _TABLE_PROVIDERS.get(maker, maker))
        if found is None:
            found = _look_up(model[model.rfind("/") + 1 :], own)
    if found is None:
        found = _look_up(model, None)
    for other in _MODEL_MAKERS:
        if found is None:
            found = _look_up(bare, other)
    return found


def _is_local(model: str, provider: Optional[str]) -> bool:
    return provider in _LOCAL_PROVIDERS or _LOCAL_MODEL.search(model) is not None


def _look_up(model: str, provider_id: Optional[str]) -> Optional[DatedCard]:
    name, of = model.lower().strip(), provider_id
    if of is not None and of.lower() == "litellm" and "/" in name:
        maker, _, rest = name.partition("/")
        if maker and rest and _find_provider(name, maker) is not None:
            of, name = maker, rest
    provider = _find_provider(name, of)
    found = None if provider is None else _find_model(provider, name)
    return None if found is None else _date_card(found["prices"])


def _find_provider(model: str, provider_id: Optional[str]) -> Optional[dict[str, Any]]:
    providers = _providers()
    if provider_id:
        wanted = provider_id.lower().strip()
        by_id = next((one for one in providers if one["id"] == wanted), None)
        by_id = by_id or next(
            (one for one in providers if "match" in one and _matches(one["match"], wanted)), None
        )
        if by_id is not None or wanted != "litellm":
            return by_id
    return next(
        (one for one in providers if "models_match" in one and _matches(one["models_match"], model)), None
    )


def _find_model(provider: dict[str, Any], name: str) -> Optional[dict[str, Any]]:
    found = _find_in(provider, name)
    if found is not None:
        return found
    dated = _DATE_IN_NAME.sub(_split_date, name)
    return None if dated == name else _find_in(provider, dated)


def _find_in(provider: dict[str, Any], name: str, is_fallback: bool = False) -> Optional[dict[str, Any]]:
    for model in provider["models"]:
        if _matches(model["match"], name):
            return model  # type: ignore[no-any-return]
    for other_id in [] if is_fallback else provider.get("fallbacks") or []:
        other = next((one for one in _providers() if one["id"] == other_id), None)
        found = None if other is None else _find_in(other, name, is_fallback=True)
        if found is not None:
            return found
    return None


def _split_date(match: re.Match[str]) -> str:
    dash, year, month, day = match.groups()
    try:
        datetime.date(int(year), int(month), int(day))
    except ValueError:
        return match.group(0)
    return f"{dash}{year}-{month}-{day}"


def _matches(rule: dict[str, Any], text: str) -> bool:
    ((kind, value),) = rule.items()
    if kind == "or":
        return any(_matches(one, text) for one in value)
    if kind == "and":
        return all(_matches(one, text) for one in value)
    if kind == "regex":
        return re.search(value, text, re.ASCII) is not None
    lower, wanted = text.lower(), value.lower()
    if kind == "equals":
        return bool(lower == wanted)
    if kind == "starts_with":
        return lower.startswith(wanted)
    if kind == "ends_with":
        return lower.endswith(wanted)
    return kind == "contains" and wanted in lower


def _date_card(prices: Any) -> DatedCard:
    if not isinstance(prices, list):
        card = card_of(prices)
        return lambda _at_ms: card
    dated = [(_in_force(one.get("constraint")), card_of(one["prices"])) for one in reversed(prices)]

    def at(at_ms: float) -> Optional[Card]:
        for is_in_force, card in dated:
            if is_in_force(at_ms):
                return card
        return dated[-1][1] if dated else None

    return at


def _in_force(constraint: Optional[dict[str, Any]]) -> Callable[[float], bool]:
    if constraint is None:
        return lambda _at_ms: True
    if constraint["type"] == "start_date":
        day = datetime.datetime.fromisoformat(constraint["start_date"]).replace(tzinfo=datetime.timezone.utc)
        from_ms = day.timestamp() * 1000
        return lambda at_ms: at_ms >= from_ms
    start, end = _ms_of_day(constraint["start_time"]), _ms_of_day(constraint["end_time"])

    def is_in_force(at_ms: float) -> bool:
        now = at_ms % _DAY_MS
        return now >= start or now < end if end < start else start <= now < end

    return is_in_force


def _ms_of_day(time_text: str) -> float:
    moment = datetime.datetime.fromisoformat(f"1970-01-02T{time_text.replace('Z', '+00:00')}")
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.timezone.utc)
    return aware.timestamp() * 1000 % _DAY_MS
