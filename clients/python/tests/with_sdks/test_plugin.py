"""Suites as users write them, run by pytest in a process of their own: what they print, and what the server
then has."""

from __future__ import annotations

import os
import re
import urllib.request
import uuid
from pathlib import Path
from typing import Any

from ..support import ENDPOINT, HERE, fetch, fetch_session, wait_for
from ..warm_python import run_python

SUITES = HERE / "with_sdks"


class Run:
    def __init__(self, suite: str, *arguments: str, folder: Path, **environment: str) -> None:
        self.id = uuid.uuid4().hex[:12]
        # Suites of users are no package.
        path = os.pathsep.join([str(SUITES), os.environ.get("PYTHONPATH", "")])
        # On a build machine, pytest prints whole messages a second time.
        here = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
        settings = {
            **here,
            "PYTHONPATH": path,
            "PLAYHEAD_RUN_ID": self.id,
            "PLAYHEAD_API_KEY": "",
            **environment,
        }
        pytest = ["-m", "pytest", str(SUITES / suite), "-v", "--tb=short", "-p", "no:cacheprovider"]
        command = [*pytest, f"--rootdir={folder}", "-c", os.devnull, *arguments]
        done = run_python(command, env=settings, cwd=folder)
        self.output = done.stdout + done.stderr
        self.outcomes = dict(re.findall(r"::(\S+) (PASSED|FAILED|SKIPPED|ERROR)", done.stdout))
        # As pytest-xdist prints them.
        self.results = {
            name: result for result, name in re.findall(r"(PASSED|FAILED|ERROR) \S*::(\S+)", done.stdout)
        }
        self.urls = re.findall(r"s_[0-9a-f]{8}  (\S+)", self.output)


def test_the_suite_passes_and_each_test_is_a_session(tmp_path: Path) -> None:
    run = Run("support_suite.py", folder=tmp_path)
    assert set(run.outcomes.values()) == {"PASSED"}, run.output
    assert len(run.outcomes) == 4
    sessions = fetch("/api/sessions?limit=4")["sessions"]
    assert [session["endState"] for session in sessions] == ["success"] * 4
    assert sorted(tag for one in sessions for tag in one["tags"] if tag.startswith("test_")) == sorted(
        run.outcomes
    )
    assert all(session["cost"] > 0 for session in sessions)


def test_a_planted_fault_fails_the_suite_and_its_sessions_can_be_opened(tmp_path: Path) -> None:
    run = Run("support_suite.py", folder=tmp_path, SUPPORT_FAULT="no-customer")
    assert run.outcomes == {
        "test_billing_questions_are_answered_from_customer_data": "FAILED",
        "test_an_unclear_message_is_answered": "PASSED",
        "test_any_phrasing_of_a_billing_question_leads_to_customer_data": "FAILED",
        "test_a_billing_question_stays_cheap": "FAILED",
    }
    assert "ValueError: customer_id cannot be None" in run.output
    assert "failed on 4/4 phrasings" in run.output
    assert len(run.urls) == 3
    for url in run.urls:
        assert urllib.request.urlopen(url, timeout=10).status == 200
        session = fetch_session(url.rsplit("/", 1)[1])
        assert session["session"]["endState"] == "fail"
        failed = [step for step in session["steps"] if step["status"] == "error"]
        (owner, *_others) = [step for step in failed if not step["error"].get("isPropagated")]
        assert (owner["name"], owner["tool"]["arguments"]) == ("fetch_customer_data", {"customer_id": None})


def test_a_phrasing_that_goes_wrong_and_a_cost_that_grew_are_named_with_their_place_in_the_replay(
    tmp_path: Path,
) -> None:
    run = Run("support_suite.py", folder=tmp_path, SUPPORT_FAULT="phrasing expensive")
    failed = [name for name, outcome in run.outcomes.items() if outcome == "FAILED"]
    assert failed == [
        "test_any_phrasing_of_a_billing_question_leads_to_customer_data",
        "test_a_billing_question_stays_cheap",
    ]
    assert re.search(r"cost \$0\.0[1-9]\d+, see http", run.output)
    (url,) = set(re.findall(r"A double charge on my account: wrong tools, see (http[^\s'\\]+)", run.output))
    session_id, step_id = re.fullmatch(rf"{ENDPOINT}/sessions/(\w+)\?step=(\w+)", url).groups()
    steps = fetch_session(session_id)["steps"]
    inside = {step_id}
    for step in steps:
        if step["parentId"] in inside:
            inside.add(step["id"])
    names = [step["name"] for step in steps if step["id"] in inside and step["kind"] == "action"]
    assert names == ["classify_intent", "generate_general_response", "session_complete"]


