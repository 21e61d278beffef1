"""Clients whose C code opens its own connections, which no audit event tells: gRPC and pycurl.

Their calls are watched where Python makes them, from the first wall on. Without a wall they pass.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable

from ..import_hooks import when_imported

# Takes the client and where it connects to. Raises if that is not allowed.
Watch = Callable[[str, str], None]

_GRPC_METHODS = ("__call__", "with_call", "future")
_CURL_METHODS = ("perform", "perform_rb", "perform_rs")


def watch_other_sockets(watch: Watch) -> None:
    for name in ("grpc._channel", "grpc.aio._channel"):
        when_imported(name, lambda module: _watch_grpc(module, watch), "wall")
    when_imported("pycurl", lambda module: _watch_pycurl(module, watch), "wall")


def _watch_grpc(module: ModuleType, watch: Watch) -> None:
    """The callables of stubs, so that channels which are open already are watched too."""
    for name, kind in list(vars(module).items()):
        if isinstance(kind, type) and name.endswith("MultiCallable") and kind.__module__ == module.__name__:
            for method in _GRPC_METHODS:
                if method in vars(kind):
                    setattr(kind, method, _watched(vars(kind)[method], "grpc", _grpc_target, watch))


def _grpc_target(call: Any) -> str:
    # The asynchronous ones don't know where their channel leads.
    target = getattr(call, "_target", None) or getattr(call, "_method", None) or "a service"
    return target.decode("utf-8", "replace") if isinstance(target, bytes) else str(target)


def _watch_pycurl(module: ModuleType, watch: Watch) -> None:
    """Its classes are C's and can't be changed, so the module gets classes of the same names."""
    pycurl: Any = module

    def url_of(curl: Any) -> str:
        return str(curl.getinfo(pycurl.EFFECTIVE_URL)) or "a server"

    members = {name: _watched(getattr(pycurl.Curl, name), "pycurl", url_of, watch) for name in _CURL_METHODS}
    curl = type("Curl", (pycurl.Curl,), members)
    add_handle = pycurl.CurlMulti.add_handle

    def add_watched_handle(multi: Any, handle: Any) -> Any:
        watch("pycurl", url_of(handle))
        return add_handle(multi, handle)

    multi = type("CurlMulti", (pycurl.CurlMulti,), {"add_handle": add_watched_handle})
    for kind in (curl, multi):
        kind.__module__ = "pycurl"
        setattr(pycurl, kind.__name__, kind)


def _watched(
    method: Callable[..., Any], client: str, target_of: Callable[[Any], str], watch: Watch
) -> Callable[..., Any]:
    def call_watched(self: Any, *args: Any, **options: Any) -> Any:
        watch(client, target_of(self))
        return method(self, *args, **options)

    return call_watched
