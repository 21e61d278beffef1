"""Recognises requests that call a model, and their provider."""

from __future__ import annotations

import re
from typing import Callable, NamedTuple, Optional

from .anthropic_messages import anthropic_messages
from .gemini import gemini_embed, gemini_generate
from .json_value import JsonObject
from .model_api import ModelApi
from .ollama import ollama_chat, ollama_embed
from .openai_chat import openai_chat, openai_embeddings
from .openai_completions import openai_completions
from .openai_responses import openai_responses


class _Shape(NamedTuple):
    """One API, by the end of its path and the shape of its body."""

    path: re.Pattern[str]
    api: ModelApi
    has_shape: Callable[[JsonObject, str], bool]


def _is_text_or_list(value: object) -> bool:
    return isinstance(value, (str, list))


def _is_chat(body: JsonObject, path: str) -> bool:
    is_named = isinstance(body.get("model") or body.get("agent_id"), str) or "/deployments/" in path
    return isinstance(body.get("messages"), list) and is_named


def _is_response(body: JsonObject, _path: str) -> bool:
    prompt = body.get("prompt")
    if isinstance(body.get("input"), str):
        return isinstance(body.get("model"), str) or isinstance(prompt, dict)
    is_list = isinstance(body.get("model"), str) and isinstance(body.get("input"), list)
    return is_list or (isinstance(prompt, dict) and prompt.get("id") is not None)


def _is_message(body: JsonObject, _path: str) -> bool:
    is_named = isinstance(body.get("model"), str) or isinstance(body.get("anthropic_version"), str)
    return isinstance(body.get("messages"), list) and isinstance(body.get("max_tokens"), int) and is_named


def _is_ollama(body: JsonObject, path: str) -> bool:
    if not isinstance(body.get("model"), str):
        return False
    return isinstance(body.get("messages" if path.endswith("/chat") else "prompt"), (list, str))


_SHAPES = [
    _Shape(re.compile(r"/completions$"), openai_chat, _is_chat),
    _Shape(
        re.compile(r"/completions$"),
        openai_completions,
        lambda body, _path: isinstance(body.get("model"), str) and _is_text_or_list(body.get("prompt")),
    ),
    _Shape(re.compile(r"/responses$"), openai_responses, _is_response),
    _Shape(
        re.compile(r"/messages$|/invoke(?:-with-response-stream)?$|:(?:streamRawPredict|rawPredict)$"),
        anthropic_messages,
        _is_message,
    ),
    _Shape(
        re.compile(r":(?:generateContent|streamGenerateContent)$"),
        gemini_generate,
        lambda body, _path: body.get("contents") is not None,
    ),
    _Shape(
        re.compile(r":(?:embedContent|batchEmbedContents)$"),
        gemini_embed,
        lambda body, _path: isinstance(body.get("content"), dict) or isinstance(body.get("requests"), list),
    ),
    _Shape(re.compile(r"/api/(?:chat|generate)$"), ollama_chat, _is_ollama),
    _Shape(
        re.compile(r"/api/embed(?:dings)?$"),
        ollama_embed,
        lambda body, _path: (
            isinstance(body.get("model"), str)
            and (body.get("input") is not None or body.get("prompt") is not None)
        ),
    ),
    _Shape(
        re.compile(r"/embeddings$"),
        openai_embeddings,
        lambda body, _path: isinstance(body.get("model"), str) and _is_text_or_list(body.get("input")),
    ),
]
_ANY_PATH = re.compile(
    r"(?:/(?:completions|responses|messages|embeddings|embed|invoke|invoke-with-response-stream"
    r"|api/chat|api/generate)|:(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents"
    r"|streamRawPredict|rawPredict))/?$"
)


def may_be_call(method: str, path: str) -> bool:
    """A cheap check that rules out nearly all other requests; the body decides."""
    return method.upper() == "POST" and _ANY_PATH.search(path) is not None


def recognize_request(path: str, body: JsonObject) -> Optional[ModelApi]:
    """None when the request does not call a model."""
    plain = path[:-1] if path.endswith("/") else path
    for shape in _SHAPES:
        if shape.path.search(plain) and shape.has_shape(body, plain):
            return shape.api
    return None


