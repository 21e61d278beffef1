"""Starts an agent by its name, and lists what a session wrote and which arguments were None."""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path
from typing import Any, Callable

from ..project import Project, find_project, load_agent
from ..session_view import SessionView
from ..tape.active import active_tape


def run_agent(name: str, input: Any = None) -> Any:
    """Start the agent that `[tool.playhead.agents]` in pyproject.toml names, and return what it returns.

    The keys of an input that are the parameters of its function are passed by name; any other input is its
    only argument. An async agent is run to its end; inside a running loop, await what is returned.
    """
    __tracebackhide__ = True
    run = load_agent(_project_of(sys._getframe(1).f_code.co_filename), name)
    tape = active_tape()
    if tape is not None and not tape.started:
        tape.started = {"agent": name} if input is None else {"agent": name, "input": input}
    result = _call(run, input)
    if not inspect.iscoroutine(result):
        return result
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(result)
    return result


def _project_of(caller: str) -> Project:
    """That of the test, or of the working directory."""
    own = find_project(Path(caller).absolute().parent)
    return own if own.folder is not None else find_project(Path.cwd())


def _call(run: Callable[..., Any], given: Any) -> Any:
    __tracebackhide__ = True
    if given is None:
        return run()
    return run(**given) if isinstance(given, dict) and _takes(run, given) else run(given)


def _takes(run: Callable[..., Any], given: dict[str, Any]) -> bool:
    try:
        inspect.signature(run).bind(**given)
        return True
    except TypeError:
        return False


def writes(session: SessionView) -> list[str]:
    """The actions that changed something (`effect="write"`), in their order."""
    return [event.action_type for event in session.action_events if event.effect == "write"]


def null_arguments(session: SessionView) -> list[str]:
    """The arguments of actions that were None: `["fetch_customer.customer_id"]`."""
    return [path for event in session.action_events for path in _find_nulls(event.params, event.action_type)]


def _find_nulls(value: Any, path: str, depth: int = 0) -> list[str]:
    if value is None and depth > 0:
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in _find_nulls(item, f"{path}.{key}", depth + 1)]
