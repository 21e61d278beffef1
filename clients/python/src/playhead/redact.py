"""Masks keys, tokens, private keys and card numbers, and what the user's rules add."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Callable

from .settings import RedactRule

REDACTED = "[redacted]"

_Mask = Callable[["re.Match[str]"], str]
_Family = tuple["re.Pattern[str]", Sequence[tuple["re.Pattern[str]", _Mask]]]

_A = re.ASCII
_AI = re.ASCII | re.IGNORECASE


def _whole(_match: re.Match[str]) -> str:
    return REDACTED


def _after_first_group(match: re.Match[str]) -> str:
    return match.group(1) + REDACTED


# Where a word begins: also after \n, \t or \u00fc of JSON, which end in a letter or a digit.
_BEGIN = r"(?:(?<!\w)|(?<=\\[bfnrt])|(?<=\\u[\da-fA-F]{4}))"
# The same for words with hyphens in them; each is looked at once, however many beginnings it seems to have.
_BEGIN_WITH_HYPHENS = _BEGIN.replace(r"\w", r"[\w-]")
_PREFIXED = [
    r"sk-(?=[a-z_-]{0,40}[A-Z0-9]|[a-z]{16})[\w-]{16,}",
    r"(?:[rsp]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}",
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
    r"glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}",
    r"(?:gsk|hf|r8|fw|pcsk|lsv2_pt|lsv2_sk)_[A-Za-z0-9]{24,}(?:_\w{6,})?",
    r"(?:xai|pplx|tvly)-(?=[a-z-]{0,40}[A-Z0-9])[A-Za-z0-9-]{24,}",
    r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}",
    r"(?:xox[abeoprs]-|xapp-\d-)[A-Za-z0-9-]{10,}",
    r"ph_[A-Za-z0-9]{30,}",
]
_JWT = rf"{_BEGIN_WITH_HYPHENS}eyJ[\w-]{{8,}}\.(?:[\w-]{{8,}}|(?=\.))(?:\.[\w-]*){{0,3}}"
_KEY_KIND = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = (
    rf"-----BEGIN {_KEY_KIND}(?:(?:(?!-----B)[\s\S]){{0,20000}}?-----END {_KEY_KIND}"
    r'|(?:[^"\\]|\\+[nrt/]){0,20000})'
)

# Texts are asked for a family's sign first: one pass that most do not survive.
_TOKEN_SIGN = re.compile(
    r"k[-_][\w-]{8}|[a-z8]_[A-Za-z0-9]{20}|[KS]IA[A-Z0-9]{4}|Iza|xox[a-z]-|eyJ|-----B"
    r"|(?:earer|EARER|asic|ASIC) |:\\?/\\?/[^\s/@]{1,200}@|lpat-|xai-|plx-|vly-|SPX-|app-|a29\.|SG\.",
    _A,
)
_TOKENS = [
    (
        re.compile(
            rf"({_BEGIN}(?:[Bb]earer|BEARER|[Bb]asic|BASIC) {{1,4}})"
            r"(?=[a-z_.~+/=-]{0,60}[A-Z0-9])[\w.~+/=-]{16,}",
            _A,
        ),
        _after_first_group,
    ),
    (
        re.compile(r"""(:\\?/\\?/[^\s:/@"']{0,100}:)[^\s/"'<>,;?#]{1,200}(?=@)""", _A),
        _after_first_group,
    ),
    # One expression: what begins first is masked whole, also when another secret could begin inside it.
    (re.compile(f"{_BEGIN}(?:{'|'.join(_PREFIXED)})|{_JWT}|{_PRIVATE_KEY}", _A), _whole),
]
_CARD_SIGN = re.compile(r"\d(?:[ -]?\d){12}", _A)
_SECRET_NAME = (
    r"[\w.-]{0,40}(?:authorization|api[-_]?(?:key|token)|access[-_]?key(?:[-_]?id)?"
    r"|(?:access|auth|bearer|refresh|session|id)[-_]?token|secret(?:[-_]?key)?|passphrase|passwd|password"
    r"|private[-_]?key|cookie)"
)
_NAMED_SIGN = re.compile(
    r"(?:authorization|key|key_?id|token|secret|passphrase|passwd|password|cookie)\\{0,8}[\"']?\s?[:=]", _AI
)
_NAMED = [
    (re.compile(rf'("{_SECRET_NAME}"\s*:\s*")(?:\\.|[^"\\])+(?=")', _AI), _after_first_group),
    (re.compile(rf'((?<!\\)(\\+"){_SECRET_NAME}\2\s*:\s*\2)[\s\S]+?(?=\2)', _AI), _after_first_group),
    (re.compile(rf"((?:^|[?&;,(\s\"']|\\[nrt]){_SECRET_NAME}=)[^&;\s\"'\\]{{3,}}", _AI), _after_first_group),
    (
        re.compile(
            r"(\b(?:(?:proxy-)?authorization|x-api-key|(?:set-)?cookie): ?)[^\s\"'\\][^\r\n\"'\\]*", _AI
        ),
        _after_first_group,
    ),
]
_ISSUER = re.compile(r"(?:4|5[1-5]|2[2-7]|3[4-8]|30|6)")


