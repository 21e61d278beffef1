"""The tokens and the cost of a session, without a walk over its steps."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from ..prices.price import Call, price_of
from ..prices.rate_card import round_dollars
from ..span import STATUS_ERROR, Span

KINDS_OF_OPERATIONS = {
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "embeddings": "embedding",
    "execute_tool": "action",
    "invoke_agent": "agent",
}
USAGE_KEYS = {
    "gen_ai.usage.input_tokens": "input",
    "gen_ai.usage.output_tokens": "output",
    "gen_ai.usage.total_tokens": "total",
    "gen_ai.usage.cache_read.input_tokens": "cacheRead",
    "gen_ai.usage.cache_write.input_tokens": "cacheWrite",
    "gen_ai.usage.cache_creation.5m_input_tokens": "cacheWrite5m",
    "gen_ai.usage.cache_creation.1h_input_tokens": "cacheWrite1h",
    "gen_ai.usage.reasoning.output_tokens": "reasoning",
    "gen_ai.usage.audio.input_tokens": "audioInput",
    "gen_ai.usage.audio.output_tokens": "audioOutput",
    "gen_ai.usage.image.input_tokens": "imageInput",
}
UNKNOWN_MODEL = "unknown model"
# No call has this many tokens; larger numbers are errors.
_MAX_TOKENS = 1e12
# Calls beyond this are added up, but not kept for the parts of a session.
MAX_KEPT_CALLS = 20_000
# The provider by the name of the model, where nobody says it.
_FAMILIES = [
    (re.compile(pattern), provider)
    for pattern, provider in (
        (r"(?:[a-z]{2,4}\.)?(?:anthropic|amazon|meta|cohere|mistral|ai21)\.[a-z]", "aws.bedrock"),
        (r"(?:gpt-|chatgpt|o[1-9](?:-|$)|text-embedding|davinci|dall-e|whisper|tts-|codex)", "openai"),
        (r".*claude", "anthropic"),
        (r".*(?:gemini|gemma)", "gcp.gemini"),
        (r".*(?:mistral|mixtral|codestral|ministral|magistral)", "mistral_ai"),
        (r"grok", "x_ai"),
        (r".*deepseek", "deepseek"),
        (r"command|rerank-|embed-", "cohere"),
    )
]


def kind_of(attributes: dict[str, Any]) -> str:
    given = attributes.get("playhead.step.kind")
    return given or KINDS_OF_OPERATIONS.get(str(attributes.get("gen_ai.operation.name")), "other")


def read_call(span: Span, attributes: dict[str, Any]) -> Call:
    """What the price of a step depends on."""
    kind = kind_of(attributes)
    requested = attributes.get("gen_ai.request.model") or None
    model = attributes.get("gen_ai.response.model") or requested
    is_failed = span.status_code == STATUS_ERROR or "error.type" in attributes
    return Call(
        id=span.id,
        parent_id=span.parent_id,
        kind=kind,
        status="running" if span.end_ns is None else "error" if is_failed else "ok",
        started_ns=span.start_ns,
        model=model,
        requested_model=requested if requested != model else None,
        provider=attributes.get("gen_ai.provider.name") or provider_of_model(model),
        usage=_read_usage(attributes, kind),
        reported_cost=attributes.get("gen_ai.usage.cost"),
    )


def provider_of_model(model: Optional[str]) -> Optional[str]:
    if model is None:
        return None
    name = re.sub(r"^(?:models/|openai/|anthropic/|google/)", "", model.lower())
    return next((provider for pattern, provider in _FAMILIES if pattern.match(name)), None)


def _read_usage(attributes: dict[str, Any], kind: str) -> Optional[dict[str, int]]:
    """Input includes the cache, output includes reasoning, and the total is at least both."""
    usage: dict[str, int] = {}
    for key, name in USAGE_KEYS.items():
        count = attributes.get(key)
        if isinstance(count, (int, float)) and 0 <= count <= _MAX_TOKENS:
            usage[name] = math.floor(count + 0.5)
    is_none = kind == "llm" and not any(usage.get(name) for name in ("input", "output", "total"))
    if is_none or not any(name in usage for name in ("input", "output", "total")):
        return None
    sent, answered, total = usage.get("input", 0), usage.get("output", 0), usage.get("total")
    cache = usage.get("cacheRead", 0) + usage.get("cacheWrite", 0)
    if cache > 0 and ("input" not in usage or cache > sent or total == sent + answered + cache):
        usage["input"] = sent + cache
    known = usage.get("input", 0) + answered
    usage["total"] = max(known, total or 0)
    return usage


class _Counted(NamedTuple):
    call: Call
    cost: Optional[float]
    cost_source: Optional[str]

    @property
    def lacks_usage(self) -> bool:
        """True for a call that reported no tokens, so nobody knows what it cost."""
        is_call = self.call.kind in ("llm", "embedding") and self.call.status == "ok"
        return is_call and self.cost is None and self.call.usage is None

    @property
    def lacks_price(self) -> bool:
        """True for a call whose price is unknown."""
        if self.cost is not None:
            return False
        if self.call.usage is None:
            return self.lacks_usage and self.cost_source == "no-price"
        is_whole = self.call.kind == "embedding" or self.call.status == "error" or not self._is_output_missing
        return is_whole or self.cost_source == "no-price"

    @property
    def lacks_output(self) -> bool:
        """True for a call that reported tokens, but not those of its output."""
        is_ended_call = self.call.kind != "embedding" and self.call.status == "ok"
        return is_ended_call and self.cost_source != "reported" and self._is_output_missing

    @property
    def _is_output_missing(self) -> bool:
        """A total that equals the input implies nothing: it is filled in."""
        usage = self.call.usage
        if usage is None or "output" in usage:
            return False
        return "input" not in usage or usage["total"] <= usage["input"]


class Totals:
    """What model calls add up to."""

    def __init__(self) -> None:
        self._cost = 0.0
        self._is_priced = False
        self.tokens: dict[str, int] = {}
        self._unpriced: dict[str, None] = {}
        self._without_usage: dict[str, None] = {}
        self._without_output: dict[str, None] = {}

    def add(self, call: Call) -> None:
        counted = _Counted(call, *price_of(call))
        for name, count in (call.usage or {}).items():
            self.tokens[name] = self.tokens.get(name, 0) + count
        if counted.cost is not None:
            self._cost += counted.cost
            self._is_priced = True
        model = call.model or call.requested_model or UNKNOWN_MODEL
        if counted.lacks_price:
            self._unpriced[model] = None
        if counted.lacks_usage:
            self._without_usage[model] = None
        if counted.lacks_output:
            self._without_output[model] = None

    @property
    def cost(self) -> Optional[float]:
        """US dollars; None if nothing could be priced."""
        return round_dollars(self._cost) if self._is_priced else None

    @property
    def unpriced_models(self) -> list[str]:
        return list(self._unpriced)

    @property
    def models_without_usage(self) -> list[str]:
        return list(self._without_usage)

    @property
    def models_without_output(self) -> list[str]:
        return list(self._without_output)

    @property
    def is_complete(self) -> bool:
        return not (self._unpriced or self._without_usage or self._without_output)


def total_of(calls: Iterable[Call]) -> Totals:
    totals = Totals()
    for call in calls:
        totals.add(call)
    return totals


class Ledger:
    """The model calls of a session. Each is priced once, when somebody asks."""

    def __init__(self) -> None:
        self._totals = Totals()
        # Each call is taken by exactly one reader, whichever threads read.
        self._waiting: deque[Call] = deque()
        self.calls: list[Call] = []

    def note(self, span: Span) -> None:
        """Keeps what is needed of an ended span, not its content."""
        attributes = span.attributes
        if "gen_ai.operation.name" not in attributes and "gen_ai.usage.cost" not in attributes:
            return
        call = read_call(span, attributes)
        if call.usage is None and call.reported_cost is None and call.kind not in ("llm", "embedding"):
            return
        self._waiting.append(call)
        if len(self.calls) < MAX_KEPT_CALLS:
            self.calls.append(call)

    @property
    def totals(self) -> Totals:
        while self._waiting:
            try:
                call = self._waiting.popleft()
            except IndexError:
                break
            self._totals.add(call)
        return self._totals
