"""Recognises keys that hold secrets by their name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Callable

from . import BLANKS

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
