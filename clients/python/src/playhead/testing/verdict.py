"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass
class Verdict:
    passed: bool
    # Why the check failed; if it passed, why its negation would fail.
    message: str
    # The step that shows why.
    step_id: Optional[str] = None
    # The check can't be decided, so its negation fails as well.
    is_undecided: bool = False
