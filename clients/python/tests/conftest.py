"""Each test is told its settings anew; `init` keeps what it was told before."""

from __future__ import annotations

import pytest

from playhead.runtime import obtain_runtime


@pytest.fixture(autouse=True)
def _forget_settings() -> None:
    obtain_runtime().options.clear()