_HOSTS = [
    (re.compile(pattern), provider)
    for pattern, provider in (
        (r"(?:^|\.)openai\.com$", "openai"),
        (
            r"\.openai\.azure\.com$|\.cognitiveservices\.azure\.(?:com|us)$|\.openai\.azure\.us$",
            "azure.ai.openai",
        ),
        (r"\.services\.ai\.azure\.com$|\.inference\.ai\.azure\.com$", "azure.ai.inference"),
        (r"(?:^|\.)anthropic\.com$", "anthropic"),
        (r"aiplatform\.googleapis\.com$", "gcp.vertex_ai"),
        (r"generativelanguage\.googleapis\.com$", "gcp.gemini"),
        (r"^bedrock(?:-runtime|-mantle)?\..*amazonaws\.com(?:\.cn)?$", "aws.bedrock"),
        (r"(?:^|\.)groq\.com$", "groq"),
        (r"(?:^|\.)together\.(?:ai|xyz)$", "together_ai"),
        (r"(?:^|\.)openrouter\.ai$", "openrouter"),
        (r"(?:^|\.)mistral\.ai$", "mistral_ai"),
        (r"(?:^|\.)deepseek\.com$", "deepseek"),
        (r"(?:^|\.)x\.ai$", "x_ai"),
        (r"(?:^|\.)fireworks\.ai$", "fireworks_ai"),
        (r"(?:^|\.)perplexity\.ai$", "perplexity"),
        (r"(?:^|\.)cerebras\.ai$", "cerebras"),
        (r"(?:^|\.)cohere\.(?:ai|com)$", "cohere"),
        (r"(?:^|\.)moonshot\.(?:ai|cn)$", "moonshot_ai"),
        (r"(?:^|\.)voyageai\.com$", "voyage_ai"),
        (r"(?:^|\.)z\.ai$", "z_ai"),
        (r"(?:^|\.)huggingface\.co$", "huggingface"),
        (r"(?:^|\.)watsonx\.ai$|\.ml\.cloud\.ibm\.com$", "ibm.watsonx.ai"),
    )
]
# The provider by the name of the model, for gateways and unknown hosts.
_FAMILIES = [
    (re.compile(pattern), provider)
    for pattern, provider in (
        (r"^(?:openai/)?(?:gpt-|chatgpt|o[1-9](?:-|$)|text-embedding-|davinci|babbage)", "openai"),
        (r"claude", "anthropic"),
        (r"gemini", "gcp.gemini"),
        (r"^(?:mistral|mixtral|codestral|ministral|magistral|devstral)", "mistral_ai"),
        (r"^grok", "x_ai"),
        (r"^deepseek-(?:chat|reasoner)", "deepseek"),
    )
]
_PORTS = {11434: "ollama", 1234: "lm_studio"}
_LOOPBACK = re.compile(
    r"^(?:localhost|127\.|\[?::1\]?$|0\.0\.0\.0$|host\.docker\.internal$)|\.local(?:host)?$"
)


_PROVIDERS = {
    anthropic_messages: "anthropic",
    gemini_generate: "gcp.gemini",
    gemini_embed: "gcp.gemini",
    ollama_chat: "ollama",
    ollama_embed: "ollama",
}


def provider_of_call(host: str, port: Optional[int], api: ModelApi, model: Optional[str]) -> str:
    """By the host, else by the API, else by the name of the model."""
    known = next((provider for pattern, provider in _HOSTS if pattern.search(host)), None)
    if known is not None:
        return known
    if api in _PROVIDERS:
        return _PROVIDERS[api]
    is_local = _LOOPBACK.search(host) is not None
    if is_local and port in _PORTS:
        return _PORTS[port]
    by_name = next(
        (provider for pattern, provider in _FAMILIES if pattern.search((model or "").lower())), None
    )
    return by_name or ("local" if is_local else "openai_compatible")


_PRIVATE_ENDINGS = (".local", ".internal", ".lan", ".home.arpa", ".localhost", ".svc", ".cluster.local")
_PRIVATE_ADDRESS = re.compile(r"(?:127|10)\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.")


def is_in_own_network(hostname: str) -> bool:
    """True for this machine, private addresses and names without a domain."""
    host = hostname.lower().strip("[]")
    if host == "localhost" or host.endswith(_PRIVATE_ENDINGS):
        return True
    if ":" in host:
        return host == "::1" or re.match(r"f[cd]|fe80:", host) is not None
    if re.fullmatch(r"\d+\.\d+\.\d+\.\d+", host):
        return _PRIVATE_ADDRESS.match(host) is not None
    return "." not in host
