"""Gives each test a session, ends it by the test's outcome, and prints a failing test's replay link."""

from __future__ import annotations

import os
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Optional

import pytest

from .describe_error import message_of
from .runtime import Runtime, active_runtime, obtain_runtime
from .scope import SessionFrame, current_scope, scope_of, settle
from .session_record import SessionRecord
from .session_view import SessionView
from .sessions import close_session, open_session
from .start import flush, init

# How long a failed test waits for delivery, so that the printed link works.
ARRIVAL_S = 2.0
LAST_FLUSH_S = 5.0
MAX_REASON_LENGTH = 1000
MAX_ACTIONS = 12
_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH", "CIRCLE_BRANCH")
_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT")

_RUN_ID = pytest.StashKey[str]()
_SESSIONS = pytest.StashKey[list[SessionRecord]]()
_ERROR = pytest.StashKey[BaseException]()
_IS_RECORDED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "record every test as a Playhead session, without asking for the fixture playhead_session"
    parser.addini("playhead", help_text, type="bool", default=False)
    parser.getgroup("playhead").addoption("--playhead", action="store_true", default=False, help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    given = os.environ.get("PLAYHEAD_RUN_ID") or os.environ.get("GITHUB_RUN_ID")
    config.stash[_RUN_ID] = given or uuid.uuid4().hex[:12]


@pytest.fixture
def playhead_session(request: pytest.FixtureRequest) -> Iterator[SessionView]:
    """This test's session: tagged with its name, ended as Success or Fail with the test."""
    if active_runtime() is None:
        init()
    runtime = active_runtime()
    frame = None if runtime is None else _open(runtime, request)
    if runtime is None or frame is None:
        yield SessionView.empty()
        return
    yield SessionView(runtime, frame.record)
    with runtime.guard():
        _close(runtime, frame, request.node)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not (config.getoption("--playhead") or config.getini("playhead")):
        return
    for item in items:
        if isinstance(item, pytest.Function) and "playhead_session" not in item.fixturenames:
            item.fixturenames.insert(0, "playhead_session")


def _open(runtime: Runtime, request: pytest.FixtureRequest) -> Optional[SessionFrame]:
    with runtime.guard():
        node = request.node
        name = getattr(node, "originalname", None) or node.name
        callspec = getattr(node, "callspec", None)
        described = {
            "name": node.name,
            "tags": ["test", node.name],
            "test": {
                "file": os.path.relpath(str(node.path), str(request.config.rootpath)),
                "suite": None if getattr(node, "cls", None) is None else node.cls.__name__,
                "name": name,
                "attempt": getattr(node, "execution_count", None),
                "variant": None if callspec is None else callspec.id,
                "run_id": request.config.stash[_RUN_ID],
            },
            "attributes": describe_checkout(Path(request.config.rootpath)),
        }
        frame = open_session(runtime, described, "flow")
        current_scope.set(scope_of(frame))
        return frame
    return None


def _close(runtime: Runtime, frame: SessionFrame, item: pytest.Item) -> None:
    reports = [getattr(item, name, None) for name in ("rep_setup", "rep_call")]
    if any(report is not None and report.failed for report in reports):
        error = item.stash.get(_ERROR, None)
        reason = None if error is None else message_of(error)[:MAX_REASON_LENGTH]
        _close_inner(runtime, frame, "Fail", reason)
        close_session(runtime, frame, "Fail", reason, error)
        return
    is_skipped = any(report is not None and report.skipped for report in reports)
    state, reason = ("Indeterminate", "The test was skipped") if is_skipped else ("Success", None)
    _close_inner(runtime, frame, state, reason)
    close_session(runtime, frame, state, reason)


def _close_inner(runtime: Runtime, outer: SessionFrame, state: str, reason: Optional[str]) -> None:
    """The sessions that the test started and, because it failed, did not end."""
    inside = [frame for frame in list(runtime.open_frames.values()) if frame.record is outer.record]
    for frame in sorted(inside, key=lambda one: -one.order):
        if frame is not outer and frame.reach != "step":
            close_session(runtime, frame, state, reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, None]:
    records: list[SessionRecord] = []
    item.stash[_SESSIONS] = records
    runtime = obtain_runtime()
    runtime.session_listeners.append(records.append)
    yield
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
    # For fixtures that check the test's outcome: `request.node.rep_call.failed`.
    setattr(item, f"rep_{report.when}", report)
    if not report.failed:
        return
    if call.excinfo is not None and report.when != "teardown":
        item.stash[_ERROR] = call.excinfo.value
    runtime = obtain_runtime()
    with runtime.guard():
        lines = _describe_sessions(runtime, item)
        if lines:
            report.sections.append(("Playhead sessions", "\n".join(lines)))


def _describe_sessions(runtime: Runtime, item: pytest.Item) -> list[str]:
    records = item.stash.get(_SESSIONS, [])
    if not records:
        return []
    runtime.running_steps.announce(0)
    is_delivered = runtime.delivery.flush(ARRIVAL_S)
    if runtime.settings.endpoint is not None and is_delivered:
        return [_line(runtime, record, runtime.url_of(record)) for record in records]
    # Without a server the link would be dead, so write a file.
    item.stash[_IS_RECORDED] = True
    paths = _write_recordings(runtime, item)
    lines = [_line(runtime, record, str(path)) for record, path in zip(records, paths)]
    return [*lines, "Open a recording with: npx playhead show <file>"]


def _line(runtime: Runtime, record: SessionRecord, place: str) -> str:
    view = SessionView(runtime, record)
    names = [event.action_type for event in view.action_events]
    shown = names if len(names) <= MAX_ACTIONS else [*names[:MAX_ACTIONS], f"{len(names) - MAX_ACTIONS} more"]
    actions = " → ".join(shown)
    return f"s_{record.id[:8]}  {place}" + (f"\n            {actions}" if actions else "")


def _write_recordings(runtime: Runtime, item: pytest.Item) -> list[Path]:
    folder = runtime.recordings.folder or Path(item.config.rootpath) / ".playhead"
    return [runtime.recordings.write(record, folder) for record in item.stash.get(_SESSIONS, [])]


def pytest_sessionfinish() -> None:
    flush(LAST_FLUSH_S)


def describe_checkout(folder: Path) -> dict[str, str]:
    """The branch and commit, as far as we can tell without starting a process."""
    branch, commit = _first(_BRANCHES), _first(_COMMITS)
    if branch is None or commit is None:
        own_branch, own_commit = _read_git(folder)
        branch, commit = branch or own_branch, commit or own_commit
    described = {"vcs.ref.head.name": branch, "vcs.ref.head.revision": commit}
    return {key: value for key, value in described.items() if value}


def _first(names: tuple[str, ...]) -> Optional[str]:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _read_git(folder: Path) -> tuple[Optional[str], Optional[str]]:
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if not git.is_dir():
            continue
        try:
            head = (git / "HEAD").read_text().strip()
            if not head.startswith("ref: "):
                return None, head
            reference = head[5:]
            return reference.replace("refs/heads/", "", 1), _read_commit(git, reference)
        except OSError:
            return None, None
    return None, None


def _read_commit(git: Path, reference: str) -> Optional[str]:
    loose = git / reference
    if loose.is_file():
        return loose.read_text().strip()
    packed = git / "packed-refs"
    lines = packed.read_text().splitlines() if packed.is_file() else []
    return next((line.split(" ", 1)[0] for line in lines if line.endswith(f" {reference}")), None)
