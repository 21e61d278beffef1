"""Refuses connections and processes while a test runs from a cassette.

It is an audit hook, so it also sees what most C code and captured references do. The interpreter can't remove
an audit hook; without a wall it returns at once. `other_sockets` has the clients that cause no event.
"""

from __future__ import annotations

import errno
import ipaddress
import multiprocessing.util
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional

from ..deliver.own_connection import is_own_connection
from .compare import visible_text
from .other_sockets import watch_other_sockets

_is_installed = False
# The system is asked about itself, as in platform.uname(): nothing leaves the machine.
_HARMLESS_CALLERS = frozenset(
    [
        "platform",
        "uuid",
        "ctypes.util",
        "distro",
        "distro.distro",
        "_osx_support",
        "multiprocessing.resource_tracker",
    ]
)
_CLIENTS = (
    "requests",
    "aiohttp",
    "urllib3",
    "botocore",
    "websockets",
    "urllib.request",
    "http.client",
)
_MAX_FRAMES = 60


class RefusedConnection(ConnectionRefusedError):
    """A connection that is not on the cassette."""


class RefusedProcess(PermissionError):
    """A process that a test from a cassette must not start."""


class _Wall(NamedTuple):
    on_refused: Callable[[str], None]
    allowed_commands: frozenset[str]


_wall: Optional[_Wall] = None


def raise_wall(on_refused: Callable[[str], None], allow_spawn: Sequence[str] = ()) -> None:
    global _wall, _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_audit)
        _audit_new_interpreters()
        watch_other_sockets(_guard_other_socket)
    _wall = _Wall(on_refused, frozenset(allow_spawn))


def lower_wall() -> None:
    global _wall
    _wall = None


def _audit_new_interpreters() -> None:
    """Processes that multiprocessing spawns are the only ones without an audit event."""
    spawn: Any = multiprocessing.util.spawnv_passfds

    def audited_spawn(path: Any, args: Any, passfds: Any) -> Any:
        sys.audit("os.posix_spawn", path, args, None)
        return spawn(path, args, passfds)

    multiprocessing.util.spawnv_passfds = audited_spawn


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _wall is None:
        return
    guard = _GUARDS.get(event)
    if guard is not None and not is_own_connection():
        guard(_wall, event, args)


def _guard_connect(wall: _Wall, _event: str, args: tuple[Any, ...]) -> None:
    address = args[1]
    if address is None or _is_socket_pair():
        return
    _refuse(wall, _describe_address(address))


def _guard_lookup(wall: _Wall, _event: str, args: tuple[Any, ...]) -> None:
    host = args[0].decode("latin-1") if isinstance(args[0], bytes) else args[0]
    if not host or host == "localhost" or _is_address(str(host)):
        # Nothing is asked over the network; connecting is refused.
        return
    port = args[1] if len(args) > 1 and args[1] else None
    _refuse(wall, str(host) if port is None else f"{host}:{port}")


def _guard_other_socket(client: str, where: str) -> None:
    if _wall is not None:
        _refuse(_wall, where, client)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.split("%", 1)[0])
        return True
    except ValueError:
        return False


def _is_socket_pair() -> bool:
    """Windows makes a pair of sockets by connecting them, for every event loop."""
    return sys.platform == "win32" and any("socketpair" in frame.f_code.co_name for frame in _frames())


def _describe_address(address: Any) -> str:
    if isinstance(address, tuple) and len(address) >= 2:
        return f"{address[0]}:{address[1]}"
    return address.decode("utf-8", "replace") if isinstance(address, bytes) else str(address)


def _refuse(wall: _Wall, where: str, client: Optional[str] = None) -> None:
    if client is None:
        client = next((name for name in _CLIENTS if any(_is_in(frame, name) for frame in _frames())), None)
    who = "The test" if client is None else client
    sentence = (
        f"{who} opened a connection to {visible_text(where)}, which is not on the cassette. Only requests of "
        "httpx, requests, urllib3, aiohttp and urllib are answered from it. Record what makes the connection "
        "with @playhead.record_tool."
    )
    wall.on_refused(sentence)
    raise RefusedConnection(errno.ECONNREFUSED, sentence)


def _guard_spawn(wall: _Wall, event: str, args: tuple[Any, ...]) -> None:
    if any(frame.f_globals.get("__name__") in _HARMLESS_CALLERS for frame in _frames()):
        return
    command = _command_of(event, args)
    name = os.path.basename(command[0]) if command else "a process"
    if name in wall.allowed_commands:
        return
    shown = visible_text(" ".join(command))[:200]
    sentence = (
        f"The test started a process: {shown}. What it does is not on the cassette. Record what starts "
        "it with @playhead.record_tool, or allow it in pyproject.toml: [tool.playhead] "
        f'allow_spawn = ["{name}"].'
    )
    wall.on_refused(sentence)
    raise RefusedProcess(errno.EPERM, sentence)


def _command_of(event: str, args: tuple[Any, ...]) -> list[str]:
    given = (
        args[1] if event in ("subprocess.Popen", "os.posix_spawn", "os.exec") and len(args) > 1 else args[0]
    )
    if isinstance(given, (bytes, str)):
        text = os.fsdecode(given)
        try:
            return shlex.split(text) or [text]
        except ValueError:
            return [text]
    return [os.fsdecode(part) if isinstance(part, (bytes, str, os.PathLike)) else str(part) for part in given]


def _frames() -> Iterator[Any]:
    frame: Any = sys._getframe(1)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def _is_in(frame: Any, module: str) -> bool:
    name = frame.f_globals.get("__name__") or ""
    return name == module or name.startswith(f"{module}.")


_GUARDS: dict[str, Callable[[_Wall, str, tuple[Any, ...]], None]] = {
    "socket.connect": _guard_connect,
    "socket.sendto": _guard_connect,
    "socket.sendmsg": _guard_connect,
    "socket.getaddrinfo": _guard_lookup,
    "socket.gethostbyname": _guard_lookup,
    "socket.gethostbyaddr": _guard_lookup,
    "subprocess.Popen": _guard_spawn,
    "os.system": _guard_spawn,
    "os.posix_spawn": _guard_spawn,
    "os.exec": _guard_spawn,
    "os.startfile": _guard_spawn,
    "pty.spawn": _guard_spawn,
}
