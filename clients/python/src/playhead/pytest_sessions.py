"""The session of a test: how it is opened, how it ends, and what the report is told about it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple, Optional

import pytest

from .describe_error import message_of
from .runtime import Runtime, active_runtime
from .scope import SessionFrame, current_scope, scope_of
from .session_record import SessionRecord
from .sessions import close_session, open_session
from .start import init
from .testing.expect import failing_step_of
from .testing.recorded_run import RecordedRun, create_run_folder, locate_run, locate_test, save_result

MAX_REASON_LENGTH = 1000
_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH", "CIRCLE_BRANCH")
_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT")
_RUN = pytest.StashKey[RecordedRun]()


def announce_run(config: pytest.Config) -> None:
    """Workers of pytest-xdist are told theirs by the process that starts them."""
    told = getattr(config, "workerinput", {}).get("playhead_run")
    run = (
        locate_run(os.environ, Path(config.rootpath)) if told is None else RecordedRun(told[0], Path(told[1]))
    )
    config.stash[_RUN] = run


def tell_worker(config: pytest.Config, worker_input: dict[str, Any]) -> None:
    run = run_of(config)
    worker_input["playhead_run"] = (run.id, str(run.folder.absolute()))


def join_run(config: pytest.Config) -> Optional[Runtime]:
    """Starts recording into the folder of the run, unless `playhead.shutdown()` was called meanwhile.

    By the environment, so that an agent that calls `init()` itself records there too, and so that nothing is
    sent to a server that nobody named.
    """
    run = run_of(config)
    if os.environ.get("PLAYHEAD_DIR") != str(run.folder):
        os.environ["PLAYHEAD_DIR"] = str(run.folder)
        try:
            create_run_folder(run)
        except OSError:
            # Without write access there is no report, but the tests still run.
            os.environ.pop("PLAYHEAD_DIR")
        init()
    elif active_runtime() is None:
        init()
    return active_runtime()


def run_of(config: pytest.Config) -> RecordedRun:
    return config.stash[_RUN]


def identity_of(item: pytest.Item) -> dict[str, Any]:
    """The test without its variant: file, suite and name."""
    suite = getattr(item, "cls", None)
    identity = {
        "file": os.path.relpath(str(item.path), str(item.config.rootpath)),
        "suite": None if suite is None else suite.__name__,
        "name": getattr(item, "originalname", None) or item.name,
    }
    return {name: value for name, value in identity.items() if value is not None}


def open_test_session(
    runtime: Runtime, item: pytest.Item, variant: Optional[str] = None, attempt: Optional[int] = None
) -> Optional[SessionFrame]:
    """Opens the session in this context."""
    with runtime.guard():
        callspec = getattr(item, "callspec", None)
        own_variant = None if callspec is None else callspec.id
        described = {
            "name": item.name,
            "tags": ["test", item.name],
            "test": {
                "suite": None,
                **identity_of(item),
                "attempt": attempt or getattr(item, "execution_count", None),
                "variant": own_variant if variant is None else variant,
                "run_id": run_of(item.config).id,
            },
            "attributes": describe_checkout(Path(item.config.rootpath)),
        }
        frame = open_session(runtime, described, "flow")
        current_scope.set(scope_of(frame))
        return frame
    return None


def close_test_session(
    runtime: Runtime,
    frame: SessionFrame,
    state: str,
    reason: Optional[str],
    error: Optional[BaseException] = None,
) -> None:
    """Ends the session, and those that the test started inside it and, because it failed, did not end."""
    inside = [one for one in list(runtime.open_frames.values()) if one.record is frame.record]
    for one in sorted(inside, key=lambda inner: -inner.order):
        if one is not frame and one.reach != "step":
            close_session(runtime, one, state, reason)
    close_session(runtime, frame, state, reason, error)


class SavedAttempt(NamedTuple):
    # The address of the session.
    url: str
    recording: Path


def save_attempt(
    runtime: Runtime,
    item: pytest.Item,
    record: SessionRecord,
    *,
    variant: Optional[str],
    attempt: int,
    error: Optional[BaseException],
    is_failed: bool,
) -> SavedAttempt:
    """Writes the recording and the result for the report."""
    run = run_of(item.config)
    path = write_recording(runtime, record, run)
    url = path.as_uri() if runtime.settings.endpoint is None else runtime.url_of(record)
    result = {
        "kind": "attempt",
        "test": identity_of(item),
        "attempt": attempt,
        "sessionId": record.id,
        "isPassed": not is_failed,
        "durationMs": round((time.time_ns() - record.started_ns) / 1e6, 3),
        "url": url,
        "variant": variant,
        "message": None if error is None else plain_message(error),
        "stepId": failing_step_of(record.id) if is_failed else None,
        "location": location_of(item),
    }
    save_result(run, result)
    return SavedAttempt(url, path)


def location_of(item: pytest.Item) -> dict[str, Any]:
    path, line, _name = item.reportinfo()
    return locate_test(Path(path), (line or 0) + 1)


def write_recording(runtime: Runtime, record: SessionRecord, run: RecordedRun) -> Path:
    create_run_folder(run)
    return runtime.recordings.write(record, run.folder)


def plain_message(error: BaseException) -> str:
    """The names of assertions add nothing to what they say."""
    if isinstance(error, (AssertionError, pytest.fail.Exception)):
        return str(error) or type(error).__name__
    return message_of(error)


def reason_of(error: BaseException) -> str:
    """The first paragraph: a matcher's table is no reason."""
    return message_of(error).split("\n\n", 1)[0].strip()[:MAX_REASON_LENGTH]


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
