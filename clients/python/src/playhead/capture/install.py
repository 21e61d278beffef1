"""Patches HTTP clients: those that are loaded already, and others as soon as they are imported."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Optional

from ..runtime import active_runtime
from .httpx_hook import watch_httpx

# Newer SDKs use httpx2.
_CLIENTS = ("httpx", "httpx2")
_is_installed = False


def install_capture() -> None:
    """Runs once; each call checks for itself whether it is to be recorded."""
    global _is_installed
    for name in _CLIENTS:
        module = sys.modules.get(name)
        if module is not None:
            _watch(module)
    if not _is_installed:
        _is_installed = True
        sys.meta_path.insert(0, _ClientFinder())


def _watch(module: ModuleType) -> None:
    try:
        watch_httpx(module)
    except Exception as fault:
        runtime = active_runtime()
        if runtime is not None:
            runtime.fault(fault)


class _ClientFinder(MetaPathFinder):
    """Patches an HTTP client once the program imports it. Importing it ourselves would slow the start."""

    def __init__(self) -> None:
        self._looking = threading.local()

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        if fullname not in _CLIENTS or getattr(self._looking, "is_on", False):
            return None
        self._looking.is_on = True
        try:
            spec = importlib.util.find_spec(fullname)
        except Exception:
            return None
        finally:
            self._looking.is_on = False
        if spec is not None and spec.loader is not None:
            spec.loader = _WatchingLoader(spec.loader)
        return spec


class _WatchingLoader(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        module: Optional[ModuleType] = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module must look as if we had not touched it.
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _watch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
