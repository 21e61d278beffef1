"""What a run gets instead of a response or a result."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Optional

from ..capture.json_value import JsonObject
from .compare import MISSING
from .value_types import NotServable, revive_value


class TapedResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    chunks: list[str]
    # The client stopped reading after the last chunk.
    is_aborted: bool = False


class TapedError(NamedTuple):
    """The connection failed."""

    code: str
    message: str


@dataclass
class Served:
    """The result of an action that is not run, in the form in which it came: at once, later, in pieces."""

    shape: Optional[str]
    result: Any
    types: JsonObject
    error: Optional[BaseException]
    revive: Optional[Callable[[Any], Any]]

    @property
    def problem(self) -> Optional[str]:
        """What can't be given back; None if everything can."""
        if self.revive is not None:
            return None
        try:
            self._read(self.result)
            return None
        except NotServable as problem:
            return str(problem)

    def value(self) -> Any:
        if self.error is not None:
            raise self.error
        return self._read(self.result)

    async def coroutine(self) -> Any:
        return self.value()

    def generator(self) -> Generator[Any, Any, Any]:
        pieces, returned = self._pieces()
        yield from pieces
        if self.error is not None:
            raise self.error
        return returned

    async def async_generator(self) -> AsyncGenerator[Any, Any]:
        pieces, _returned = self._pieces()
        for piece in pieces:
            yield piece
        if self.error is not None:
            raise self.error

    def in_shape(self) -> Any:
        """For a plain function, whose result may still be awaited or iterated."""
        if self.shape == "promise":
            return self.coroutine()
        if self.shape == "generator":
            return self.generator()
        return self.async_generator() if self.shape == "async-generator" else self.value()

    def _read(self, result: Any) -> Any:
        if result is MISSING:
            return None
        return revive_value(result, self.types) if self.revive is None else self.revive(result)

    def _pieces(self) -> tuple[list[Any], Any]:
        result = self._read(self.result)
        if isinstance(result, list):
            return result, None
        if isinstance(result, dict) and isinstance(result.get("yielded"), list):
            return result["yielded"], result.get("returned")
        return ([] if result is None else [result]), None
