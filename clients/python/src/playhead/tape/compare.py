"""Compares values, ignoring the order of keys, measured times, and ids and times that correspond."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from ..serialize import write_json
from .text_shape import is_measure, is_number, text_of_number

MAX_DEPTH = 40
# Deeper JSON in texts stays text.
MAX_JSON_DEPTH = 1000
MISSING: Any = type("Missing", (), {"__repr__": lambda _self: "MISSING"})()

IsSameText = Callable[[str, str], bool]


class Difference(NamedTuple):
    """A place where two values differ. A side without a value is MISSING; the path of the whole is empty."""

    path: str
    recorded: Any
    asked: Any


def compare_values(recorded: Any, asked: Any, is_same_text: IsSameText, most: int = 1) -> list[Difference]:
    """The first differences, in the order of `recorded`."""
    found: list[Difference] = []

    def collect(a: Any, b: Any, path: str, depth: int) -> None:
        if len(found) >= most:
            return
        a, b = parse_result(a), parse_result(b)
        if _is_equal(a, b):
            return
        if depth < MAX_DEPTH and isinstance(a, list) and isinstance(b, list):
            for index in range(max(len(a), len(b))):
                collect(_item(a, index), _item(b, index), f"{path}[{index}]", depth + 1)
            return
        if depth < MAX_DEPTH and isinstance(a, dict) and isinstance(b, dict):
            for key in dict.fromkeys([*a, *b]):
                one, other = a.get(key, MISSING), b.get(key, MISSING)
                if not (is_measure(key) and is_number(one) and is_number(other)):
                    collect(one, other, f"{path}.{key}" if path else key, depth + 1)
            return
        if _is_text(a) and _is_text(b) and is_same_text(_to_text(a), _to_text(b)):
            return
        found.append(Difference(path, a, b))

    collect(recorded, asked, "", 0)
    return found


def _is_equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, (list, dict)):
        return False
    return ((is_number(a) and is_number(b)) or type(a) is type(b)) and bool(a == b)


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else MISSING


def _is_text(value: Any) -> bool:
    """Numbers may be timestamps."""
    return isinstance(value, str) or is_number(value)


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else text_of_number(value)


def parse_result(value: Any) -> Any:
    """Parses null that was written as text, and JSON that was recorded as text."""
    return None if value in ("null", "None") else parse_json_text(value)


def parse_json_text(value: Any) -> Any:
    """A text that is JSON, or JSON in JSON, as its value; anything else as it is."""
    if not isinstance(value, str):
        return value
    parsed = _parse_once(value)
    return _parse_once(parsed) if isinstance(parsed, str) and parsed != value else parsed


def _parse_once(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    try:
        value = json.loads(text, parse_constant=_refuse)
        return text if len(text) >= 2 * MAX_JSON_DEPTH and _is_deeper(value, MAX_JSON_DEPTH) else value
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _is_deeper(value: Any, depth: int) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return items is not None and (depth == 0 or any(_is_deeper(item, depth - 1) for item in items))


_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def diff_words(recorded: str, asked: str) -> list[dict[str, str]]:
    """The texts word by word: `a` is only in the recorded one, `b` only in the other."""
    # Few programs need it, so it does not slow the start of all.
    from difflib import SequenceMatcher

    left, right = _WORD.findall(recorded), _WORD.findall(asked)
    pieces: list[dict[str, str]] = []

    def add(kind: str, words: Sequence[str]) -> None:
        if words:
            pieces.append({"kind": kind, "text": "".join(words)})

    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=len(left) > 2000).get_opcodes():
        if tag == "equal":
            add("same", left[a:b])
        else:
            add("a", left[a:b])
            add("b", right[c:d])
    return pieces


# Control characters, and marks that reorder or break a line without being seen.
_UNSEEN = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)
_LINE_BREAK = re.compile(r"[ \t]*[\n\r\t][ \t\n\r]*")


def visible_text(text: str) -> str:
    """Text on one line, with control characters escaped, so that it can't move the cursor of a terminal."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return _UNSEEN.sub(_escape, _LINE_BREAK.sub(" ", whole))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def describe_value(value: Any, width: int) -> str:
    """Any value on one line: texts in quotes, the rest as JSON."""
    if isinstance(value, str):
        escaped = value.replace('"', '\\"')
        return f'"{_one_line(escaped, max(1, width - 2))}"'
    return _one_line(write_json(value)[: width * 4 + 1], width)


def _one_line(text: str, width: int) -> str:
    beginning = text[: width * 4 + 100]
    line = visible_text(re.sub(r"\s+", " ", beginning).strip())
    is_cut = len(beginning) < len(text)
    return line if len(line) <= width and not is_cut else f"{line[: max(1, width - 1)]}…"