def _mask_card(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match.group(0))
    if _ISSUER.match(digits) is None:
        return match.group(0)
    total = 0
    for index, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + index % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return REDACTED if total % 10 == 0 else match.group(0)


_CARDS = [(re.compile(r"(?:(?<![\w.])|(?<=\\[bfnrt]))\d(?:[ -]?\d){12,18}(?!\w|\.\d)", _A), _mask_card)]
_FAMILIES: list[_Family] = [(_TOKEN_SIGN, _TOKENS), (_CARD_SIGN, _CARDS), (_NAMED_SIGN, _NAMED)]
_SHORTEST_SECRET = 9


def mask_secrets(text: str) -> str:
    """The text without what looks like a secret; the same text when there is nothing to hide."""
    if len(text) < _SHORTEST_SECRET:
        return text
    for sign, patterns in _FAMILIES:
        if sign.search(text) is None:
            continue
        for pattern, mask in patterns:
            text = pattern.sub(mask, text)
    return text


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
_SECRET_ENDINGS = [
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
]
_MAX_KEY_LENGTH = 64
_MAX_REMEMBERED = 4096


class Redactor:
    """Rules run after the built-in patterns."""

    def __init__(self, rules: Sequence[RedactRule] = ()) -> None:
        self._own_names = {_normalize(rule) for rule in rules if isinstance(rule, str)}
        self._own = [_to_replacement(rule) for rule in rules if not isinstance(rule, str)]
        self._remembered: dict[str, bool] = {}

    def text(self, text: str, key: str) -> str:
        """The text without what looks like a secret. `key` is what it was recorded under."""
        kept = mask_secrets(text)
        for replace in self._own:
            kept = replace(kept, key)
        return kept

    def is_secret_key(self, key: str) -> bool:
        """True when whatever is recorded under this key is a secret."""
        is_secret = self._remembered.get(key)
        if is_secret is None:
            is_secret = self._is_secret_name(key)
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = is_secret
        return is_secret

    def _is_secret_name(self, key: str) -> bool:
        if len(key) > _MAX_KEY_LENGTH:
            return False
        name = _normalize(key)
        if name in self._own_names or name in _SECRET_NAMES:
            return True
        return any(name.endswith(ending) for ending in _SECRET_ENDINGS)


def _normalize(key: str) -> str:
    """`X-Api-Key` and `x_api_key` are one name; of an attribute's dotted key the last part counts."""
    return re.sub(r"[-_\s]", "", key[key.rfind(".") + 1 :]).lower()


def _to_replacement(rule: RedactRule) -> Callable[[str, str], str]:
    if isinstance(rule, re.Pattern):
        return lambda text, _key: rule.sub(lambda _match: REDACTED, text)
    return lambda text, key: _apply_rule(rule, text, key)


def _apply_rule(rule: RedactRule, text: str, key: str) -> str:
    """A rule that fails keeps nothing: what it was there to hide is unknown."""
    try:
        kept = rule(text, key) if callable(rule) else None
    except Exception:
        return REDACTED
    return kept if isinstance(kept, str) else REDACTED
