"""A Python that has imported pytest and the SDKs. Each program of a test runs in a copy of it: imports take
seconds of processor, and the tests start dozens of programs."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_PRELOADED = (
    "pytest",
    "_pytest.junitxml",
    "xdist.plugin",
    "pytest_asyncio.plugin",
    "pytest_rerunfailures",
    "anyio.pytest_plugin",
    "openai",
    "playhead.pytest_plugin",
)
_POLL_S = 0.01


def run_python(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    around: Sequence[str] = (),
    timeout_s: float = 180,
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run([sys.executable, *arguments], capture_output=True, text=True)`. A program around it
    starts a Python of its own."""
    if around or not hasattr(os, "fork"):
        command = [*around, sys.executable, *arguments]
        return subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    with tempfile.TemporaryDirectory() as folder:
        outputs = [os.path.join(folder, name) for name in ("stdout", "stderr")]
        program = {
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(cwd),
            "env": dict(env),
            "outputs": outputs,
            "timeout_s": timeout_s,
        }
        code = _server().run(program)
        stdout, stderr = (Path(path).read_text("utf-8", "replace") for path in outputs)
    return subprocess.CompletedProcess(arguments, code, stdout, stderr)


class _Server:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_python"],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        self._process.communicate()

    def run(self, program: dict[str, Any]) -> int:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps(program) + "\n")
        stdin.flush()
        return int(stdout.readline())


@functools.lru_cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.close)
    return server


def serve() -> None:
    for name in _PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in iter(sys.stdin.readline, ""):
        program = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run(program)
            return
        print(_wait_for(pid, time.monotonic() + program["timeout_s"]), flush=True)


def _wait_for(pid: int, until: float) -> int:
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _run(program: dict[str, Any]) -> None:
    """In the copy: becomes the program, and ends as it does."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, path in zip((1, 2), program["outputs"]):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
    installed = [path for path in sys.path[1:] if path not in _paths_in_environment()]
    os.chdir(program["cwd"])
    os.environ.clear()
    os.environ.update(program["env"])
    path = [*_paths_in_environment(), *installed]
    kind, *arguments = program["arguments"]
    if kind == "-m":
        sys.argv, sys.path[:] = arguments, [os.getcwd(), *path]
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv, sys.path[:] = ["-c", *arguments[1:]], ["", *path]
        exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv, sys.path[:] = [kind, *arguments], [os.path.dirname(os.path.abspath(kind)), *path]
        runpy.run_path(kind, run_name="__main__")


def _paths_in_environment() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


if __name__ == "__main__":
    serve()
