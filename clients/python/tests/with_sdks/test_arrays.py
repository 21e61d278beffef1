"""Values of numpy and pandas can be read in the replay."""

from __future__ import annotations

import json
from typing import Any

import numpy
import pandas
import pytest

import playhead
from playhead.serialize import SerializeOptions, serialize_value

OPTIONS = SerializeOptions(100_000, True, lambda key: key == "password")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (numpy.int64(3), 3),
        (numpy.float32(1.5), 1.5),
        (numpy.bool_(True), True),
        (numpy.datetime64("2024-01-02"), "2024-01-02"),
        (numpy.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (numpy.array(5), 5),
        (numpy.array(["a", None], dtype=object), ["a", None]),
        (numpy.complex64(1 + 2j), "(1+2j)"),
        ({"nested": numpy.array([1.0, numpy.nan])}, {"nested": [1.0, "NaN"]}),
        (pandas.DataFrame({"a": [1, 2], "password": ["x", "y"]}), [{"a": 1}, {"a": 2}]),
        (pandas.Series([1, 2]), [1, 2]),
        (pandas.Series([1, 2], index=["x", "y"]), {"x": 1, "y": 2}),
        (pandas.Index([1, 2]), [1, 2]),
        (pandas.Timestamp("2024-01-01"), "2024-01-01T00:00:00"),
        (pandas.NaT, None),
        (pandas.NA, None),
        (pandas.Interval(1, 2), "(1, 2]"),
        (pandas.Categorical(["a", "b"]), ["a", "b"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_small_values_are_shown_whole(value: Any, shown: Any) -> None:
    text, is_cut = serialize_value(value, OPTIONS)
    found = json.loads(text)
    if isinstance(value, pandas.DataFrame):
        assert [row.pop("password") for row in found] == ["[redacted]", "[redacted]"]
    assert (found, is_cut) == (shown, False)


def test_numbers_are_numbers_as_arguments_and_as_results() -> None:
    @playhead.record_action("measure")
    def measure(value: Any) -> Any:
        return value

    playhead.init(endpoint=False)
    with playhead.session("numbers") as session:
        for value in (numpy.int64(-3), numpy.float64(1.5), numpy.bool_(True), "1.5"):
            measure(value)
    found = [(action.params["value"], action.returns) for action in session.action_events]
    assert json.dumps(found) == '[[-3, -3], [1.5, 1.5], [true, true], ["1.5", "1.5"]]'


def test_large_values_show_their_beginning() -> None:
    text, is_cut = serialize_value(numpy.zeros((1000, 1000)), OPTIONS)
    assert (json.loads(text), is_cut) == ({"array": "1000×1000 float64", "first": [0.0] * 20}, True)
    text, is_cut = serialize_value(pandas.DataFrame(numpy.ones((500, 2)), columns=["a", "b"]), OPTIONS)
    shown = json.loads(text)
    assert (shown["table"], len(shown["first"]), is_cut) == ("500 rows × 2 columns", 50, True)
    text, is_cut = serialize_value(pandas.Series(range(5000)), OPTIONS)
    assert (len(json.loads(text)), is_cut) == (1000, True)
