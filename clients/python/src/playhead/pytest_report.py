"""`--playhead-report`: the HTML report, junit.xml and annotations, by the program that TypeScript uses."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import pytest

from .format.lines import safe_for_log
from .pytest_sessions import run_of

DEFAULT_FOLDER = "playhead-report"
_OPTION = "--playhead-report"
_TIMEOUT_S = 120


def add_report_options(parser: pytest.Parser) -> None:
    help_text = f"write the Playhead report of this run to a folder (default {DEFAULT_FOLDER})"
    parser.getgroup("playhead").addoption(
        _OPTION, nargs="?", const=DEFAULT_FOLDER, default=None, metavar="FOLDER", help=help_text
    )
    parser.addini("playhead_report", "folder of the Playhead report", default="")


def pytest_configure(config: pytest.Config) -> None:
    folder = report_folder(config)
    if folder is not None and not _is_worker(config):
        _refuse_tests(folder, config.invocation_params.args)
        # Matchers link to the report. Workers inherit it.
        os.environ["PLAYHEAD_REPORT"] = f"{folder}/index.html"


def report_folder(config: pytest.Config) -> Optional[str]:
    return config.getoption(_OPTION) or config.getini("playhead_report") or None


def _refuse_tests(folder: str, arguments: Sequence[Any]) -> None:
    """In `pytest --playhead-report tests`, the tests are taken for the folder."""
    is_apart = (_OPTION, folder) in zip(arguments, arguments[1:])
    path = Path(folder.split("::", 1)[0])
    is_report = path.is_dir() and ((path / "index.html").exists() or not any(path.iterdir()))
    if is_apart and path.exists() and not is_report:
        raise pytest.UsageError(
            f"{_OPTION} would write the report to {folder}. To run those tests, name them first: "
            f"pytest {folder} {_OPTION}. To write there, use {_OPTION}={folder}."
        )


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    folder, run = report_folder(config), run_of(config)
    if folder is None or _is_worker(config) or not run.folder.is_dir():
        return
    command = find_command(Path(config.rootpath))
    terminalreporter.section("Playhead")
    if command is None:
        terminalreporter.line(
            f"No report, because the playhead command is missing: npm install playhead, or set PLAYHEAD_CLI. "
            f"The recordings are in {run.folder}."
        )
        return
    try:
        done = subprocess.run(
            [*command, "report", str(run.folder), "-o", folder],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
        # It has made its lines safe; those for the build service must reach it as they are.
        terminalreporter.write((done.stdout + done.stderr).rstrip() + "\n")
    except (OSError, subprocess.SubprocessError) as error:
        # A failed report must not fail the tests.
        terminalreporter.line(f"Playhead could not write the report: {safe_for_log(str(error))}")


def find_command(root: Path) -> Optional[list[str]]:
    """`PLAYHEAD_CLI`, the command of an npm project around the tests, or the one on the path."""
    given = os.environ.get("PLAYHEAD_CLI")
    if given:
        return shlex.split(given)
    for folder in (root, *root.parents):
        found = shutil.which("playhead", path=str(folder / "node_modules" / ".bin"))
        if found is not None:
            return [found]
    found = shutil.which("playhead")
    return None if found is None else [found]
