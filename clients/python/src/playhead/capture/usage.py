"""Token counts of a response as attributes of a span."""

from __future__ import annotations

from typing import Any

from .json_value import JsonObject, to_number, to_object, to_objects

USAGE_ATTRIBUTES = {
    "input": "gen_ai.usage.input_tokens",
    "output": "gen_ai.usage.output_tokens",
    "cacheRead": "gen_ai.usage.cache_read.input_tokens",
    "cacheWrite": "gen_ai.usage.cache_write.input_tokens",
    "cacheWrite5m": "gen_ai.usage.cache_creation.5m_input_tokens",
    "cacheWrite1h": "gen_ai.usage.cache_creation.1h_input_tokens",
    "reasoning": "gen_ai.usage.reasoning.output_tokens",
    "audioInput": "gen_ai.usage.audio.input_tokens",
    "audioOutput": "gen_ai.usage.audio.output_tokens",
    "imageInput": "gen_ai.usage.image.input_tokens",
    "cost": "gen_ai.usage.cost",
}


def openai_usage(raw: Any) -> JsonObject:
    usage = to_object(raw)
    inputs = to_object(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    outputs = to_object(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    return _usage_attributes(
        {
            "input": usage.get("prompt_tokens", usage.get("input_tokens")),
            "output": usage.get("completion_tokens", usage.get("output_tokens")),
            "cacheRead": inputs.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
            "cacheWrite": inputs.get("cache_write_tokens", inputs.get("cache_creation_tokens")),
            "reasoning": outputs.get("reasoning_tokens"),
            "audioInput": inputs.get("audio_tokens"),
            "audioOutput": outputs.get("audio_tokens"),
            "imageInput": inputs.get("image_tokens"),
            "cost": usage.get("cost"),
        },
        total=to_number(usage.get("total_tokens")),
    )


def anthropic_usage(usage: JsonObject) -> JsonObject:
    written = to_object(usage.get("cache_creation"))
    return _usage_attributes(
        {
            "input": usage.get("input_tokens"),
            "output": usage.get("output_tokens"),
            "cacheRead": usage.get("cache_read_input_tokens"),
            "cacheWrite": usage.get("cache_creation_input_tokens"),
            "cacheWrite5m": written.get("ephemeral_5m_input_tokens"),
            "cacheWrite1h": written.get("ephemeral_1h_input_tokens"),
            "reasoning": to_object(usage.get("output_tokens_details")).get("thinking_tokens"),
        },
        is_cache_apart=True,
    )


def gemini_usage(raw: Any) -> JsonObject:
    """Candidate tokens exclude thoughts, and prompt tokens exclude the prompts of Google's own tools."""
    usage = to_object(raw)
    prompt, answered = to_number(usage.get("promptTokenCount")), to_number(usage.get("candidatesTokenCount"))
    thoughts = to_number(usage.get("thoughtsTokenCount")) or 0
    inputs = _by_modality(usage.get("promptTokensDetails"))
    outputs = _by_modality(usage.get("candidatesTokensDetails"))
    if thoughts > 0:
        answered = (answered or 0) + thoughts
    counts = {
        "input": None if prompt is None else prompt + (to_number(usage.get("toolUsePromptTokenCount")) or 0),
        "output": answered,
        "cacheRead": to_number(usage.get("cachedContentTokenCount")),
        "reasoning": thoughts,
        "audioInput": inputs.get("AUDIO"),
        "audioOutput": outputs.get("AUDIO"),
        "imageInput": inputs.get("IMAGE"),
    }
    return _to_attributes(counts)


def _by_modality(details: Any) -> dict[str, Any]:
    return {
        str(one.get("modality")).upper(): to_number(one.get("tokenCount", one.get("token_count")))
        for one in to_objects(details)
    }


def ollama_usage(body: JsonObject) -> JsonObject:
    return _to_attributes(
        {
            "input": to_number(body.get("prompt_eval_count")),
            "output": to_number(body.get("eval_count")),
        }
    )


def _usage_attributes(raw: JsonObject, total: Any = None, is_cache_apart: bool = False) -> JsonObject:
    """Includes the cache in the input and reasoning in the output. Omits absent counts, and parts that are
    0."""
    counts = {name: to_number(value) for name, value in raw.items()}
    sent, answered = counts["input"] or 0, counts["output"] or 0
    cache = (counts["cacheRead"] or 0) + (counts["cacheWrite"] or 0)
    reasoning = counts["reasoning"] or 0
    if cache > 0 and (is_cache_apart or cache > sent or total == sent + answered + cache):
        counts["input"] = sent + cache
    # Some hosts, such as xAI, do not include reasoning in the output; their total shows it.
    if counts["output"] is not None and reasoning > 0:
        totals = (sent + answered + reasoning, (counts["input"] or 0) + answered + reasoning)
        if reasoning > answered or total in totals:
            counts["output"] = answered + reasoning
    return _to_attributes(counts)


def _to_attributes(counts: dict[str, Any]) -> JsonObject:
    return {
        USAGE_ATTRIBUTES[name]: count
        for name, count in counts.items()
        if count is not None and (count > 0 or name in ("input", "output"))
    }
