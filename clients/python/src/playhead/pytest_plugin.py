"""Gives each test a session, ends it by the test's outcome, and prints a failing test's replay link."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Optional

import pytest

from . import pytest_agent, pytest_cassette, pytest_report
from .format.lines import safe_for_log, visible_text
from .pytest_sessions import (
    announce_run,
    close_test_session,
    identity_of,
    join_run,
    open_test_session,
    reason_of,
    run_of,
    save_attempt,
    tell_worker,
    write_recording,
)
from .runtime import Runtime, obtain_runtime
from .scope import SessionFrame, current_scope, settle
from .session_record import SessionRecord
from .session_view import SessionView
from .start import flush
from .testing.divergence import describe_divergence_from_last_pass
from .testing.expect import failing_step_of

# How long a failed test waits for delivery, so that the printed link works.
ARRIVAL_S = 2.0
LAST_FLUSH_S = 5.0
MAX_ACTIONS = 12

_ENVIRONMENT = pytest.StashKey[dict[str, Optional[str]]]()
_SESSIONS = pytest.StashKey[list[SessionRecord]]()
_ERROR = pytest.StashKey[BaseException]()
_FRAME = pytest.StashKey[SessionFrame]()
_IS_RECORDED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "record every test as a Playhead session, without asking for the fixture playhead_session"
    parser.addini("playhead", help_text, type="bool", default=False)
    parser.getgroup("playhead").addoption("--playhead", action="store_true", default=False, help=help_text)
    pytest_report.add_report_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    names = ("PLAYHEAD_REPORT", "PLAYHEAD_DIR")
    config.stash[_ENVIRONMENT] = {name: os.environ.get(name) for name in names}
    announce_run(config)
    config.pluginmanager.register(pytest_cassette, "playhead-cassette")
    config.pluginmanager.register(pytest_agent, "playhead-agent")
    config.pluginmanager.register(pytest_report, "playhead-report")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Of pytest-xdist."""
    tell_worker(node.config, node.workerinput)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Another run in this process has variables of its own."""
    for name, value in config.stash.get(_ENVIRONMENT, {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture
def playhead_session(request: pytest.FixtureRequest) -> Iterator[SessionView]:
    """This test's session: tagged with its name, ended as Success or Fail with the test."""
    runtime = join_run(request.config)
    # Each run of an agent test has a session of its own.
    is_agent_test = request.node.get_closest_marker("agent") is not None
    frame = None if runtime is None or is_agent_test else open_test_session(runtime, request.node)
    if runtime is None or frame is None:
        yield SessionView.empty()
        return
    # Its end is known after the teardown of every other fixture.
    request.node.stash[_FRAME] = frame
    yield SessionView(runtime, frame.record)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not (config.getoption("--playhead") or config.getini("playhead")):
        return
    for item in items:
        if isinstance(item, pytest.Function) and "playhead_session" not in item.fixturenames:
            item.fixturenames.insert(0, "playhead_session")


def _close(runtime: Runtime, frame: SessionFrame, item: pytest.Item) -> None:
    reports = [getattr(item, f"rep_{when}", None) for when in ("setup", "call", "teardown")]
    error = None
    if any(report is not None and report.failed for report in reports):
        error = item.stash.get(_ERROR, None)
        state, reason = "Fail", None if error is None else reason_of(error)
    elif any(report is not None and report.skipped for report in reports):
        state, reason = "Indeterminate", "The test was skipped"
    elif reports[-1] is None:
        state, reason = "Indeterminate", "The test was interrupted"
    else:
        state, reason = "Success", None
    close_test_session(runtime, frame, state, reason, error)
    if state == "Indeterminate":
        return
    callspec = getattr(item, "callspec", None)
    attempt = getattr(item, "execution_count", None) or 1
    save_attempt(
        runtime,
        item,
        frame.record,
        variant=None if callspec is None else callspec.id,
        attempt=attempt,
        error=error,
        is_failed=state == "Fail",
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, None]:
    records: list[SessionRecord] = []
    item.stash[_SESSIONS] = records
    runtime = obtain_runtime()
    runtime.session_listeners.append(records.append)
    yield
    # Without a teardown, as after Ctrl-C.
    _end(runtime, item)
    runtime.session_listeners.remove(records.append)
    # The next test must not start inside an ended session.
    if settle(current_scope.get()) is None:
        current_scope.set(None)
    with runtime.guard():
        if item.stash.get(_IS_RECORDED, False):
            _write_recordings(runtime, item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    if report.when == "setup":
        # Of an earlier attempt.
        for name in ("rep_call", "rep_teardown"):
            item.__dict__.pop(name, None)
        if _ERROR in item.stash:
            del item.stash[_ERROR]
    # For fixtures that check the test's outcome: `request.node.rep_call.failed`.
    setattr(item, f"rep_{report.when}", report)
    runtime = obtain_runtime()
    if report.failed and call.excinfo is not None:
        item.stash.setdefault(_ERROR, call.excinfo.value)
    if report.when == "teardown":
        _end(runtime, item)
    if not report.failed:
        return
    with runtime.guard():
        lines = _describe_sessions(runtime, item)
        if lines:
            report.sections.append(("Playhead sessions", safe_for_log("\n".join(lines))))


def _end(runtime: Runtime, item: pytest.Item) -> None:
    frame = item.stash.get(_FRAME, None)
    if frame is not None and not frame.is_ended:
        with runtime.guard():
            _close(runtime, frame, item)


def _describe_sessions(runtime: Runtime, item: pytest.Item) -> list[str]:
    records = item.stash.get(_SESSIONS, [])
    # The message of an agent test links its sessions.
    if not records or item.get_closest_marker("agent") is not None:
        return []
    runtime.running_steps.announce(0)
    is_delivered = runtime.delivery.flush(ARRIVAL_S)
    endpoint = runtime.settings.endpoint
    if endpoint is not None and is_delivered:
        links = [runtime.url_of(record, failing_step_of(record.id)) for record in records]
        lines = [_line(runtime, record, link) for record, link in zip(records, links)]
        return [*lines, *_describe_divergence(runtime, item, endpoint)]
    # Without a server the link would be dead, so write a file.
    item.stash[_IS_RECORDED] = True
    paths = _write_recordings(runtime, item)
    lines = [_line(runtime, record, str(path)) for record, path in zip(records, paths)]
    return [*lines, "Open a recording with: npx playhead show <file>"]


def _describe_divergence(runtime: Runtime, item: pytest.Item, endpoint: str) -> list[str]:
    frame = item.stash.get(_FRAME, None)
    if frame is None:
        return []
    callspec = getattr(item, "callspec", None)
    test = {**identity_of(item), "variant": None if callspec is None else callspec.id}
    found = describe_divergence_from_last_pass(endpoint, test, runtime.read(frame.record))
    return [] if found is None else [found]


def _line(runtime: Runtime, record: SessionRecord, place: str) -> str:
    view = SessionView(runtime, record)
    names = [visible_text(event.action_type) for event in view.action_events]
    shown = names if len(names) <= MAX_ACTIONS else [*names[:MAX_ACTIONS], f"{len(names) - MAX_ACTIONS} more"]
    actions = " → ".join(shown)
    return f"s_{record.id[:8]}  {place}" + (f"\n            {actions}" if actions else "")


def _write_recordings(runtime: Runtime, item: pytest.Item) -> list[Path]:
    run = run_of(item.config)
    return [write_recording(runtime, record, run) for record in item.stash.get(_SESSIONS, [])]


def pytest_sessionfinish() -> None:
    flush(LAST_FLUSH_S)
