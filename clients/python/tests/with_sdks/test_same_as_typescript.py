"""A session that was recorded from Python replays as one that was recorded from TypeScript."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import pytest

from ..support import HERE, ROOT, fetch_session
from ..warm_python import run_python

PASSING = [
    "id",
    "parentId",
    "responseId",
    "startedAt",
    "endedAt",
    "offsetMs",
    "durationMs",
    "stack",
    "attributes",
    "url",
]
NODE = os.environ.get("PLAYHEAD_TEST_NODE", "")


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def run_node(script: str, *arguments: str) -> str:
    return run(NODE, "--conditions=playhead-source", script, *arguments)


def shown(session_id: str) -> str:
    text = run_node(str(ROOT / "packages/playhead/src/cli/main.ts"), "show", session_id)
    return re.sub(r"s_[0-9a-f]{8}|\d+:\d\d\.\d{3}|\d+(?:\.\d+)?(?:ms|s)\b", "…", text)


def shape(value: Any) -> Any:
    """Which fields there are, and what they say where that is not of the moment or of the language."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if not isinstance(value, dict):
        return value
    # An SDK tells which attempt it is, a bare request does not.
    return {
        name: "…" if name in PASSING else shape(item) for name, item in value.items() if name != "attempt"
    }


@pytest.mark.skipif(NODE == "", reason="run scripts/test-python.mjs")
def test_the_same_agent_in_both_languages_gives_the_same_session() -> None:
    folder = HERE / "with_sdks"
    ids = [
        output.strip().rsplit("/", 1)[1]
        for output in (
            run_node(str(folder / "same-agent.ts")),
            run_python([str(folder / "same_agent.py")], cwd=folder, env=os.environ).stdout,
        )
    ]
    typescript, python = (shape(fetch_session(session_id)) for session_id in ids)
    assert python["session"] == typescript["session"]
    assert python["steps"] == typescript["steps"]
    typescript_text, python_text = (shown(session_id) for session_id in ids)
    assert "Error: ValueError: customer_id is missing" in typescript_text
    assert python_text == typescript_text
