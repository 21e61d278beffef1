"""Masks values after a secret's name: in JSON at any depth, printed objects, queries, settings, headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Callable, Optional

from . import BLANKS, REDACTED

_AI = re.ASCII | re.IGNORECASE
# Endings of secret names. A space stands for a hyphen, an underscore or nothing.
_ENDINGS = [
    *("authorization", "api key", "api token", "access key", "access key id"),
    *("access token", "auth token", "bearer token", "refresh token"),
    *("session token", "csrf token", "xsrf token", "id token"),
    *("secret", "secret key", "passphrase", "passwd", "password", "private key", "cookie"),
]
# Secret names that must be the whole key.
_KEYS = ["token", "pwd", "cvv", "cvc", "auth", "credentials", "cardnumber"]
# For name-value lists, the raw form of headers.
_PAIRS = ["authorization", "x-api-key", "cookie"]
_HEADER_LINE = re.compile(
    r"(?:^|[^\w-]|\\[bfnrt])(?:(?:proxy-)?authorization|x-api-key|(?:set-)?cookie)\Z", _AI
)

NamedMask = Callable[[str], str]


def mask_named(text: str) -> str:
    return text if _ANY_SIGN.search(text[::-1]) is None else _mask_built_in(text)


def create_named_mask(added: Sequence[str]) -> NamedMask:
    """`added` holds more key names, in letters and digits only."""
    sign = _compile_sign(_ENDINGS, _PAIRS, [name for name in [*_KEYS, *added] if name != ""])
    return lambda text: _mask_values(text, sign)


def _compile_sign(endings: Sequence[str], pairs: Sequence[str], keys: Sequence[str] = ()) -> re.Pattern[str]:
    """Match a separator after a name. Python's lookbehind needs a fixed length, so we match reversed text."""
    name = rf"""["']?\\{{0,64}}(?:{_backwards(endings)})"""
    if keys:
        name += rf"""|["']\\{{0,64}}(?:{"|".join(map(_spelled_any_way, keys))})["'.]"""
    name_of_pair = rf'"\\{{0,64}}(?:{_backwards(pairs)})'
    return re.compile(rf"[:=](?=[ \t]{{0,3}}(?:{name}))|,(?=[ \t]{{0,3}}{name_of_pair})", _AI)


def _backwards(names: Sequence[str]) -> str:
    return "|".join(name[::-1].replace(" ", "[-_]?") for name in names)


def _spelled_any_way(name: str) -> str:
    """Reversed. `customername` also matches `customer_name` and `Customer-Name`."""
    return "[-_ ]?".join(_in_any_case(letter) for letter in reversed(name))


def _in_any_case(letter: str) -> str:
    """Ignores case for ASCII only."""
    if letter.isascii():
        return re.escape(letter)
    return f"(?:{letter.lower()}|{letter.upper()})"


# A cheap pre-check that rules out most texts.
_ANY_SIGN = _compile_sign(
    [
        *("authorization", "key", "key id", "token", "secret", "passphrase", "passwd", "password"),
        *("cookie", "pwd", "cvv", "cvc", "auth", "credentials", "number"),
    ],
    ["authorization", "key", "cookie"],
)


def _mask_values(text: str, sign: re.Pattern[str]) -> str:
    last = len(text) - 1
    separators = [last - found.start() for found in sign.finditer(text[::-1])]
    masked: list[str] = []
    kept_from = 0
    for separator in reversed(separators):
        if separator < kept_from:
            continue
        for start, end, mask in _values_at(text, separator):
            masked += (text[kept_from:start], mask)
            kept_from = end
    return "".join([*masked, text[kept_from:]])


_mask_built_in = create_named_mask([])

# Start, end, replacement.
_Masked = tuple[int, int, str]


def _values_at(text: str, separator: int) -> list[_Masked]:
    """The secret after the separator; empty if no value follows."""
    key_end = _before_blanks(text, separator)
    is_key_quoted = text[key_end] in "\"'"
    start = _after_blanks(text, separator + 1)
    quoted = _quoted_at(text, start)
    if quoted is not None:
        escapes = quoted[0] - start - 1
        is_of_key = not is_key_quoted or escapes == _backslashes_before(text, key_end, 0)
        is_word = text[separator] == "," and _WORD.fullmatch(text, quoted[0], quoted[1]) is not None
        return [quoted] if is_of_key and not is_word and not _is_structure(text, quoted, escapes) else []
    if text[separator] == ",":
        return []
    if text[separator] == "=":
        return _value_of_setting(text, separator, start)
    if is_key_quoted:
        return _list_at(text, start + 1) if text.startswith("[", start) else _number_at(text, key_end, start)
    if _HEADER_LINE.search(text[max(0, separator - 24) : separator]) is not None:
        return _line_at(text, start)
    return _secret_looking_at(text, start)


