"""Tests as users write them. Run by `test_pytest_cassettes.py`."""

from __future__ import annotations

import contextlib
import http.client
import os
import subprocess
import sys
from typing import Any

import pytest

from playhead.testing import null_arguments, run_agent, writes

TEXT = "I was charged twice. Ada, ada@example.com"


@pytest.mark.cassette
def test_a_double_charge_is_paid_back(playhead_session: Any) -> None:
    run_agent("support", {"text": TEXT})
    assert writes(playhead_session) == ["issue_refund"]
    assert playhead_session.errors == []
    assert null_arguments(playhead_session) == []


@pytest.mark.cassette(name="shared")
@pytest.mark.parametrize("text", ["Hello", "Grüße 👋"])
def test_small_talk(text: str) -> None:
    assert run_agent("support", {"text": text}) == "Could you tell us a little more about it?"


@pytest.fixture
def reply() -> Any:
    return run_agent("support", {"text": "Hello?"})


@pytest.mark.cassette
def test_a_fixture_may_run_the_agent(reply: str) -> None:
    assert len(reply) > 10


class TestClass:
    @pytest.mark.cassette
    def test_catches_everything(self) -> None:
        with contextlib.suppress(Exception):
            run_agent("support", {"text": "Hello!"})


@pytest.mark.cassette(volatile=[r"today is \w+day"])
def test_the_day() -> None:
    run_agent("support", {"text": f"Hello, today is {os.environ.get('TODAY', 'Monday')}"})


@pytest.mark.cassette
def test_reaches_out() -> None:
    with contextlib.suppress(OSError):
        http.client.HTTPConnection("127.0.0.1", 9).request("GET", "/")


@pytest.mark.cassette
def test_starts_processes() -> None:
    subprocess.run(["true"], check=True)
    with contextlib.suppress(PermissionError):
        subprocess.run([sys.executable, "-c", ""], check=True)


def test_without_a_cassette() -> None:
    assert True
