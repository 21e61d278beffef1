"""A Python that has imported pytest and the SDKs. Each program of a test runs in a copy of it: imports take
seconds of processor, and the tests start dozens of programs."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

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
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
# Before the package watches it.
_EXIT = os._exit


def run_python(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    is_alone: bool = False,
    timeout_s: float = 180,
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run([sys.executable, *arguments], capture_output=True, text=True)`. Alone, it has no
    network interface, where the system can do that."""
    if not hasattr(os, "fork"):
        command = [sys.executable, *arguments]
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
            "is_alone": is_alone,
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
    # Collecting what was imported would copy its memory into every program.
    gc.collect()
    gc.freeze()
    for line in iter(sys.stdin.readline, ""):
        program = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _end(_run(program))
        print(_wait_for(pid, time.monotonic() + program["timeout_s"]), flush=True)


def _wait_for(pid: int, until: float) -> int:
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _run(program: dict[str, Any]) -> int:
    """In the copy: becomes the program, and tells its exit code."""
    try:
        _become(program)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _end(code: int) -> NoReturn:
    """As the interpreter does, but leaves the memory to the system: freeing it takes longer than programs."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    _EXIT(code)


def _become(program: dict[str, Any]) -> None:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, path in zip((1, 2), program["outputs"]):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
    if program["is_alone"]:
        _leave_the_network()
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


def _leave_the_network() -> None:
    """As `unshare --map-root-user --net`, in this process."""
    user, group = os.getuid(), os.getgid()
    if sys.platform != "linux" or ctypes.CDLL(None).unshare(_NEW_USER | _NEW_NETWORK) != 0:
        return
    for name, line in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        Path("/proc/self", name).write_text(line)


def _paths_in_environment() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


if __name__ == "__main__":
    serve()