def sessions_of(run: Run) -> dict[str, Any]:
    sessions = fetch("/api/sessions?limit=50")["sessions"]
    return {one["name"]: one for one in sessions if one.get("test", {}).get("runId") == run.id}


def test_the_fixture_gives_a_session_that_ends_as_the_test_does(tmp_path: Path) -> None:
    run = Run("fixture_suite.py", "--playhead", folder=tmp_path)
    assert run.outcomes == {
        "TestShop::test_variants[polite]": "PASSED",
        "TestShop::test_variants[rude]": "FAILED",
        "test_skips": "SKIPPED",
        "test_leaves_open": "PASSED",
        "test_without_the_fixture": "PASSED",
        "test_fails_in_teardown": "ERROR",
    }
    sessions = sessions_of(run)
    assert {name: one["endState"] for name, one in sessions.items()} == {
        "test_variants[polite]": "success",
        "test_variants[rude]": "fail",
        "test_skips": "indeterminate",
        "test_leaves_open": "success",
        # By the option alone.
        "test_without_the_fixture": "success",
        "test_fails_in_teardown": "fail",
    }
    torn = sessions["test_fails_in_teardown"]
    assert (torn["endStateReason"], torn["actionCount"]) == ("RuntimeError: could not clean up", 2)
    rude = sessions["test_variants[rude]"]
    assert rude["tags"] == ["test", "test_variants[rude]"]
    expected = {"suite": "TestShop", "name": "test_variants", "variant": "rude", "runId": run.id}
    assert {**rude["test"], **expected} == rude["test"]
    assert rude["test"]["file"].endswith("fixture_suite.py")
    assert "AssertionError" in rude["endStateReason"]


def test_without_a_server_a_failing_test_leaves_a_recording(tmp_path: Path) -> None:
    run = Run("fixture_suite.py", folder=tmp_path, PLAYHEAD_ENDPOINT="http://127.0.0.1:9")
    assert run.outcomes["TestShop::test_variants[rude]"] == "FAILED"
    path, *_others = run.urls
    assert Path(path).parent.parent == tmp_path / ".playhead"
    assert '"endState":"fail"' in Path(path).read_text()


def test_names_of_actions_can_neither_command_the_build_nor_move_the_cursor(tmp_path: Path) -> None:
    suite = tmp_path / "hostile_suite.py"
    suite.write_text(
        """
import playhead

def test_a(playhead_session):
    for name in ("::error file=x::gone", "a\\n::error::b", "##[error]c", "\\x1b[2Jd"):
        playhead.record_action(name)(lambda: 1)()
    raise ValueError
"""
    )
    run = Run(str(suite), folder=tmp_path)
    section = run.output.split("Playhead sessions", 1)[1].split("short test summary", 1)[0]
    assert "a ::error::b → #\\#[error]c → \\x1b[2Jd" in section
    assert re.search(r"^\s*::|##\[|\x1b\[2J", section, re.MULTILINE) is None


def test_a_failed_test_names_its_first_divergence_from_the_last_run_that_passed(tmp_path: Path) -> None:
    suite = tmp_path / "divergence_suite.py"
    suite.write_text(
        """
import os

import playhead
from playhead.testing import expect

@playhead.record_action("find_account")
def find_account():
    return None if os.environ.get("FAULT") else "c_42"

@playhead.record_action("fetch_customer_data")
def fetch_customer(customer_id):
    return {"id": customer_id}

def test_looks_up_the_customer(playhead_session):
    fetch_customer(find_account())
    expect(playhead_session).to_have_called("fetch_customer_data", args=["c_42"])
"""
    )
    passing = Run(str(suite), folder=tmp_path)
    assert set(passing.outcomes.values()) == {"PASSED"}
    (session,) = wait_for(lambda: sessions_of(passing).values())
    assert session["endState"] == "success"
    run = Run(str(suite), folder=tmp_path, FAULT="1")
    expected = (
        'first divergence from the last passing run: step 2 find_account, returned null instead of "c_42"'
    )
    assert expected in run.output, run.output
    (url,) = run.urls
    step_id = url.rsplit("?step=", 1)[1]
    assert f'customer_id: expected "c_42", got null\n\nReplay: {url}' in re.sub(r"\nE   ?", "\n", run.output)
    steps = fetch_session(url.split("/sessions/")[1].split("?")[0])["steps"]
    assert [step["name"] for step in steps if step["id"] == step_id] == ["fetch_customer_data"]
