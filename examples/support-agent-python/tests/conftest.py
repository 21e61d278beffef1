from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripted_model import use_scripted_model


@pytest.fixture(scope="session", autouse=True)
def model() -> Iterator[None]:
    """Without an API key, a scripted local model answers."""
    if os.environ.get("OPENAI_API_KEY", "none") not in ("none", "no-key"):
        yield
        return
    server = use_scripted_model()
    yield
    server.shutdown()
