"""Values of numpy and pandas as plain data: small ones whole, large ones by their beginning."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

MAX_NUMBERS = 1000
SHOWN_NUMBERS = 20
MAX_ROWS = 50
MAX_COLUMNS = 50


class Plain(NamedTuple):
    value: Any
    is_cut: bool = False


def to_plain(value: Any, kind: type) -> Optional[Plain]:
    """None for anything else. May raise: it runs the library's code."""
    library = kind.__module__.partition(".")[0]
    if library == "numpy":
        return _of_numpy(value)
    if library == "pandas":
        return _of_pandas(value, kind.__name__)
    return None


def _of_numpy(value: Any) -> Optional[Plain]:
    if not hasattr(value, "dtype") or not hasattr(value, "tolist"):
        return None
    shape = value.shape
    if shape == ():
        item = value.item()
        # A number that Python has no type for stays what it is.
        return Plain(str(item) if type(item) is type(value) else item)
    if value.size <= MAX_NUMBERS:
        return Plain(value.tolist())
    size = "×".join(map(str, shape))
    return Plain({"array": f"{size} {value.dtype}", "first": value.flat[:SHOWN_NUMBERS].tolist()}, True)


def _of_pandas(value: Any, name: str) -> Optional[Plain]:
    if name in ("NAType", "NaTType"):
        return Plain(None)
    if name == "DataFrame":
        rows, columns = value.shape
        shown = value.iloc[:MAX_ROWS, :MAX_COLUMNS]
        records = shown.to_dict("records")
        if (rows, columns) == shown.shape:
            return Plain(records)
        return Plain({"table": f"{rows} rows × {columns} columns", "first": records}, True)
    if name == "Series":
        shown = value.iloc[:MAX_NUMBERS]
        is_numbered = type(value.index).__name__ == "RangeIndex"
        return Plain(shown.tolist() if is_numbered else shown.to_dict(), len(value) > MAX_NUMBERS)
    if hasattr(value, "tolist") and hasattr(value, "__len__"):
        return Plain(value[:MAX_NUMBERS].tolist(), len(value) > MAX_NUMBERS)
    return Plain(str(value)) if name in ("Interval", "Period") else None
