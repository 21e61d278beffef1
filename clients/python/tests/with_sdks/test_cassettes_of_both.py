"""One agent in Python and in TypeScript: each plays what the other recorded, without a model."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ..support import HERE, fetch_session
from ..warm_python import run_python

FOLDER = HERE / "with_sdks"
NODE = os.environ.get("PLAYHEAD_TEST_NODE", "")
# Programs of Python.
PYTHON = object()
OFFLINE = {"OPENAI_BASE_URL": "http://model.invalid/v1", "PLAYHEAD_ENDPOINT": "off"}
PLAY = """
import json, runpy, sys
from pathlib import Path
import playhead
from tests.playing import playing

playhead.init()
with playing(Path(sys.argv[1]), sys.argv[2]) as tape:
    runpy.run_path(sys.argv[3])
print(json.dumps({"misses": [miss.sentence for miss in tape.misses], "unused": len(tape.unused)}))
"""

pytestmark = pytest.mark.skipif(NODE == "", reason="run scripts/test-python.mjs")


def run(*command: Any, **environment: str) -> str:
    """The last line that a program prints."""
    settings = {**os.environ, **environment}
    arguments = [str(part) for part in command]
    done = (
        run_python(arguments[1:], env=settings, cwd=HERE.parent)
        if command[0] is PYTHON
        else subprocess.run(
            arguments, env=settings, cwd=HERE.parent, capture_output=True, text=True, timeout=60, check=False
        )
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (done.stdout.strip().splitlines() or [""])[-1]


def run_node(script: str, *arguments: Any, **environment: str) -> str:
    return run(NODE, "--conditions=playhead-source", FOLDER / script, *arguments, **environment)


def play_in_python(path: Path, mode: str = "strict", **environment: str) -> Any:
    return json.loads(run(PYTHON, "-c", PLAY, path, mode, FOLDER / "same_agent.py", **environment))


@pytest.mark.parametrize("language", ["typescript", "python"])
def test_a_stored_session_that_typescript_wrote_as_a_cassette_is_played_by_python(
    language: str, tmp_path: Path
) -> None:
    url = run_node("same-agent.ts") if language == "typescript" else run(PYTHON, FOLDER / "same_agent.py")
    session, cassette = tmp_path / "session.json", tmp_path / "cassette.jsonl"
    session.write_text(json.dumps(fetch_session(url.rsplit("/", 1)[1])))
    run_node("session-to-cassette.ts", session, cassette)
    assert play_in_python(cassette, **OFFLINE) == {"misses": [], "unused": 0}


def test_a_cassette_of_python_is_played_by_typescript(tmp_path: Path) -> None:
    path = tmp_path / "cassette.jsonl"
    play_in_python(path, "record", PLAYHEAD_ENDPOINT="off")
    played = json.loads(run_node("play-same-agent.ts", path, **OFFLINE))
    assert played == {"misses": [], "unused": 0, "isSame": True}
