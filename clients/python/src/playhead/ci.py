"""The branch and commit a test runs on, as far as we can tell without starting a process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH", "CIRCLE_BRANCH")
_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT")


def describe_checkout(folder: Path) -> dict[str, str]:
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
