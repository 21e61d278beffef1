"""Values that JSON can't tell: which ones a result holds, by their place, and how they come back.

Places are JSON pointers; the empty one is the value itself.
"""

from __future__ import annotations

import base64
import builtins
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import sys
import types
import uuid
from collections.abc import Mapping
from typing import Any, Callable, Optional

from ..capture.json_value import JsonObject
from ..serialize import MAX_DEPTH, MAX_SAFE_INTEGER, MAX_VALUES

# Longer bytes are left out of recordings.
MAX_BYTES = 256 * 1024
_PLAIN = (str, int, float, bool, type(None), dict, list)
_NAMED: list[tuple[type, str, Callable[[Any], Any]]] = [
    (datetime.date, "date", lambda text: datetime.date.fromisoformat(text)),
    (datetime.time, "time", lambda text: datetime.time.fromisoformat(text)),
    (datetime.timedelta, "timedelta", lambda seconds: datetime.timedelta(seconds=seconds)),
    (decimal.Decimal, "decimal", lambda text: decimal.Decimal(text)),
    (uuid.UUID, "uuid", lambda text: uuid.UUID(text)),
    (pathlib.PurePath, "path", lambda text: pathlib.Path(text)),
    (tuple, "tuple", lambda items: tuple(items)),
    (frozenset, "frozenset", lambda items: frozenset(items)),
]


def find_types(value: Any) -> JsonObject:
    """Empty for plain JSON. Reads no properties, and never raises."""
    found: JsonObject = {}
    try:
        _Finder(found).visit(value, "")
        return found
    except Exception:
        return {"": {"type": "not-data", "name": type(value).__name__}}


class _Finder:
    def __init__(self, found: JsonObject) -> None:
        self._found = found
        self._count = 0
        self._around: list[int] = []

    def visit(self, value: Any, path: str) -> None:
        self._count += 1
        kind = type(value)
        if self._count > MAX_VALUES or kind in (str, bool, type(None)):
            return
        if len(self._around) > MAX_DEPTH or id(value) in self._around:
            return
        self._around.append(id(value))
        self._visit(value, kind, path)
        self._around.pop()

    def _visit(self, value: Any, kind: type, path: str) -> None:
        if kind is int:
            if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
                self._found[path] = "bigint"
        elif kind is float:
            if not math.isfinite(value):
                self._found[path] = "number"
        elif kind is dict:
            self._visit_dict(value, path)
        elif kind is list:
            self._visit_items(value, path)
        else:
            self._visit_other(value, kind, path)

    def _visit_dict(self, value: dict[Any, Any], path: str) -> None:
        kinds = {type(key) for key in value}
        if kinds == {int}:
            self._found[path] = {"type": "python", "name": "int-keys"}
        elif any(kind is not str and not issubclass(kind, str) for kind in kinds):
            self._found[path] = {"type": "not-data", "name": "a dict whose keys are not text"}
            return
        self._visit_fields(value, path)

    def _visit_fields(self, fields: Mapping[Any, Any], path: str) -> None:
        for key, item in fields.items():
            self.visit(item, f"{path}/{_escape(str(key))}")

    def _visit_items(self, items: Any, path: str) -> None:
        for index, item in enumerate(items):
            self.visit(item, f"{path}/{index}")

    def _visit_other(self, value: Any, kind: type, path: str) -> None:
        if issubclass(kind, enum.Enum):
            self._found[path] = _class_of(kind)
        elif issubclass(kind, datetime.datetime):
            self._found[path] = "date"
        elif issubclass(kind, (bytes, bytearray)):
            self._visit_bytes(value, kind, path)
        elif issubclass(kind, set):
            self._found[path] = "set"
            self._visit_items(value, path)
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self._found[path] = _class_of(kind)
            self._visit_fields(dict(zip(kind._fields, tuple.__iter__(value))), path)
        elif (name := _name_of(kind)) is not None:
            self._found[path] = {"type": "python", "name": name}
            if name in ("tuple", "frozenset"):
                self._visit_items(value, path)
        elif issubclass(kind, BaseException):
            self._found[path] = "error"
        elif issubclass(kind, dict):
            self._visit_dict(value, path)
        elif not issubclass(kind, _PLAIN):
            self._visit_object(value, kind, path)

    def _visit_bytes(self, value: bytes, kind: type, path: str) -> None:
        if len(value) > MAX_BYTES:
            self._found[path] = {"type": "not-data", "name": f"{len(value)} bytes"}
            return
        encoded = base64.b64encode(value).decode()
        self._found[path] = {"type": "bytes", "class": kind.__name__, "base64": encoded}

    def _visit_object(self, value: Any, kind: type, path: str) -> None:
        held = _fields_of(value, kind)
        if held is None:
            self._found[path] = {"type": "not-data", "name": kind.__name__}
            return
        self._found[path] = _class_of(kind)
        self._visit_fields(held, path)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _class_of(kind: type) -> JsonObject:
    return {"type": "class", "name": kind.__qualname__, "module": kind.__module__}


