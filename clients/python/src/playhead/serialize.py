"""Serialises any value as JSON, bounded in size, depth and time."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import numbers
import pathlib
import types
import uuid
from itertools import islice
from typing import Any, Callable, NamedTuple, Optional

from .arrays import to_plain
from .redaction import REDACTED

MAX_DEPTH = 12
# Bounds the time of one call for any input, in units of about 0.3 µs: the time to write a number.
MAX_VALUES = 60_000
_KEY_COST = 7
_OTHER_KEY_COST = 15
_OTHER_KIND_COST = 19
MAX_LABEL_LENGTH = 1000
MAX_SAFE_INTEGER = 2**53 - 1
MAX_BITS = 4096


class SerializeOptions(NamedTuple):
    # JSON characters; longer output is truncated and marked.
    max_length: int
    # False keeps keys, numbers, None and booleans, and only the length of strings.
    is_content_kept: bool
    is_secret_key: Callable[[str], bool]
    max_values: int = MAX_VALUES


class Serialized(NamedTuple):
    text: str
    is_cut: bool


def serialize_value(value: Any, options: SerializeOptions) -> Serialized:
    """Never calls properties, marks circular references, never modifies the value and never raises."""
    try:
        return serialize_and_tell(value, options)[0]
    except Exception:
        return Serialized('"[not readable]"', True)


def serialize_and_tell(value: Any, options: SerializeOptions) -> tuple[Serialized, bool]:
    """Also tells whether the value was plain JSON, of which nothing is lost. May raise."""
    writer = _Writer(options)
    text = write_json(writer.plain(value))
    return Serialized(text, writer.is_cut), writer.is_plain and not writer.is_cut


# Made once: `json.dumps` would make one for each call. What it writes is never circular.
write_json: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode


class _Writer:
    """Convert a value to plain JSON data within the size budget."""

    def __init__(self, options: SerializeOptions) -> None:
        self._options = options
        self._ancestors: list[int] = []
        self._value_count = 0
        self._length = 0
        self.is_cut = False
        # False once something was not exactly what JSON has.
        self.is_plain = True

    def plain(self, value: Any) -> Any:
        self._value_count += 1
        # By type, not isinstance: isinstance on a proxy object runs the host's code.
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            # Redaction looks at every text.
            self._value_count += 1
            return self._text(value)
        if kind is int:
            return self._number(value)
        if kind is dict:
            return self._nested(value, self._mapping)
        if kind is list:
            return self._nested(value, self._items)
        if kind is float and math.isfinite(value):
            return value
        self.is_plain = False
        if kind is float:
            return _infinite(value)
        if kind is tuple:
            return self._nested(value, self._items)
        # Other kinds take longer to tell apart.
        self._value_count += _OTHER_KIND_COST
        try:
            return self._other(value, kind)
        except Exception:
            # Describing it runs the host's code, as in `__str__` of an error.
            self.is_cut = True
            return "[not readable]"

    def _text(self, value: str) -> str:
        if not self._options.is_content_kept:
            return f"[{len(value)} characters]"
        room = max(0, self._options.max_length - self._length)
        self._length += len(value)
        if len(value) <= room:
            return value
        self.is_cut = True
        return f"{value[:room]}… [{room} of {len(value)} characters]"

    def _number(self, value: int) -> Any:
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return value
        self.is_plain = False
        return self._label(_large_number(value))

    def _nested(self, value: Any, write: Callable[[Any], Any]) -> Any:
        if id(value) in self._ancestors:
            self.is_plain = False
            return "[circular]"
        if len(self._ancestors) >= MAX_DEPTH:
            self.is_cut = True
            return "[deeper]"
        self._ancestors.append(id(value))
        try:
            return write(value)
        finally:
            self._ancestors.pop()

    def _items(self, items: Any) -> list[Any]:
        written: list[Any] = []
        max_length, max_values = self._options.max_length, self._options.max_values
        listed = list(islice(items, max_values + 1))
        length = max(_true_length(items), len(listed))
        for index, item in enumerate(listed):
            if self._length >= max_length or self._value_count >= max_values:
                self.is_cut = True
                written.append(f"… {length - index} more")
                break
            written.append(self.plain(item))
        return written

    def _mapping(self, mapping: Any) -> dict[str, Any]:
        written: dict[str, Any] = {}
        pairs = dict.items(mapping) if issubclass(type(mapping), dict) else mapping.items()
        max_length, _, is_secret_key, max_values = self._options
        for key, value in pairs:
            if self._length >= max_length or self._value_count >= max_values:
                self.is_cut = True
                written["…"] = "more keys were left out"
                break
            self._value_count += _KEY_COST
            if type(key) is str:
                name = key[:MAX_LABEL_LENGTH]
            else:
                self.is_plain = False
                self._value_count += _OTHER_KEY_COST
                name = _key_text(key)[:MAX_LABEL_LENGTH]
            self._length += len(name)
            if _is_hidable(value) and is_secret_key(name):
                self.is_plain = False
                written[name] = REDACTED
            else:
                written[name] = self.plain(value)
        return written

    def _other(self, value: Any, kind: type) -> Any:
        if issubclass(kind, enum.Enum):
            return self.plain(value.value)
        held_by_library = to_plain(value, kind)
        if held_by_library is not None:
            self.is_cut = self.is_cut or held_by_library.is_cut
            return self._nested(value, lambda _value: self.plain(held_by_library.value))
        for known, describe in _KNOWN:
            if issubclass(kind, known):
                return describe(self, value)
        if issubclass(kind, tuple):
            fields = getattr(kind, "_fields", None)
            if type(fields) is tuple:
                return self._nested(dict(zip(fields, tuple.__iter__(value))), self._mapping)
        for known, write in ((dict, self._mapping), (collections.OrderedDict, self._mapping)):
            if issubclass(kind, known):
                return self._nested(value, write)
        if issubclass(kind, (list, tuple, set, frozenset, collections.deque)):
            return self._nested(value, self._items)
        held = _held_values(value, kind)
        return self._label(f"[{kind.__name__}]") if held is None else self._nested_held(value, held)

    def _nested_held(self, value: Any, held: dict[str, Any]) -> Any:
        return self._nested(value, lambda _value: self._mapping(held))

    def _label(self, label: str) -> str:
        self._length += len(label)
        return label


def _true_length(items: Any) -> int:
    """Without the host's code, whose length may lie."""
    for kind in (list, tuple, set, frozenset, collections.deque, range):
        if issubclass(type(items), kind):
            return int(kind.__len__(items))
    return 0


