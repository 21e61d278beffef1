"""Prints warnings to the developer, each only once."""

from __future__ import annotations

import sys

from .format.lines import safe_for_log


class Reporter:
    def __init__(self) -> None:
        self.is_silent: bool = False
        self._said: set[str] = set()

    def once(self, topic: str, line: str) -> None:
        """`topic` identifies the warning for deduplication."""
        if topic in self._said:
            return
        self._said.add(topic)
        self.say(line)

    def say(self, line: str) -> None:
        if self.is_silent:
            return
        try:
            stream = sys.stderr or sys.__stderr__
            if stream is not None:
                stream.write(f"playhead: {safe_for_log(line)}\n")
                stream.flush()
        except Exception:
            self.is_silent = True
