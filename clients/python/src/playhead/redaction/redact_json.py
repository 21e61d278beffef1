"""Masks secrets in values: in every text, and under keys that name a secret."""

from __future__ import annotations

import re
from typing import Any, Callable

from ..capture.json_value import parse_json
from ..serialize import write_json
from . import REDACTED
from .redact import Redactor

# Nothing that is recorded is deeper.
MAX_DEPTH = 100
# No card number is shorter.
_FEWEST_OF_CARD = 10**11
# Where the providers have the arguments of tool calls.
_ARGUMENT_FIELDS = frozenset(["input", "args", "arguments"])
# Signed by the provider, which refuses them in the next request if a character is changed.
_OPAQUE_FIELDS = frozenset(["signature", "data", "encrypted_content", "thoughtSignature"])
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]*")


def redact_json(value: Any, redactor: Redactor, key: str = "") -> Any:
    """Masks secrets in every text, and everything below a secret key."""
    return _redact(value, redactor, key, 0, is_keyed=True, is_response=False)


def redact_texts(value: Any, redactor: Redactor, key: str = "") -> Any:
    """Masks secrets in every text; the keys are fixed words, such as `token` in log probabilities."""
    return _redact(value, redactor, key, 0, is_keyed=False, is_response=False)


def redact_response(value: Any, redactor: Redactor) -> Any:
    """A provider's response: keys count only inside the arguments of tool calls.

    What the provider has signed stays as it is.
    """
    return _redact(value, redactor, "", 0, is_keyed=False, is_response=True)


def _redact(
    value: Any, redactor: Redactor, key: str, depth: int, *, is_keyed: bool, is_response: bool
) -> Any:
    if isinstance(value, str):
        return redactor.text(value, key)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _FEWEST_OF_CARD:
        text = str(value)
        return value if redactor.text(text, key) == text else REDACTED
    if not isinstance(value, (dict, list)):
        return value
    if depth > MAX_DEPTH:
        return REDACTED

    def inner(item: Any, name: str, is_argument: bool = False) -> Any:
        return _redact(
            item,
            redactor,
            name,
            depth + 1,
            is_keyed=is_keyed or is_argument,
            is_response=is_response and not is_argument,
        )

    if isinstance(value, list):
        return [inner(item, key) for item in value]
    kept: dict[str, Any] = {}
    for name, item in value.items():
        shown = redactor.text(name, "key")
        if is_response and _is_opaque(name, item):
            kept[shown] = item
        elif is_keyed and _needs_redaction(item) and redactor.is_secret_key(name):
            kept[shown] = REDACTED
        elif is_response and name in _ARGUMENT_FIELDS:
            kept[shown] = _redact_arguments(item, redactor, name, inner)
        else:
            kept[shown] = inner(item, name)
    return kept


def _redact_arguments(
    given: Any, redactor: Redactor, name: str, inner: Callable[[Any, str, bool], Any]
) -> Any:
    """Providers write the arguments of a call as JSON, which may escape what stands around a secret."""
    value = parse_json(given) if isinstance(given, str) else None
    if not isinstance(value, (dict, list)):
        return inner(given, name, True)
    redacted = inner(value, name, True)
    return redactor.text(given, name) if redacted == value else write_json(redacted)


def _is_opaque(name: str, value: Any) -> bool:
    return name in _OPAQUE_FIELDS and isinstance(value, str) and _BASE64.fullmatch(value) is not None


def _needs_redaction(value: Any) -> bool:
    """An empty secret may be shown."""
    return value is not None and value != "" and not isinstance(value, bool)


def redact_json_text(text: str, redact: Callable[[Any], Any], parse: Callable[[str], Any]) -> str:
    """A text that may be JSON: redacted as the value that it holds, unchanged if there is nothing to mask."""
    value = parse(text)
    if not isinstance(value, (dict, list)):
        return str(redact(text))
    redacted = redact(value)
    return text if redacted == value else write_json(redacted)
