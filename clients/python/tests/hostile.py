"""Values that break code which expects something else, chosen by a seed."""

from __future__ import annotations

import asyncio
import collections
import datetime
import decimal
import random
from typing import Any, Callable


class HostError(Exception):
    """What a function of the host raises: the only thing that may reach the host."""


def trap(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("a trap that must not reach the host")


class Trapped:
    """Raises in whatever way it is used."""

    __getattribute__ = __str__ = __repr__ = __bool__ = __len__ = __iter__ = __eq__ = __hash__ = trap
    __int__ = __float__ = __lt__ = __gt__ = __contains__ = __getitem__ = __fspath__ = __call__ = trap


class TrappedDict(dict):  # type: ignore[type-arg]
    items = keys = values = __iter__ = __getitem__ = __len__ = trap


class TrappedText(str):
    __str__ = __repr__ = __len__ = __eq__ = __hash__ = strip = lower = trap


class TrappedError(Exception):
    __str__ = __repr__ = trap

    @property
    def exceptions(self) -> Any:
        return trap()


class ReadWithoutBound(BaseException):
    """Not an Exception: the package would handle it, and the test would not see it."""


class EndlessList(list):  # type: ignore[type-arg]
    """Ends after many times more than anything may read, before it fills the memory."""

    read_count = 0

    def __iter__(self) -> Any:
        for _ in range(1_000_000):
            self.read_count += 1
            yield self
        raise ReadWithoutBound


def _circular() -> Any:
    value: dict[str, Any] = {"list": []}
    value["self"] = value
    value["list"] += [value, value]
    return value


def _deep() -> Any:
    value: Any = {}
    for _ in range(5000):
        value = {"value": value}
    return value


MAKERS: list[Callable[[], Any]] = [
    Trapped,
    lambda: TrappedDict(a=1),
    lambda: TrappedText("trapped"),
    lambda: TrappedError("trapped"),
    _circular,
    lambda: None,
    lambda: True,
    lambda: 42,
    lambda: -1,
    lambda: 10**5000,
    lambda: float("nan"),
    lambda: float("-inf"),
    lambda: 1e300,
    lambda: 3 + 4j,
    lambda: "",
    lambda: "\ud800 \0 lone",
    lambda: b"\xff\xfe",
    lambda: bytearray(1000),
    lambda: decimal.Decimal("NaN"),
    lambda: datetime.datetime.max,
    lambda: datetime.datetime(1, 1, 1, tzinfo=datetime.timezone.utc),
    lambda: {1: 2, (1, 2): 3, None: 4, b"x": 5, 10**5000: 6},
    lambda: {"name": Trapped(), "kept": "yes"},
    lambda: [Trapped(), 1, "b"],
    lambda: {1, 2, 3},
    lambda: collections.deque([1]),
    lambda: (number for number in range(3)),
    lambda: object(),
    lambda: type("Odd", (), {"__slots__": ("a",)})(),
    lambda: type,
    lambda: print,
    lambda: ValueError("an error"),
    lambda: KeyError(Trapped),
    lambda: asyncio,
]


# They take milliseconds each.
LARGE: list[Callable[[], Any]] = [EndlessList, _deep, lambda: "x" * 100_000, lambda: range(10**12)]


def returns(value: Any) -> Any:
    return value


def fails(*_args: Any) -> Any:
    raise HostError("raised by the host")


def yields(*_args: Any) -> Any:
    yield 1
    yield 2


async def waits(*_args: Any) -> Any:
    return 1


async def yields_later(*_args: Any) -> Any:
    yield 1


FUNCTIONS: list[Any] = [
    returns,
    fails,
    yields,
    waits,
    yields_later,
    lambda *_args: Trapped(),
    staticmethod(returns),
]


class Generator:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def value(self) -> Any:
        return self._random.choice(LARGE if self._random.random() < 0.005 else MAKERS)()

    def values(self, most: int = 3) -> list[Any]:
        return [self.value() for _ in range(self._random.randint(0, most))]

    def function(self) -> Any:
        return self._random.choice(FUNCTIONS)

    def options(self, names: list[str]) -> dict[str, Any]:
        """Any value for some of the parameters."""
        return {name: self.value() for name in names if self._random.random() < 0.5}
