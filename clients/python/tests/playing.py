"""Runs code with a cassette, as the pytest plugin does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.runtime import obtain_runtime
from playhead.scope import current_scope
from playhead.tape.active import set_tape
from playhead.tape.cassette import save_cassette
from playhead.tape.miss import TapeMiss
from playhead.tape.run_tape import RunTape
from playhead.tape.wall import lower_wall, raise_wall


@pytest.fixture(autouse=True)
def fresh() -> Any:
    current_scope.set(None)
    playhead.init(endpoint=False)
    faults = playhead.stats()["faults"]
    yield
    assert playhead.stats()["faults"] == faults
    current_scope.set(None)


@contextmanager
def playing(path: Path, mode: str = "strict", allow_spawn: Any = ()) -> Iterator[RunTape]:
    tape = RunTape(path, mode, obtain_runtime())
    set_tape(tape)
    if mode == "strict":
        raise_wall(lambda sentence: tape.note_miss(TapeMiss("action", sentence)) and None, allow_spawn)
    try:
        yield tape
    finally:
        lower_wall()
        set_tape(None)
        if tape.recorded:
            meta = {"name": "test", "recordedAt": "", "playhead": "", "sessions": []}
            redactor = obtain_runtime().redactor
            save_cassette(path, meta, tape.recorded, redactor, is_anew=mode == "record")
