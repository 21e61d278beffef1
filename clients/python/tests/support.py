"""What tests share: a fresh start of recording, the server that they record to, programs in processes of
their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path
from typing import Any, ClassVar

import playhead
from playhead.runtime import obtain_runtime
from playhead.scope import current_scope

HERE = Path(__file__).parent
ENDPOINT = os.environ.get("PLAYHEAD_ENDPOINT", "")
MODEL = os.environ.get("PLAYHEAD_TEST_MODEL", "")
ROOT = HERE.parent.parent.parent


class RecordingTest(unittest.TestCase):
    """Each test begins outside of any session, with the settings that it names."""

    settings: ClassVar[dict[str, Any]] = {"endpoint": False}

    def setUp(self) -> None:
        current_scope.set(None)
        obtain_runtime().options.clear()
        playhead.init(**self.settings)
        self.faults = playhead.stats()["faults"]

    def tearDown(self) -> None:
        # What waits to be sent would reach the server of the next test.
        obtain_runtime().delivery.forget()
        # Also when the test is fine: nothing of ours may go wrong unseen.
        self.assertEqual(playhead.stats()["faults"], self.faults, obtain_runtime().last_fault)
        current_scope.set(None)

    def folder(self) -> Path:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(folder.name)


def fetch(path: str, endpoint: str = ENDPOINT) -> Any:
    with urllib.request.urlopen(f"{endpoint}{path}", timeout=10) as response:
        return json.load(response)


def fetch_session(session_id: str) -> dict[str, Any]:
    session: dict[str, Any] = fetch(f"/api/sessions/{session_id}?payloads=all")
    return session


def wait_for(condition: Any, within_s: float = 10.0) -> Any:
    """What the condition gives once it gives anything; the last error when it never does."""
    until = time.monotonic() + within_s
    while True:
        try:
            found = condition()
            if found or time.monotonic() > until:
                return found
        except Exception:
            if time.monotonic() > until:
                raise
        time.sleep(0.02)


def run_program(code: str, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def outline(steps: list[Any]) -> list[str]:
    """One line a step: how deep it lies, its kind, its name."""
    depths: dict[Any, int] = {}
    lines = []
    for step in steps:
        depths[step.id] = depths.get(step.parent_id, -1) + 1
        lines.append("  " * depths[step.id] + f"{step.kind} {step.name}")
    return lines
