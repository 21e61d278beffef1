"""Tells whether code runs in the flow that started a session, or only where that session was left open."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

FRAMES_LOOKED_AT = 60
# What started the test runner belongs to no flow: a fixture and a test would have it in common.
_RUNNERS = ("_pytest.config", "unittest.main")
_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Includes the scripts that start test runners and servers.
_STRANGERS = tuple(
    {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")}
)


class StackFrame(NamedTuple):
    code: CodeType
    line: int

    @property
    def is_hosts(self) -> bool:
        """False for the standard library and installed packages (test runners, servers, frameworks)."""
        return _is_hosts(self.code.co_filename)


@lru_cache(maxsize=4096)
def _is_hosts(filename: str) -> bool:
    path = os.path.abspath(filename)
    return not path.startswith(_STRANGERS) and "site-packages" not in path and not filename.startswith("<")


def capture_stack() -> tuple[StackFrame, ...]:
    """The functions on the stack outside this package, innermost first."""
    frames: list[StackFrame] = []
    frame = sys._getframe(1)
    while frame is not None and len(frames) < FRAMES_LOOKED_AT:
        if frame.f_globals.get("__name__") in _RUNNERS:
            break
        if not frame.f_code.co_filename.startswith(_OWN_FOLDER):
            frames.append(StackFrame(frame.f_code, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(frames)


def is_inside_flow(later: Sequence[StackFrame], earlier: Sequence[StackFrame]) -> bool:
    if not earlier or not later:
        return True
    starter, caller = earlier[0], later[0]
    is_same_site = starter == caller
    around = later[1:] if is_same_site else later
    if any(frame.code is starter.code for frame in around):
        return True
    if is_same_site:
        return False
    # A fixture and the test that follows it share only the test runner's own functions.
    functions = {frame.code for frame in earlier if frame.is_hosts}
    return not any(frame.code in functions for frame in later)
