"""What a project says about its agents and cassettes, in `[tool.playhead]` of its pyproject.toml."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional


class ProjectError(Exception):
    """What is missing in pyproject.toml, and the lines to write."""


class Project(NamedTuple):
    # The folder of pyproject.toml; None if there is none.
    folder: Optional[Path]
    # The places of agents by their names: "app.agent:run".
    agents: Mapping[str, str]
    # The folder for cassettes; None puts them beside each test.
    cassettes: Optional[Path]
    # Processes that tests from cassettes may start.
    allow_spawn: tuple[str, ...]


def find_project(start: Path) -> Project:
    """The nearest pyproject.toml with a [tool.playhead], from the folder upwards."""
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        settings = _read_settings(file) if file.is_file() else None
        if settings is not None:
            cassettes = settings.get("cassettes")
            agents = settings.get("agents")
            return Project(
                folder,
                {str(name): str(place) for name, place in agents.items()} if isinstance(agents, dict) else {},
                folder / cassettes if isinstance(cassettes, str) else None,
                tuple(str(name) for name in settings.get("allow_spawn") or ()),
            )
    return Project(None, {}, None, ())


def _read_settings(file: Path) -> Optional[dict[str, Any]]:
    parse = _toml_parser()
    if parse is None:
        if "[tool.playhead" in file.read_text("utf-8"):
            raise ProjectError(f"{file} can't be read: Python before 3.11 needs the package tomli for it.")
        return None
    try:
        settings = parse(file.read_text("utf-8")).get("tool", {}).get("playhead")
    except ValueError as error:
        raise ProjectError(f"{file} is not TOML: {error}") from None
    return settings if isinstance(settings, dict) else None


def _toml_parser() -> Optional[Callable[[str], dict[str, Any]]]:
    """pytest brings tomli along where Python has no parser of its own."""
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name).loads  # type: ignore[no-any-return]
        except ImportError:
            continue
    return None


def load_agent(project: Project, name: str) -> Callable[..., Any]:
    """The function that starts the agent."""
    place = project.agents.get(name)
    if place is None:
        known = ", ".join(project.agents)
        where = "pyproject.toml" if project.folder is None else str(project.folder / "pyproject.toml")
        raise ProjectError(
            f'{where} has no agent "{name}"'
            + (f" (it has: {known})" if known else "")
            + ". Say which function starts it, with its module:\n\n"
            f'[tool.playhead.agents]\n{name} = "app.agent:run"\n'
        )
    module_name, _, function = place.partition(":")
    folder = str(project.folder)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        raise ProjectError(
            f'The agent "{name}" is "{place}", but there is no module {error.name} below {folder}.'
        ) from None
    for part in function.split(".") if function else ():
        found = getattr(found, part, None)
    if not callable(found):
        raise ProjectError(
            f'The agent "{name}" is "{place}", but {module_name} has no function "{function}". '
            'It looks like "app.agent:run".'
        )
    return found  # type: ignore[no-any-return]
