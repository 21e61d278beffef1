"""`@pytest.mark.cassette` in a project, run by pytest in a process of its own, with and without a model."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ..support import HERE
from ..warm_python import run_python

PROJECT = HERE / "with_sdks/refund_project"
SUITE = "checks/refund_suite.py"
FIXED = {"SUPPORT_FIXED": "1"}
# Nobody listens there.
OFFLINE = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
DOUBLE_CHARGE = "test_a_double_charge_is_paid_back"
CASSETTES = "checks/__cassettes__"


class Run:
    def __init__(
        self,
        project: Path,
        *arguments: str,
        suite: str = SUITE,
        is_alone: bool = False,
        **environment: str,
    ) -> None:
        settings = {**os.environ, "PLAYHEAD_ENDPOINT": "off", "CI": "", "PLAYHEAD_CASSETTE": ""}
        # As in CI, where nobody has a key.
        if is_alone:
            settings.pop("OPENAI_API_KEY", None)
        command = ["-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", f"--rootdir={project}"]
        command += ["-c", os.devnull, suite, *arguments]
        done = run_python(command, is_alone=is_alone, env={**settings, **environment}, cwd=project)
        self.output = done.stdout + done.stderr
        self.code = done.returncode
        found = re.findall(r"::(\w+)(?:\[.*\])? (PASSED|FAILED|SKIPPED|ERROR)", done.stdout)
        self.outcomes = dict(found)
        self.failed = [name for name, outcome in found if outcome != "PASSED"]
        self.said = re.findall(r"^\S+\.jsonl (?:added|not written|recorded).*$", self.output, re.MULTILINE)


def copy_of(project: Path, folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".playhead")
    return Path(shutil.copytree(project, folder / "project", ignore=ignored))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy_of(PROJECT, tmp_path)


class Recorded(NamedTuple):
    folder: Path
    without_fix: Run
    with_fix: Run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: Any) -> Recorded:
    """A project whose cassettes were filled by the agent without the fix, then by the one with it."""
    folder = copy_of(PROJECT, tmp_path_factory.mktemp("recorded"))
    return Recorded(folder, Run(folder), Run(folder, **FIXED))


@pytest.fixture
def copy(recorded: Recorded, tmp_path: Path) -> Path:
    return copy_of(recorded.folder, tmp_path)


def files(project: Path) -> dict[str, str]:
    found = project.rglob("*.jsonl")
    kept = [path for path in found if ".playhead" not in path.parts]
    return {str(path.relative_to(project)): path.read_text("utf-8") for path in kept}


def test_cassettes_are_filled_where_they_belong_and_it_is_said(recorded: Recorded) -> None:
    written, place = files(recorded.folder), f"{CASSETTES}/refund_suite/{DOUBLE_CHARGE}.jsonl"
    assert (recorded.without_fix.failed, recorded.with_fix.failed) == ([DOUBLE_CHARGE], [])
    assert recorded.without_fix.said == [
        f"{place} added: 1 model call and 3 actions, for $0.0001.",
        f"{CASSETTES}/shared.jsonl added: 2 model calls and 1 action, for $0.0005.",
        f"{CASSETTES}/shared.jsonl added: 2 model calls and 1 action, for $0.0005.",
        f"{CASSETTES}/refund_suite/test_a_fixture_may_run_the_agent.jsonl added: 2 model calls and 1 action,"
        " for $0.0005.",
        f"{CASSETTES}/refund_suite/TestClass.test_catches_everything.jsonl added: 2 model calls and "
        "1 action, for $0.0005.",
        f"{CASSETTES}/refund_suite/test_the_day.jsonl added: 2 model calls and 1 action, for $0.0005.",
    ]
    # The fixed agent needs a little more.
    assert recorded.with_fix.said == [f"{place} added: 1 model call and 3 actions, for $0.0015."]
    assert sorted(written) == [
        f"{CASSETTES}/refund_suite/TestClass.test_catches_everything.jsonl",
        f"{CASSETTES}/refund_suite/test_a_double_charge_is_paid_back.jsonl",
        f"{CASSETTES}/refund_suite/test_a_fixture_may_run_the_agent.jsonl",
        f"{CASSETTES}/refund_suite/test_reaches_out.jsonl",
        f"{CASSETTES}/refund_suite/test_starts_processes.jsonl",
        f"{CASSETTES}/refund_suite/test_the_day.jsonl",
        f"{CASSETTES}/shared.jsonl",
    ]
    meta = json.loads(written[place].split("\n", 1)[0])
    assert {name: meta[name] for name in ("v", "kind", "name", "agent", "input")} == {
        "v": 1,
        "kind": "meta",
        "name": DOUBLE_CHARGE,
        "agent": "support",
        "input": {"text": "I was charged twice. Ada, ada@example.com"},
    }


def test_red_with_the_bug_and_green_with_the_fix_without_a_network(copy: Path) -> None:
    before = files(copy)
    # The day is volatile in its test.
    strict = {"PLAYHEAD_CASSETTE": "strict", "TODAY": "Sunday", **OFFLINE}
    red, green = Run(copy, is_alone=True, **strict), Run(copy, is_alone=True, **strict, **FIXED)
    always = ["test_reaches_out", "test_starts_processes"]
    assert (red.failed, green.failed) == ([DOUBLE_CHARGE, *always], always)
    assert "ValueError: customer_id cannot be None" in red.output
    assert "http.client opened a connection to 127.0.0.1:9, which is not on the cassette." in red.output
    assert f"The test started a process: {sys.executable}" in red.output
    assert files(copy) == before


def test_ci_is_strict_and_a_miss_fails_the_test_even_if_it_is_caught(copy: Path) -> None:
    (copy / f"{CASSETTES}/refund_suite/test_the_day.jsonl").unlink()
    run = Run(copy, CI="true", SUPPORT_PROMPT="Answer in one word: billing or general.", **FIXED)
    assert run.outcomes == {
        DOUBLE_CHARGE: "FAILED",
        "test_small_talk": "FAILED",
        "test_a_fixture_may_run_the_agent": "ERROR",
        "test_catches_everything": "FAILED",
        "test_the_day": "FAILED",
        "test_reaches_out": "FAILED",
        "test_starts_processes": "FAILED",
        "test_without_a_cassette": "PASSED",
    }
    place = f"{CASSETTES}/refund_suite/TestClass.test_catches_everything.jsonl"
    assert (
        f"The cassette {place} has no answer. The model was asked something else than recorded (step 2 "
        'gpt-4o): system prompt is "Answer in one word: billing or general.", recorded was "Answer with one '
        'word: billing or general.".\n\n'
        "- recorded: Answer with one word: billing or general.\n"
        "+ asked:    Answer in one word: billing or general.\n\n"
        "If the change is meant, record what is missing with PLAYHEAD_CASSETTE=fill, or all of it with "
        "PLAYHEAD_CASSETTE=record."
    ) in run.output
    assert (
        f"There is no cassette {CASSETTES}/refund_suite/test_the_day.jsonl. Record it with "
        "PLAYHEAD_CASSETTE=fill and commit the file."
    ) in run.output


def test_a_miss_says_nothing_that_a_terminal_or_a_build_obeys(copy: Path) -> None:
    prompt = "Answer\n::error::owned\n##[error]owned \x1b[2J"
    settings = {"PLAYHEAD_CASSETTE": "strict", "SUPPORT_PROMPT": prompt, **FIXED}
    run = Run(copy, "-k", "catches or small_talk", **settings)
    assert run.outcomes == {"test_small_talk": "FAILED", "test_catches_everything": "FAILED"}
    assert "owned" in run.output and "Captured after the miss call" in run.output
    assert re.findall(r"^\s*::error.*|##\[.*|\x1b\[2J.*", run.output, re.MULTILINE) == []


def test_record_writes_anew_and_live_writes_nothing(copy: Path) -> None:
    before = files(copy)
    assert Run(copy, PLAYHEAD_CASSETTE="live", **FIXED).failed == []
    assert files(copy) == before
    changed = {"SUPPORT_PROMPT": "Answer in one word: billing or general.", **FIXED}
    run = Run(copy, PLAYHEAD_CASSETTE="record", **changed)
    place = f"{CASSETTES}/refund_suite/{DOUBLE_CHARGE}.jsonl"
    assert run.said[0] == f"{place} recorded anew: 2 model calls and 5 actions, for $0.0016."
    after = files(copy)
    assert (run.failed, sorted(after)) == ([], sorted(before))
    assert not any("Answer with one word" in text for text in after.values())
    # Two tests share it.
    assert after[f"{CASSETTES}/shared.jsonl"].count('"kind":"model"') == 4


def test_what_a_failed_test_got_from_no_model_is_not_kept(project: Path) -> None:
    settings = project / "pyproject.toml"
    settings.write_text(settings.read_text().replace("allow_spawn", 'cassettes = "tapes"\nallow_spawn'))
    run = Run(project, "-k", "double or reaches", **OFFLINE)
    assert run.said == [
        f"tapes/refund_suite/{DOUBLE_CHARGE}.jsonl not written, because the test failed and a model call "
        "ended with ECONNREFUSED."
    ]
    assert list(files(project)) == ["tapes/refund_suite/test_reaches_out.jsonl"]


def test_a_mode_that_is_none_is_said(project: Path) -> None:
    run = Run(project, PLAYHEAD_CASSETTE="replay")
    assert "PLAYHEAD_CASSETTE is 'replay'; it is one of strict, fill, record, live." in run.output
    assert run.code == 4
