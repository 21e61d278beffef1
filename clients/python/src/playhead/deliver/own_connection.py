"""Marks the connections that deliver recorded steps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_here = threading.local()


@contextmanager
def own_connection() -> Iterator[None]:
    """Steps are delivered also while a test must not reach the network."""
    _here.is_own = True
    try:
        yield
    finally:
        _here.is_own = False


def is_own_connection() -> bool:
    return getattr(_here, "is_own", False)
