"""One start of the test runner: all of its processes record into one folder, for `playhead report`."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional

_DEFAULT_FOLDER = ".playhead"
# Older runs are deleted.
_KEPT_RUNS = 10


class RecordedRun(NamedTuple):
    id: str
    folder: Path


def locate_run(environment: Mapping[str, str], root: Path) -> RecordedRun:
    """As TypeScript does, so that both kits of a build record into the same run."""
    own_id = f"{time.strftime('%Y-%m-%d', time.gmtime())}-{os.getpid()}"
    run_id = environment.get("PLAYHEAD_RUN_ID") or _build_id(environment) or own_id
    given = environment.get("PLAYHEAD_RUN_DIR")
    base = Path(environment.get("PLAYHEAD_DIR") or root / _DEFAULT_FOLDER)
    name = re.sub(r"[^\w.-]+", "-", run_id, flags=re.ASCII)
    return RecordedRun(run_id, Path(given) if given else base / name)


def _build_id(environment: Mapping[str, str]) -> Optional[str]:
    if environment.get("GITHUB_ACTIONS") == "true":
        attempt = environment.get("GITHUB_RUN_ATTEMPT", "1")
        return f"github-{environment.get('GITHUB_RUN_ID')}-{attempt}"
    builds = (
        ("GITLAB_CI", "gitlab", "CI_PIPELINE_ID"),
        ("CIRCLECI", "circleci", "CIRCLE_WORKFLOW_ID"),
        ("BUILDKITE", "buildkite", "BUILDKITE_BUILD_ID"),
    )
    for name, provider, build in builds:
        if environment.get(name) == "true":
            return f"{provider}-{environment.get(build)}"
    return None


def create_run_folder(run: RecordedRun) -> None:
    """Keeps itself out of git, and deletes old runs."""
    if run.folder.is_dir():
        return
    run.folder.mkdir(parents=True, exist_ok=True)
    base = run.folder.parent
    if base.name != _DEFAULT_FOLDER:
        return
    (base / ".gitignore").write_text("*\n")
    runs = sorted((one for one in base.iterdir() if one.is_dir()), key=lambda one: -one.stat().st_mtime)
    for old in runs[_KEPT_RUNS:]:
        shutil.rmtree(old, ignore_errors=True)


def save_result(run: RecordedRun, result: Mapping[str, Any]) -> None:
    """Appends a result for the report; does nothing without write access."""
    known = {name: value for name, value in result.items() if value is not None or name == "cost"}
    line = json.dumps(known, default=str, ensure_ascii=False)
    try:
        create_run_folder(run)
        path = run.folder / f"{os.getpid()}.results.jsonl"
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{line}\n")
    except OSError:
        # A missing report must not fail the tests.
        return


def locate_test(path: Path, line: int) -> dict[str, Any]:
    """Relative to the repository, since that is how CI servers name files."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    root = Path(workspace) if workspace else _find_repository(path) or Path.cwd()
    try:
        shown = path.relative_to(root)
    except ValueError:
        shown = path
    return {"path": shown.as_posix(), "line": line}


def _find_repository(path: Path) -> Optional[Path]:
    return next((folder for folder in path.parents if (folder / ".git").exists()), None)
