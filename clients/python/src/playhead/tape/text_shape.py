"""Ids and times in texts: what differs between runs of the same program."""

from __future__ import annotations

import re
from typing import Any, Callable, NamedTuple, Optional

TIME_SHAPE = "⟨time⟩"
# Cassettes come from strangers, so the depth is bounded.
MAX_DEPTH = 64

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,12})?)?(?:Z|[+-]\d\d:?\d\d)?"
_HEX = r"(?=[0-9a-f]{0,512}[0-9])(?=[0-9a-f]{0,512}[a-f])[0-9a-f]{12,512}"
_PREFIXED = r"[A-Za-z]{2,12}[_-](?=[A-Za-z0-9]{0,512}[0-9])(?=[A-Za-z0-9]{0,512}[A-Za-z])[A-Za-z0-9]{8,512}"
_EPOCH = r"(?:1[5-9]|2[01])\d{8}(?:\d{3})?(?:\.\d{1,12})?"
# JavaScript's classes are those of ASCII.
_VOLATILE = re.compile(
    rf"\b(?:({_UUID})|({_TIME})|({_HEX})|({_PREFIXED})|({_EPOCH}))(?![A-Za-z0-9_])", re.IGNORECASE | re.ASCII
)
# A cheap test that most texts fail.
_MAY_HAVE_TOKENS = re.compile(r"\d[0-9a-f-]{3}|[_-][A-Za-z0-9]{8}", re.IGNORECASE | re.ASCII)
_MEASURE = re.compile(
    r"(?:duration|elapsed|latency|took|timestamp|uptime)"
    r"|.*(?:duration|elapsed|latency|took|timestamp|time|wall)_?(?:ms|seconds|secs|ns|us)",
    re.IGNORECASE | re.DOTALL,
)


class VolatileToken(NamedTuple):
    text: str
    shape: str


def shape_of_text(text: str, on_token: Optional[Callable[[VolatileToken], Any]] = None) -> str:
    """Replaces each id and time in the text with a placeholder and reports it."""

    def replace(token: VolatileToken) -> str:
        if on_token is not None:
            on_token(token)
        return token.shape

    return replace_tokens(text, replace)


def replace_tokens(text: str, replace: Callable[[VolatileToken], str]) -> str:
    """Replaces each id and time in the text."""
    if _MAY_HAVE_TOKENS.search(text) is None:
        return text
    return _VOLATILE.sub(lambda match: replace(VolatileToken(match.group(), _shape_of(match))), text)


def _shape_of(match: re.Match[str]) -> str:
    text = match.group()
    if match.group(1) is not None:
        return "⟨uuid⟩"
    if match.group(3) is not None:
        return f"⟨hex{len(text)}⟩"
    if match.group(4) is not None:
        return f"⟨{re.split(r'(?<=[_-])', text, maxsplit=1)[0]}id⟩"
    return TIME_SHAPE


def is_measure(key: str) -> bool:
    """True for keys of measurements, such as durations."""
    return _MEASURE.fullmatch(key) is not None


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text_of_number(value: Any) -> str:
    """As JavaScript writes it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def shape_of_value(
    value: Any, on_token: Optional[Callable[[VolatileToken], Any]] = None, depth: int = 0
) -> str:
    """A text that is equal for values that differ only in ids, times, measurements and the order of keys."""
    if isinstance(value, str):
        return shape_of_text(value, on_token)
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if is_number(value):
        return shape_of_text(text_of_number(value), on_token)
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, list):
        return "[" + "\u0001".join(shape_of_value(item, on_token, depth + 1) for item in value) + "]"
    if not isinstance(value, dict):
        return str(value)
    entries = [
        f"{key}:⟨measure⟩"
        if is_measure(key) and is_number(item)
        else f"{key}:{shape_of_value(item, on_token, depth + 1)}"
        for key, item in sorted(value.items())
    ]
    return "{" + "\u0001".join(entries) + "}"


# Ids that providers and frameworks make up for every call.
_MADE_BY_PROVIDER = re.compile(
    r"(?:call|toolu|tooluse|chatcmpl|cmpl|resp|msg|fc|rs|req|run|srvtoolu|gen|lc)[_-]", re.IGNORECASE
)


class VolatileIds:
    """Which ids of a run stand for which ids of the tape.

    A uuid, hash or time that stands where a recorded one stood is that one from then on; an id that the tape
    knows elsewhere never is.
    """

    def __init__(self, known: frozenset[str], source: Optional[VolatileIds] = None) -> None:
        self._known = known
        self._live_of_taped: dict[str, str] = {} if source is None else dict(source._live_of_taped)
        self._taped_of_live: dict[str, str] = {} if source is None else dict(source._taped_of_live)

    def fork(self) -> VolatileIds:
        """A copy to try a match with; it replaces this one if the match is taken."""
        return VolatileIds(self._known, self)

    def is_same_text(self, taped: str, live: str) -> bool:
        """True when the texts are equal except for ids and times that correspond."""
        if taped == live:
            return True
        taped_tokens: list[VolatileToken] = []
        live_tokens: list[VolatileToken] = []
        if shape_of_text(taped, taped_tokens.append) != shape_of_text(live, live_tokens.append):
            return False
        return all(self._is_same(one, other) for one, other in zip(taped_tokens, live_tokens))

    @property
    def mapped(self) -> dict[str, int]:
        """How many ids and times of the run differ from those of the tape."""
        counts = {"uuid": 0, "time": 0, "id": 0}
        for taped in self._live_of_taped:
            counts[{"⟨uuid⟩": "uuid", TIME_SHAPE: "time"}.get(shape_of_text(taped), "id")] += 1
        return counts

    def _is_same(self, taped: VolatileToken, live: VolatileToken) -> bool:
        if taped.text == live.text:
            return True
        if taped.shape == TIME_SHAPE:
            self._live_of_taped[taped.text] = live.text
            return True
        is_prefixed = taped.shape.endswith("id⟩") and taped.shape != "⟨uuid⟩"
        if is_prefixed and _MADE_BY_PROVIDER.match(taped.text) is None:
            return False
        known_live = self._live_of_taped.get(taped.text)
        known_taped = self._taped_of_live.get(live.text)
        if known_live is None and known_taped is None:
            if live.text in self._known:
                return False
            self._live_of_taped[taped.text] = live.text
            self._taped_of_live[live.text] = taped.text
            return True
        return known_live == live.text and known_taped == taped.text
