"""Which texts of two sessions count as equal: with ids and times that correspond, or differing as known."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ...tape.text_shape import TIME_SHAPE, VolatileToken, shape_of_text

# Times this close to each other, relative to the session's start, count as equal.
_SAME_MOMENT_MS = 60_000
_MAX_TEXTS = 40
_MIN_TEXT_LENGTH = 4
_FEWEST_WORDS = 5
_SAME_WORDING = 0.3
_WORD = re.compile(r"[^\W_]+(?:[._-][^\W_]+)*")
_EPOCH = re.compile(r"[\d.]+", re.ASCII)
_FRACTION = re.compile(r"\.(\d+)")


class Side(NamedTuple):
    started_at_ms: float
    duration_ms: float
    # The ids in the session.
    ids: AbstractSet[str]
    # Its clock may have been that of the session that it repeats.
    is_rerun: bool


class Comparison:
    """What is known so far while two sessions are compared in order."""

    def __init__(self, a: Side, b: Side) -> None:
        self._a = a
        self._b = b
        self._b_of_a: dict[str, str] = {}
        self._a_of_b: dict[str, str] = {}
        self._known: list[tuple[str, str]] = []

    def remember(self, a: str, b: str) -> None:
        """Notes two texts that differ for a known reason, so that later copies of them count as equal."""
        left, right = a.strip(), b.strip()
        if left == right:
            return
        self._add(*_without_common_ends(left, right))
        self._add(left, right)

    def _add(self, a: str, b: str) -> None:
        if min(len(a), len(b)) < _MIN_TEXT_LENGTH or (a, b) in self._known:
            return
        self._known.insert(0, (a, b))
        del self._known[_MAX_TEXTS:]

    def is_same_text(self, a: str, b: str) -> bool:
        """True when the texts are equal except for ids, timestamps and known differences."""
        if a == b or self._is_same_but_volatile(a, b):
            return True
        left, right = a, b
        for index, (known, other) in enumerate(self._known):
            if known in left and other in right:
                left = left.replace(known, f"⟨known {index}⟩")
                right = right.replace(other, f"⟨known {index}⟩")
        is_changed = left != a or right != b
        return is_changed and (left == right or self._is_same_but_volatile(left, right))

    def _is_same_but_volatile(self, a: str, b: str) -> bool:
        left: list[VolatileToken] = []
        right: list[VolatileToken] = []
        if shape_of_text(a, left.append) != shape_of_text(b, right.append) or not left:
            return False
        return all(self._is_same_token(one, other) for one, other in zip(left, right))

    def _is_same_token(self, a: VolatileToken, b: VolatileToken) -> bool:
        if a.text == b.text:
            return True
        if a.shape == TIME_SHAPE:
            return self._is_same_moment(a.text, b.text)
        # An id that occurs in both sessions was not generated during the run.
        if a.text in self._b.ids or b.text in self._a.ids:
            return False
        known, known_back = self._b_of_a.get(a.text), self._a_of_b.get(b.text)
        if known is None and known_back is None:
            self._b_of_a[a.text], self._a_of_b[b.text] = b.text, a.text
            return True
        return known == b.text and known_back == a.text

    def _is_same_moment(self, a: str, b: str) -> bool:
        left, right = _read_time(a), _read_time(b)
        most = _SAME_MOMENT_MS + max(self._a.duration_ms, self._b.duration_ms)
        if (self._a.is_rerun or self._b.is_rerun) and abs(left - right) <= most:
            return True
        return abs(left - self._a.started_at_ms - (right - self._b.started_at_ms)) <= most


def read_moment(text: str) -> float:
    """A date and time in milliseconds since 1970; without a zone it is local, as in JavaScript."""
    # Python 3.9 reads neither "Z" nor fractions of other lengths than 3 and 6.
    plain = re.sub("[zZ]$", "+00:00", text.replace(",", "."))
    plain = _FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), plain)
    plain = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", plain)
    try:
        return datetime.datetime.fromisoformat(plain).timestamp() * 1000
    except (ValueError, OverflowError, OSError):
        return math.nan


def _read_time(text: str) -> float:
    if _EPOCH.fullmatch(text) is None:
        return read_moment(text)
    count = float(text)
    return count * 1000 if count < 1e11 else count


def _without_common_ends(a: str, b: str) -> tuple[str, str]:
    """ "Classify: charged twice" and "Classify: two bills" differ in "charged twice" and "two bills"."""
    left, right = re.split(r"(?<=\s)", a), re.split(r"(?<=\s)", b)
    most = min(len(left), len(right))
    start = 0
    while start < most and left[start] == right[start]:
        start += 1
    end = 0
    while end < most - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return "".join(left[start : len(left) - end]).strip(), "".join(right[start : len(right) - end]).strip()


def is_same_in_other_words(a: str, b: str) -> bool:
    """True when two texts probably say the same: equal numbers and names, and enough words in common."""
    if len(a.split(None, _FEWEST_WORDS)) < _FEWEST_WORDS or len(b.split(None, _FEWEST_WORDS)) < _FEWEST_WORDS:
        return False
    left, right = set(_WORD.findall(a.lower())), set(_WORD.findall(b.lower()))
    if _figures(left) != _figures(right):
        return False
    return len(left & right) / max(1, len(left | right)) >= _SAME_WORDING


def _figures(words: set[str]) -> set[str]:
    return {word for word in words if re.search("[0-9]", word)}
