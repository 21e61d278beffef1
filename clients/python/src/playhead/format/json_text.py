"""Values as JavaScript writes them, so that Python's lines equal those of the server and of TypeScript."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

_LARGEST_PLAIN = 1e21
_SMALLEST_PLAIN = 1e-6


def compact_json(value: Any, max_length: int, max_depth: int = 8) -> str:
    """JSON without spaces that stops once it is longer than `max_length`, however large or deep the value."""
    writer = _Writer(max_length, max_depth)
    writer.write(value, 0)
    return "".join(writer.pieces)


class _Writer:
    def __init__(self, max_length: int, max_depth: int) -> None:
        self.pieces: list[str] = []
        self._length = 0
        self._max_length = max_length
        self._max_depth = max_depth

    @property
    def is_full(self) -> bool:
        return self._length > self._max_length

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        self._length += utf16_length(text)

    def write(self, value: Any, depth: int) -> None:
        if self.is_full:
            return
        if isinstance(value, str):
            self._add(quote_json(utf16_slice(value, self._max_length + 1)))
        elif not isinstance(value, (list, tuple, dict)):
            self._add(write_scalar(value))
        elif depth == self._max_depth:
            self._add("…")
        elif isinstance(value, dict):
            self._write_object(value, depth)
        else:
            self._write_list(value, depth)

    def _write_list(self, items: Any, depth: int) -> None:
        self._add("[")
        for index, item in enumerate(items):
            if index > 0:
                self._add(",")
            self.write(item, depth + 1)
            if self.is_full:
                return
        self._add("]")

    def _write_object(self, fields: dict[Any, Any], depth: int) -> None:
        self._add("{")
        separator = ""
        for key, item in fields.items():
            self._add(f"{separator}{quote_json(utf16_slice(str(key), self._max_length))}:")
            separator = ","
            self.write(item, depth + 1)
            if self.is_full:
                return
        self._add("}")


def quote_json(text: str) -> str:
    """As `JSON.stringify`: only half of a surrogate pair is escaped, besides what JSON requires."""
    quoted = json.dumps(text, ensure_ascii=False)
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return quoted
    return "".join(
        f"\\u{ord(character):04x}" if "\ud800" <= character <= "\udfff" else character for character in quoted
    )


def write_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return write_number(value)
    return "[function]" if callable(value) else str(value)


def write_number(value: float) -> str:
    """As JavaScript writes a number: 2 for 2.0, 1e-7 for 1e-07."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    size = abs(value)
    if value == int(value) and size < _LARGEST_PLAIN:
        return str(int(value))
    text = repr(value)
    if "e" not in text:
        return text
    if _SMALLEST_PLAIN <= size < _LARGEST_PLAIN:
        return format(Decimal(text), "f")
    digits, exponent = text.split("e")
    power = int(exponent)
    return f"{digits}e{'+' if power > 0 else '-'}{abs(power)}"


def utf16_length(text: str) -> int:
    """JavaScript counts characters beyond the 16 bit plane twice."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def utf16_slice(text: str, length: int) -> str:
    """The beginning of a text, never half of a character."""
    if len(text) * 2 <= length or text.isascii():
        return text[:length]
    taken = 0
    for index, character in enumerate(text):
        taken += 2 if character > "\uffff" else 1
        if taken > length:
            return text[:index]
    return text