def _name_of(kind: type) -> Optional[str]:
    return next((name for known, name, _ in _NAMED if issubclass(kind, known)), None)


def _fields_of(value: Any, kind: type) -> Optional[dict[str, Any]]:
    """The public attributes of an object that only holds data; None for functions, files, connections."""
    create: Any = kind.__new__
    is_plain_class = create is object.__new__ or hasattr(kind, "model_construct")
    if not is_plain_class or issubclass(kind, (type, types.FunctionType, types.ModuleType)):
        return None
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return {name: object.__getattribute__(value, name) for name in names}
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return {name: item for name, item in held.items() if not name.startswith("_")} or None


class NotServable(Exception):
    """A result that can't be given back."""


def revive_value(value: Any, known: JsonObject, path: str = "") -> Any:
    """The value that was returned, from its JSON and the types of what JSON can't tell."""
    if known and isinstance(value, dict):
        value = {key: revive_value(item, known, f"{path}/{_escape(key)}") for key, item in value.items()}
    elif known and isinstance(value, list):
        value = [revive_value(item, known, f"{path}/{index}") for index, item in enumerate(value)]
    kind = known.get(path)
    return value if kind is None else _revive(value, kind)


def _revive(value: Any, kind: Any) -> Any:
    if isinstance(kind, str):
        revive = _SIMPLE.get(kind)
        return value if revive is None else revive(value)
    word, name = kind.get("type"), str(kind.get("name", ""))
    if word == "bytes":
        content = base64.b64decode(kind["base64"])
        return bytearray(content) if kind.get("class") == "bytearray" else content
    if word == "python":
        if name == "int-keys":
            return {int(key): item for key, item in value.items()}
        return next((revive(value) for _, known, revive in _NAMED if known == name), value)
    if word == "class":
        return _revive_object(value, name, kind.get("module"))
    if word == "not-data":
        raise NotServable(name)
    return value


def _read_time(text: Any) -> Any:
    # Older Pythons don't read the Z.
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if isinstance(text, str) else text


_SIMPLE: dict[str, Callable[[Any], Any]] = {
    "date": _read_time,
    "set": lambda items: set(items),
    "bigint": lambda text: int(text),
    "number": lambda text: float(text.replace("Infinity", "inf")),
    "-0": lambda _value: -0.0,
    "error": lambda error: revive_error({"type": error["name"], "message": error["message"]}),
}


def _revive_object(value: Any, name: str, module: Optional[str]) -> Any:
    """An instance of the class, if the program has loaded it; its `__init__` does not run."""
    try:
        return _make_object(value, name, module)
    except Exception as error:
        raise NotServable(name) from error


def _make_object(value: Any, name: str, module: Optional[str]) -> Any:
    kind = find_class(name, module)
    if kind is None:
        return (
            value if module is None else types.SimpleNamespace(**value) if isinstance(value, dict) else value
        )
    if issubclass(kind, enum.Enum):
        return kind(value)
    if hasattr(kind, "model_construct"):
        return kind.model_construct(**value)
    if issubclass(kind, tuple):
        return kind._make(value[field] for field in kind._fields)  # type: ignore[attr-defined]
    instance = object.__new__(kind)
    for field, item in value.items():
        object.__setattr__(instance, field, item)
    return instance


def find_class(name: str, module: Optional[str]) -> Optional[type]:
    """A class of a module that is loaded already: a file must not decide what is imported."""
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def describe_raised(error: BaseException) -> JsonObject:
    """An error as cassettes hold it."""
    kind = type(error)
    described: JsonObject = {"type": kind.__name__, "message": str(error)}
    code = getattr(error, "code", None)
    if isinstance(code, (str, int)) and not isinstance(code, bool):
        described["code"] = code
    return described if kind.__module__ == "builtins" else {**described, "module": kind.__module__}


def revive_error(described: JsonObject, scope: Optional[Mapping[str, Any]] = None) -> BaseException:
    """An exception of the recorded class. `scope`: the names that the function knows."""
    name, message = str(described.get("type", "Exception")), str(described.get("message", ""))
    candidates = [
        find_class(name, described.get("module")),
        (scope or {}).get(name),
        getattr(builtins, name, None),
    ]
    kind = next((one for one in candidates if isinstance(one, type) and issubclass(one, BaseException)), None)
    if kind is None:
        kind = type(name if name.isidentifier() else "Error", (Exception,), {})
    # The text of a KeyError is the repr of its key.
    argument = _unquote(message) if issubclass(kind, KeyError) else message
    error: BaseException = kind.__new__(kind, argument)
    error.args = (argument,)
    if "code" in described:
        error.code = described["code"]  # type: ignore[attr-defined]
    return error


def _unquote(message: str) -> str:
    return (
        message[1:-1] if len(message) > 1 and message[0] == message[-1] and message[0] in "'\"" else message
    )


def read_types(given: Any) -> JsonObject:
    """The types as an attribute or a cassette has them."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {}
    return given if isinstance(given, dict) else {}
