"""The tape that answers this process, if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional

if TYPE_CHECKING:
    from .run_tape import RunTape


class TapeMissError(Exception):
    """Raised by an action that the cassette has no result for."""


@dataclass
class ActionCall:
    """A call of a recorded function."""

    name: str
    # JSON, as recorded.
    arguments: str
    fn: Callable[..., Any]
    effect: Optional[str] = None
    replay: Optional[str] = None
    revive: Optional[Callable[[Any], Any]] = None


# Not bound to a context: what a test calls may run in threads and loops of its own.
_tape: Optional[RunTape] = None


def active_tape() -> Optional[RunTape]:
    return _tape


def set_tape(tape: Optional[RunTape]) -> None:
    global _tape
    _tape = tape
