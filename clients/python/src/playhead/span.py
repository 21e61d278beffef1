"""One step in its wire format."""

from __future__ import annotations

import os
import random
from typing import Any, Optional

from .clock import now_ns

KIND_INTERNAL = 1
KIND_CLIENT = 3
STATUS_UNSET = 0
STATUS_ERROR = 2

# Ids must differ between forked processes, and the host may seed `random`.
_ids = random.Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ids.seed)


def new_trace_id() -> str:
    return f"{_ids.getrandbits(128) or 1:032x}"


def new_span_id() -> str:
    return f"{_ids.getrandbits(64) or 1:016x}"


class Span:
    __slots__ = (
        "attributes",
        "end_ns",
        "id",
        "is_announced",
        "is_foreign",
        "is_parent_remote",
        "kind",
        "name",
        "outgoing",
        "parent_id",
        "start_ns",
        "status_code",
        "status_message",
        "trace_id",
    )

    def __init__(
        self,
        name: str,
        trace_id: str,
        parent_id: Optional[str],
        attributes: dict[str, Any],
        *,
        kind: int = KIND_INTERNAL,
        start_ns: Optional[int] = None,
        is_parent_remote: bool = False,
    ) -> None:
        self.name: str = name
        self.trace_id: str = trace_id
        self.id: str = new_span_id()
        self.parent_id: Optional[str] = parent_id
        self.is_parent_remote: bool = is_parent_remote
        self.kind: int = kind
        self.attributes: dict[str, Any] = attributes
        self.start_ns: int = now_ns() if start_ns is None else start_ns
        self.end_ns: Optional[int] = None
        self.status_code: int = STATUS_UNSET
        self.status_message: str = ""
        self.is_announced: bool = False
        # True in a forked process for a step that another one started, and that it will end.
        self.is_foreign: bool = False
        # The redacted attributes, computed once the step has ended.
        self.outgoing: Optional[dict[str, Any]] = None

    @property
    def is_ended(self) -> bool:
        return self.end_ns is not None
