"""`@pytest.mark.agent` and the report, as users run them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from ..support import ROOT
from .test_plugin import Run

EXAMPLE = ROOT / "examples/support-agent-python"
IS_PAGE_BUILT = (ROOT / "packages/dashboard/dist/one-file.html").exists()


def results_in(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("*/*.results.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def test_runs_are_judged_together_in_every_process(tmp_path: Path) -> None:
    run = Run("agent_suite.py", "-n", "2", "-p", "no:randomly", folder=tmp_path, PLAYHEAD_ENDPOINT="")
    passed = {name for name, outcome in run.results.items() if outcome == "PASSED"}
    assert passed == {
        "test_every_run_has_a_session_of_its_own",
        "test_stops_once_it_is_certain",
        "test_may_fail_sometimes",
        "test_async_without_a_plugin",
        "test_async_with_pytest_asyncio",
        "test_passes_when_it_is_retried",
    }, run.output
    (folder,) = (tmp_path / ".playhead").glob(f"{run.id}")
    assert folder.is_dir()
    results = results_in(tmp_path / ".playhead")
    judged = {one["test"]["name"]: one for one in results if one["kind"] == "agent-test"}
    counts = {name: (one["verdict"], one["passed"], one["total"]) for name, one in judged.items()}
    assert counts == {
        "test_every_run_has_a_session_of_its_own": ("pass", 6, 6),
        "test_fails_on_an_input": ("fail", 21, 22),
        "test_stops_once_it_is_certain": ("pass", 14, 14),
        "test_may_fail_sometimes": ("pass", 9, 10),
        "test_stops_when_the_budget_is_spent": ("inconclusive", 2, 2),
        "test_async_without_a_plugin": ("pass", 8, 8),
        "test_async_with_pytest_asyncio": ("pass", 2, 2),
        "test_times_out": ("fail", 0, 1),
        "test_times_out_in_threads": ("fail", 0, 2),
        "test_times_out_in_a_loop": ("fail", 0, 1),
    }
    attempts = [one for one in results if one["kind"] == "attempt"]
    retried = [one for one in attempts if one["test"]["name"] == "test_passes_when_it_is_retried"]
    assert [(one["attempt"], one["isPassed"]) for one in retried] == [(1, False), (2, True)]
    # Each session is there, once, and belongs to the run.
    sessions = [json.loads(file.read_text("utf-8"))["session"] for file in folder.glob("*-s_*.jsonl")]
    assert len(sessions) == len(attempts) == len({one["sessionId"] for one in attempts})
    assert {session["test"]["runId"] for session in sessions} == {run.id}
    timed_out = [session for session in sessions if session["test"]["name"].startswith("test_times_out")]
    assert [session["actionCount"] for session in timed_out] == [1] * 4
    ends = {(session["endState"], session["endStateReason"]) for session in timed_out}
    assert ends == {("fail", "TimeoutError: The run timed out after 200 ms.")}
    for sentence in (
        'Agent failed on 1/22 variants:\n  - "bad": Expected the session to call look_up, but it did not.',
        "first divergence from a passing run: step 3 look_up is missing",
        "npx playhead show .playhead/",
        "The budget ran out after 2 of 4 runs, so the result is inconclusive.",
        "@pytest.mark.agent: An agent test needs at least one input.",
        "@pytest.mark.agent: The option pass_rate.min must be a number from 0 to 1, but it is 3.",
        "The fixture agent_input needs @pytest.mark.agent(inputs=[…]) on the test.",
    ):
        assert sentence in run.output, run.output


def test_tests_are_not_taken_for_the_folder_of_the_report(tmp_path: Path) -> None:
    suite = tmp_path / "suite.py"
    suite.write_text("def test_a(): pass")
    apart, joined = "--playhead-report", f"--playhead-report={tmp_path}"
    run = Run(str(suite), apart, str(suite), folder=tmp_path, PLAYHEAD_ENDPOINT="")
    assert f"To run those tests, name them first: pytest {suite} --playhead-report." in run.output
    assert (run.outcomes, suite.read_text()) == ({}, "def test_a(): pass")
    for folder in (joined, apart):
        run = Run(str(suite), folder, folder=tmp_path, PLAYHEAD_ENDPOINT="")
        assert run.outcomes == {"test_a": "PASSED"}, run.output


def test_a_fault_of_the_example_is_found_and_the_report_opens_at_it(tmp_path: Path) -> None:
    run = Run(
        str(EXAMPLE / "tests"),
        "--playhead-report",
        folder=tmp_path,
        PLAYHEAD_ENDPOINT="",
        SUPPORT_AGENT_FAULT="intent",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
    )
    failed = [name for name, outcome in run.outcomes.items() if outcome == "FAILED"]
    assert (failed, len(run.outcomes)) == (["test_billing_in_any_words"], 7), run.output
    assert "Agent failed on 2/6 variants:" in run.output
    divergence = 'step 5 gpt-4o, the model replied "general" instead of "billing"'
    assert run.output.count(f"first divergence from a passing run: {divergence}") == 2
    links = re.findall(r"playhead-report/index\.html#session=(\w{32})&step=(\w{16})", run.output)
    if not IS_PAGE_BUILT:
        pytest.skip("the page of the report is not built: npm run build")
    assert re.search(r"^::error file=\S*tests/test_support_agent\.py,line=\d+,", run.output, re.MULTILINE)
    assert (tmp_path / "summary.md").read_text("utf-8") != ""
    assert "7 tests: 1 failed, 6 passed; 12 sessions" in run.output, run.output
    report = tmp_path / "playhead-report"
    assert (report / "index.html").stat().st_size > 100_000
    suites = ElementTree.parse(report / "junit.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("7", "1")
    recorded = {
        session["session"]["id"]: {step["id"] for step in session["steps"]}
        for session in (
            json.loads(file.read_text("utf-8")) for file in tmp_path.glob(".playhead/*/*-s_*.jsonl")
        )
    }
    assert len(recorded) == 12
    assert all(step_id in recorded[session_id] for session_id, step_id in links)
