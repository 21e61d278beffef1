"""Masks payment card numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Optional

from . import BLANKS, REDACTED

# Spaces and hyphens, including typographic ones.
_SEPARATORS = r" \u00a0\u2009\u202f\u2010-\u2013-"

# A cheap pre-check that rules out most texts: a number that starts like a card's.
CARD_SIGN = re.compile(rf"[2-68](?<!\d.)\d{{3}}(?:[{_SEPARATORS}]?\d){{9}}", re.ASCII)
_DIGIT_RUN = re.compile(rf"\d(?:[{_SEPARATORS}]?\d){{12,63}}", re.ASCII)
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")


def mask_cards(text: str) -> str:
    """Mask every possible card number in a text."""
    return _DIGIT_RUN.sub(_mask_run, text)


def _mask_run(found: re.Match[str]) -> str:
    """A card number can stand next to other numbers: its expiry date, an order number, another card."""
    run, offset, text = found.group(), found.start(), found.string
    groups = _SEPARATOR.split(run)
    is_first_free = _is_free(text, offset - 1, -1)
    is_last_free = _is_free(text, found.end(), 1)
    masked = ""
    kept_from = start = first = 0
    while first < len(groups):
        count = None
        if first > 0 or is_first_free:
            count = _count_of_card(groups, first, is_last_free)
        length = _length_of(groups, first, count or 1)
        if count is not None:
            masked += run[kept_from:start] + _mask_of(text, offset + start)
            kept_from = start + length
        start += length + 1
        first += count or 1
    return masked + run[kept_from:]


# How card numbers are printed: digits per group.
_LAYOUTS = [[4, 4, 4, 4, 3], [4, 4, 4, 4], [4, 6, 5], [4, 6, 4]]
_MIN_DIGITS = 13
_MAX_DIGITS = 19


def _count_of_card(groups: Sequence[str], first: int, is_last_free: bool) -> Optional[int]:
    """How many leading groups form one card number; None if no card number starts here."""
    rest = len(groups) - first

    def is_possible(count: int) -> bool:
        is_apart = count < rest or (count == rest and is_last_free)
        return is_apart and _is_card_number("".join(groups[first : first + count]))

    if first == 0 and rest <= _MAX_DIGITS and is_possible(rest):
        return rest
    for sizes in _LAYOUTS:
        if [len(group) for group in groups[first : first + len(sizes)]] == sizes and is_possible(len(sizes)):
            return len(sizes)
    return 1 if len(groups[first]) >= _MIN_DIGITS and is_possible(1) else None


def _length_of(groups: Sequence[str], first: int, count: int) -> int:
    """Including their separators."""
    return count - 1 + sum(len(group) for group in groups[first : first + count])


_ESCAPE = re.compile(r"\\(?:[bfnrt]|u[\da-f]{4})\Z", re.ASCII | re.IGNORECASE)


def _is_free(text: str, index: int, step: int) -> bool:
    """True if the surrounding characters do not belong to the number: no digit, hash letter or decimal."""
    beside = _at(text, index)
    if beside == ".":
        return re.match(r"\d", _at(text, index + step), re.ASCII) is None
    if re.match(r"\w", beside, re.ASCII) is None:
        return True
    return step == -1 and _ESCAPE.search(text[max(0, index - 5) : index + 1]) is not None


def _at(text: str, index: int) -> str:
    return text[index : index + 1] if index >= 0 else ""


# Issuer prefixes and number lengths.
_ISSUERS = [
    (re.compile(r"4"), {13, 16, 19}),
    (re.compile(r"5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)"), {16}),
    (re.compile(r"3[47]"), {15}),
    (re.compile(r"3(?:0[0-5]|[689])"), {14, 15, 16, 17, 18, 19}),
    (re.compile(r"6011|64[4-9]|65|62|81|35(?:2[89]|[3-8])"), {16, 17, 18, 19}),
    (re.compile(r"50|5[6-9]|6[0-9]"), {13, 14, 15, 16, 17, 18, 19}),
]


def _is_card_number(digits: str) -> bool:
    """True for an issuer's prefix and length with a valid Luhn check digit."""
    if not any(len(digits) in lengths and beginning.match(digits) for beginning, lengths in _ISSUERS):
        return False
    total = 0
    for index, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + index % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


_KEY_BEFORE = re.compile(rf'(\\{{0,16}})"[{BLANKS}]?:[{BLANKS}]?\Z')


def _mask_of(text: str, index: int) -> str:
    """Replace a JSON number with a string, so that the JSON stays valid."""
    key = _KEY_BEFORE.search(text[max(0, index - 20) : index])
    return REDACTED if key is None else f'{key.group(1)}"{REDACTED}{key.group(1)}"'
