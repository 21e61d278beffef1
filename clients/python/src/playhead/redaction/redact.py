"""Masks keys, tokens, private keys and card numbers, and whatever the user's rules match."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Callable, Union

from ..host_value import is_a
from ..serialize import write_json
from ..settings import RedactRule
from . import BLANKS, REDACTED
from .named_secrets import create_named_mask
from .secret_patterns import mask_secrets

# Exact names of secret keys.
_SECRET_NAMES = frozenset(
    [
        "auth",
        "authorization",
        "proxyauthorization",
        "cookie",
        "setcookie",
        "token",
        "sessiontoken",
        "csrftoken",
        "xsrftoken",
        "idtoken",
        "pwd",
        "cvv",
        "cvc",
        "credentials",
    ]
)
# Name endings of secret keys: `dbPassword`, `OPENAI_API_KEY`, `x-api-key`.
_SECRET_ENDINGS = (
    "apikey",
    "apitoken",
    "accesskey",
    "accesskeyid",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "clientsecret",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "cardnumber",
)
# Keys are untrusted input, so the cache is bounded.
_MAX_REMEMBERED = 4096
_MAX_KEY_LENGTH = 64


class Redactor:
    """User rules run after the built-in patterns; names run before patterns and functions."""

    def __init__(self, rules: Sequence[RedactRule] = ()) -> None:
        names = [rule for rule in rules if is_a(rule, str)]
        self._is_secret_key = create_key_test(names)
        self._own = [_to_replacement(rule) for rule in rules if not is_a(rule, str)]
        if names:
            mask_own_names = create_named_mask([normalize_key(name) for name in names])
            self._own.insert(0, lambda text, _key: mask_own_names(text))

    def text(self, text: str, key: str) -> str:
        """Mask secrets in a text. `key` is the name it was recorded under."""
        kept = mask_secrets(text)
        for replace in self._own:
            kept = replace(kept, key)
        return kept

    def is_secret_key(self, key: str) -> bool:
        """True if every value under this key is a secret."""
        return self._is_secret_key(key)


_Replacement = Callable[[str, str], str]


def _to_replacement(rule: Union[re.Pattern[str], _Replacement]) -> _Replacement:
    if is_a(rule, re.Pattern):
        return lambda text, _key: _mask_escaped(rule.sub(REDACTED, text), rule)
    return lambda text, key: _apply_rule(rule, text, key)


_BEGIN_OF_JSON = re.compile(rf'[{BLANKS}]*["\[{{]')


def _mask_escaped(text: str, pattern: re.Pattern[str]) -> str:
    """Rules expect plain text, so each string inside JSON is checked on its own too."""
    if "\\" not in text or _BEGIN_OF_JSON.match(text) is None:
        return text
    try:
        value = json.loads(text, parse_int=_read_number, parse_float=_read_number, parse_constant=_refuse)
        masked = _mask_texts(value, pattern)
        return text if masked == value else write_json(masked)
    except (ValueError, RecursionError):
        return text


def _mask_texts(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return _mask_escaped(pattern.sub(REDACTED, value), pattern)
    if isinstance(value, list):
        return [_mask_texts(item, pattern) for item in value]
    if isinstance(value, dict):
        return {key: _mask_texts(item, pattern) for key, item in value.items()}
    return value


def _read_number(digits: str) -> Union[int, float, None]:
    """Non-finite numbers have no JSON form; JavaScript writes them as null."""
    number = float(digits)
    if math.isinf(number):
        return None
    return int(digits) if re.fullmatch(r"-?\d+", digits) else number


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _apply_rule(rule: _Replacement, text: str, key: str) -> str:
    """A failing rule masks the whole text, because we can't know what it would have hidden."""
    try:
        kept = rule(text, key)
    except Exception:
        return REDACTED
    return kept if isinstance(kept, str) else REDACTED


def create_key_test(added: Sequence[str]) -> Callable[[str], bool]:
    """`added` holds the user's own names."""
    own = {normalize_key(name) for name in added}
    remembered: dict[str, bool] = {}

    def is_secret_key(key: str) -> bool:
        is_secret = remembered.get(key)
        if is_secret is None:
            is_secret = _is_secret_name(key, own)
            if len(remembered) >= _MAX_REMEMBERED:
                remembered.clear()
            remembered[key] = is_secret
        return is_secret

    return is_secret_key


def _is_secret_name(key: str, own: AbstractSet[str]) -> bool:
    if len(key) > _MAX_KEY_LENGTH:
        return False
    name = normalize_key(key)
    return name in own or name in _SECRET_NAMES or name.endswith(_SECRET_ENDINGS)


def normalize_key(key: str) -> str:
    """`X-Api-Key` and `x_api_key` are the same name; for a dotted attribute key, the last part counts."""
    return re.sub(f"[-_{BLANKS}]", "", key[key.rfind(".") + 1 :]).lower()
