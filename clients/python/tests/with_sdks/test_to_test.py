"""From a failed session to a test: what `playhead to-test --runner pytest` writes is red with the bug and
green with the fix, without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ..support import ROOT, fetch_session
from ..warm_python import run_python
from .test_cassettes_of_both import NODE
from .test_pytest_cassettes import FIXED, OFFLINE, PROJECT, Run, copy_of

CLI = ROOT / "packages/playhead/src/cli/main.ts"
TEXT = "I was charged twice. Ada, ada@example.com"
START = f"""
import contextlib
import playhead
from app.agent import run

playhead.init()
with contextlib.suppress(ValueError):
    run({TEXT!r})
print(playhead.get_session().id)
playhead.flush()
"""


def run(project: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def record(project: Path, **environment: str) -> Any:
    done = run_python(["-c", START], cwd=project, env={**os.environ, **environment})
    return fetch_session(done.stdout.strip())["session"]["id"]


@pytest.mark.skipif(NODE == "", reason="run scripts/test-python.mjs")
def test_a_failed_session_becomes_a_test(tmp_path: Path) -> None:
    project = copy_of(PROJECT, tmp_path)
    passed, failed = record(project, **FIXED), record(project)
    command = [
        NODE,
        "--conditions=playhead-source",
        str(CLI),
        "to-test",
        failed,
        "--runner",
        "pytest",
        "--json",
    ]
    # The environment that pytest and the agent's packages are in.
    written = json.loads(run(project, *command, VIRTUAL_ENV=sys.prefix, **OFFLINE))
    name = "test_i_was_charged_twice_ada_ada_example_com"
    assert {key: written[key] for key in ("test", "cassette", "joined", "isRun", "isPassed")} == {
        "test": f"tests/{name}.py",
        "cassette": f"tests/__cassettes__/{name}/{name}.jsonl",
        "joined": passed,
        "isRun": True,
        "isPassed": False,
    }
    assert "ValueError: customer_id cannot be None" in written["output"]
    assert (project / written["test"]).read_text() == (
        "import pytest\n"
        "from playhead.testing import null_arguments, run_agent, writes\n"
        "\n\n"
        f"# From session s_{failed[:8]}, which failed: ValueError: customer_id cannot be None\n"
        f"# What should happen is from s_{passed[:8]}, which passed.\n"
        "@pytest.mark.cassette\n"
        f"def {name}(playhead_session):\n"
        f'    run_agent("support", {{"text": "{TEXT}"}})\n'
        '    assert writes(playhead_session) == ["issue_refund"]\n'
        "    assert playhead_session.errors == []\n"
        "    assert null_arguments(playhead_session) == []\n"
    )
    strict = {"PLAYHEAD_CASSETTE": "strict", **OFFLINE, **FIXED}
    green = Run(project, suite=written["test"], is_alone=True, **strict)
    assert green.outcomes == {name: "PASSED"}, green.output
