"""Reads what the host passes, which may be anything. Nothing here raises; a bad value costs its own field."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

from .serialize import SerializeOptions, serialize_value

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Kind = TypeVar("Kind")
UNNAMED = "unnamed"
MAX_NAME_LENGTH = 1000
MAX_NAMES = 1000
MAX_FIELDS = 10_000
# A name holds no more values than characters.
_OPTIONS = SerializeOptions(MAX_NAME_LENGTH, True, lambda _key: False, max_values=MAX_NAME_LENGTH)


def is_a(value: object, kinds: Union[type[Kind], tuple[type[Kind], ...]]) -> TypeIs[Kind]:
    """By type: isinstance on a proxy object runs the host's code."""
    return issubclass(type(value), kinds)


def to_text(value: Any) -> Optional[str]:
    """A value as text: a number or an object becomes JSON. None for None."""
    if value is None:
        return None
    if is_a(value, str):
        return str.__str__(value)
    text = serialize_value(value, _OPTIONS).text
    return str(json.loads(text)) if text.startswith('"') else text


def to_name(value: Any) -> Optional[str]:
    """A name of bounded length; None for None and empty text."""
    text = to_text(value)
    if not text:
        return None
    if len(text) <= MAX_NAME_LENGTH:
        return text
    return f"{text[:MAX_NAME_LENGTH]}… [{MAX_NAME_LENGTH} of {len(text)} characters]"


def to_names(value: Any) -> list[str]:
    """A list of names without duplicates; a single name counts as a list."""
    if value is None:
        return []
    is_many = is_a(value, (list, tuple, set, frozenset, dict)) or (
        hasattr(type(value), "__iter__") and not is_a(value, (str, bytes))
    )
    return list(dict.fromkeys(name for name in map(to_name, items_of(value) if is_many else [value]) if name))


def items_of(values: Iterable[Any]) -> list[Any]:
    try:
        return list(islice(values, MAX_NAMES))
    except Exception:
        return []


def to_fields(value: Any) -> dict[str, Any]:
    """The entries with text keys of a mapping or of a list of pairs; empty for anything else."""
    try:
        pairs = dict.items(value) if is_a(value, dict) else _pairs_of(value)
        return {str.__str__(key): item for key, item in islice(pairs, MAX_FIELDS) if is_a(key, str)}
    except Exception:
        return {}


def _pairs_of(value: Any) -> Iterable[tuple[Any, Any]]:
    """As dict() reads them, but one at a time: there may be no end of them."""
    if not hasattr(value, "keys"):
        return value  # type: ignore[no-any-return]
    keys = value.keys()
    return ((key, value[key]) for key in keys)


def to_number(value: Any) -> Any:
    """An integer or a float; None for anything else."""
    return value if type(value) in (int, float) else None