_WORD = re.compile(r"[a-zA-Z_-]+")


def _is_structure(text: str, quoted: _Masked, escapes: int) -> bool:
    """Empty, or a quote that closed a JSON string instead of opening a value."""
    start, end, _mask = quoted
    return start == end or (escapes == 0 and text[start] in "]},:")


_OPENING_QUOTE = re.compile(r"""(\\{0,64})(["'])""")


def _quoted_at(text: str, start: int) -> Optional[_Masked]:
    """A quoted string, possibly escaped (JSON in JSON). A missing closing quote means it was truncated."""
    opening = _OPENING_QUOTE.match(text, start)
    if opening is None:
        return None
    escape, quote = opening.groups()
    first = at = opening.end()
    while True:
        close = text.find(quote, at)
        if close == -1:
            return (first, len(text), REDACTED)
        escapes = _backslashes_before(text, close, first)
        is_end = escapes % 2 == 0 if escape == "" else escapes == len(escape)
        if is_end:
            return (first, close - len(escape), REDACTED)
        at = close + 1


def _backslashes_before(text: str, index: int, first: int) -> int:
    at = index
    while at > first and text[at - 1] == "\\":
        at -= 1
    return index - at


_BETWEEN_ITEMS = re.compile(f"[,{BLANKS}]{{0,40}}")


def _list_at(text: str, start: int) -> list[_Masked]:
    """The strings of a list."""
    found: list[_Masked] = []
    at = start
    while True:
        value = _quoted_at(text, _end_of(_BETWEEN_ITEMS, text, at))
        if value is None:
            return found
        if value[0] != value[1]:
            found.append(value)
        close = text.find(text[value[0] - 1], value[1])
        if close == -1:
            return found
        at = close + 1


_NUMBER = re.compile(r"-?\d[\d.eE+-]*", re.ASCII)


def _number_at(text: str, key_end: int, start: int) -> list[_Masked]:
    """Replace a number with a string, quoted like its key, so that the JSON stays valid."""
    end = _end_of(_NUMBER, text, start)
    mark = text[key_end - _backslashes_before(text, key_end, 0) : key_end + 1]
    return [] if end == start else [(start, end, mark + REDACTED + mark)]


_BARE_VALUE = re.compile(rf"""[^&;{BLANKS}"'\\]{{3,}}""")
# Bounded: a longer value without digits would be scanned again from every name in it.
_BARE_IN_TEXT = re.compile(rf"""[^{BLANKS}"'\\,;]{{6,400}}""")


def _value_of_setting(text: str, separator: int, start: int) -> list[_Masked]:
    """After `name=` any value; after `name = ` only what looks like a secret, because that may be code."""
    if text.startswith(("=", ">"), separator + 1):
        return []
    is_tight = start == separator + 1 and _before_blanks(text, separator) == separator - 1
    if not is_tight:
        return _secret_looking_at(text, start)
    found = text[start : _end_of(_BARE_VALUE, text, start)].rstrip(",)]}")
    is_masked = found == REDACTED[:-1]
    return [] if found == "" or is_masked else [(start, start + len(found), REDACTED)]


# Code and placeholders: `process.env.KEY`, `getKey()`, `${KEY}`, `<your key>`.
_NOT_YET_A_VALUE = re.compile(r"[$<{\[%*]|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$]|[(\[])", re.ASCII)
_DIGIT = re.compile("[0-9]")
# Starts with the rarest character.
_HUMP = re.compile("[A-Z](?<=[a-z].)")


def _secret_looking_at(text: str, start: int) -> list[_Masked]:
    found = text[start : _end_of(_BARE_IN_TEXT, text, start)].rstrip(".)]}")
    if _NOT_YET_A_VALUE.match(found) is not None or found.endswith("("):
        return []
    if _DIGIT.search(found) is not None:
        is_like = len(found) >= 6
    else:
        is_like = len(found) >= 12 and _HUMP.search(found) is not None
    return [(start, start + len(found), REDACTED)] if is_like else []


_REST_OF_LINE = re.compile(r"""[^\r\n"'\\]+""")


def _line_at(text: str, start: int) -> list[_Masked]:
    end = _end_of(_REST_OF_LINE, text, start)
    return [] if end == start else [(start, end, REDACTED)]


# A few characters suffice; anything further away belongs to something else.
_FEW_BLANKS = re.compile(r"[ \t]{0,40}")


def _after_blanks(text: str, start: int) -> int:
    return _end_of(_FEW_BLANKS, text, start)


def _before_blanks(text: str, end: int) -> int:
    at = end - 1
    while text[at] in " \t":
        at -= 1
    return at


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return start if found is None else found.end()