def _large_number(value: int) -> str:
    """As text, because JavaScript can't represent it exactly."""
    # Python refuses to write very long integers, and the time grows with the square of the length.
    return str(value) if value.bit_length() < MAX_BITS else f"[integer of {value.bit_length()} bits]"


def _infinite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _key_text(key: Any) -> str:
    if issubclass(type(key), str):
        return str.__str__(key)
    if type(key) is int:
        return _large_number(key)
    if key is None or type(key) in (bool, float, datetime.date, uuid.UUID):
        return str(key)
    if type(key) is tuple and all(type(part) in (str, int, bool, float) for part in key):
        return str(tuple(_key_part(part) for part in key[:MAX_LABEL_LENGTH]))
    if issubclass(type(key), enum.Enum) and type(key.value) in (str, int):
        return _key_text(key.value)
    return f"[{type(key).__name__}]"


def _key_part(part: Any) -> Any:
    is_large = type(part) is int and not -MAX_SAFE_INTEGER <= part <= MAX_SAFE_INTEGER
    return _large_number(part) if is_large else part


def _is_hidable(value: Any) -> bool:
    """An absent secret is not sensitive."""
    return value is not None and type(value) is not bool and not (type(value) is str and value == "")


def _held_values(value: Any, kind: type) -> Optional[dict[str, Any]]:
    """An object's public attributes, read without running any of its code."""
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        found = {name: _slot(value, name) for name in names}
        return {name: held for name, held in found.items() if held is not _MISSING}
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        held = None
    if type(held) is not dict:
        slots = getattr(kind, "__slots__", None) or ()
        names = [slots] if isinstance(slots, str) else list(slots)
        held = {name: _slot(value, name) for name in names if isinstance(name, str)}
    # One more than is ever written, so that it is marked as cut.
    public = {
        name: item
        for name, item in islice(held.items(), MAX_VALUES // _KEY_COST + 1)
        if type(name) is str and not name.startswith("_") and item is not _MISSING and not _is_code(item)
    }
    return public or None


_MISSING = object()


def _slot(value: Any, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except Exception:
        return _MISSING


def _is_code(value: Any) -> bool:
    return type(value) in (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def _describe_error(writer: _Writer, error: BaseException) -> Any:
    message = writer.plain(str(error))
    return {"name": type(error).__name__, "message": message}


def _named(writer: _Writer, value: Any) -> str:
    return f"[function {str(getattr(value, '__name__', 'anonymous'))[:MAX_LABEL_LENGTH]}]"


_KNOWN: list[tuple[Any, Callable[[_Writer, Any], Any]]] = [
    (str, lambda writer, value: writer._text(str.__str__(value))),
    (bool, lambda _writer, value: bool(value)),
    (int, lambda writer, value: writer._number(int(value))),
    (float, lambda writer, value: writer.plain(float(value))),
    ((datetime.datetime, datetime.date, datetime.time), lambda _writer, value: value.isoformat()),
    (datetime.timedelta, lambda _writer, value: value.total_seconds()),
    (decimal.Decimal, lambda writer, value: writer._text(str(value))),
    (uuid.UUID, lambda _writer, value: str(value)),
    (pathlib.PurePath, lambda writer, value: writer._text(str(value))),
    ((bytes, bytearray), lambda _writer, value: f"[{len(value)} bytes]"),
    (memoryview, lambda _writer, value: f"[{value.nbytes} bytes]"),
    (array.array, lambda _writer, value: f"[{len(value)} numbers]"),
    (BaseException, _describe_error),
    (types.CoroutineType, lambda _writer, _value: "[coroutine]"),
    ((types.GeneratorType, types.AsyncGeneratorType), lambda _writer, _value: "[generator]"),
    ((types.FunctionType, types.MethodType, types.BuiltinFunctionType), _named),
    (type, lambda _writer, value: f"[class {value.__name__}]"),
    (types.ModuleType, lambda _writer, value: f"[module {value.__name__}]"),
    (range, lambda writer, value: writer._nested(value, writer._items)),
    (types.MappingProxyType, lambda writer, value: writer._nested(value, writer._mapping)),
    (complex, lambda _writer, value: str(complex(value))),
    (numbers.Integral, lambda writer, value: writer._number(int(value))),
    (numbers.Real, lambda writer, value: writer.plain(float(value))),
]
