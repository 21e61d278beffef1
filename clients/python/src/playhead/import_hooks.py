"""Runs code once a module is imported: modules that are loaded already, and others as soon as they are."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Optional

from .runtime import active_runtime

Patch = Callable[[ModuleType], None]
# By module and purpose.
_patches: dict[str, dict[str, Patch]] = {}
_is_installed = False


def when_imported(name: str, patch: Patch, purpose: str = "capture") -> None:
    """Importing it ourselves would slow the start. A module is patched once for each purpose."""
    global _is_installed
    patches = _patches.setdefault(name, {})
    if purpose in patches:
        return
    patches[purpose] = patch
    module = sys.modules.get(name)
    if module is not None:
        _apply(module, patch)
    if not _is_installed:
        _is_installed = True
        sys.meta_path.insert(0, _Finder())


def _apply(module: ModuleType, patch: Patch) -> None:
    try:
        patch(module)
    except Exception as fault:
        runtime = active_runtime()
        if runtime is not None:
            runtime.fault(fault)


class _Finder(MetaPathFinder):
    def __init__(self) -> None:
        self._looking = threading.local()

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        if fullname not in _patches or getattr(self._looking, "is_on", False):
            return None
        self._looking.is_on = True
        try:
            spec = importlib.util.find_spec(fullname)
        except Exception:
            return None
        finally:
            self._looking.is_on = False
        if spec is not None and spec.loader is not None:
            spec.loader = _WatchingLoader(spec.loader, _patches[fullname])
        return spec


class _WatchingLoader(Loader):
    def __init__(self, loader: Any, patches: Mapping[str, Patch]) -> None:
        self._loader = loader
        self._patches = patches

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        module: Optional[ModuleType] = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module must look as if we had not touched it.
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        for patch in list(self._patches.values()):
            _apply(module, patch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
