"""One step in its wire format."""

from __future__ import annotations

import random
from typing import Any, Optional

from .clock import now_ns

KIND_INTERNAL = 1
KIND_CLIENT = 3
STATUS_UNSET = 0
STATUS_ERROR = 2

# Ids must differ between forked processes, and the host may seed `random`.
_ids = random.SystemRandom()


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
        self.name = name
        self.trace_id = trace_id
        self.id = new_span_id()
        self.parent_id = parent_id
        self.is_parent_remote = is_parent_remote
        self.kind = kind
        self.attributes = attributes
        self.start_ns = now_ns() if start_ns is None else start_ns
        self.end_ns: Optional[int] = None
        self.status_code = STATUS_UNSET
        self.status_message = ""
        self.is_announced = False
        # The redacted attributes, computed once the step has ended.
        self.outgoing: Optional[dict[str, Any]] = None

    @property
    def is_ended(self) -> bool:
        return self.end_ns is not None
