"""A session reads in the process as the API gives it: `to_json()`, its errors, its cost."""

from __future__ import annotations

import json
from typing import Any

import pytest

import playhead
from playhead.runtime import obtain_runtime
from playhead.scope import current_scope

from ..support import ENDPOINT, fetch_session
from .scenarios import SCENARIOS


@pytest.fixture(scope="module")
def views() -> dict[str, playhead.SessionView]:
    runtime = obtain_runtime()
    runtime.options.clear()
    playhead.init(endpoint=ENDPOINT)
    views = {}
    for name, run in SCENARIOS.items():
        records: list[Any] = []
        runtime.session_listeners.append(records.append)
        current_scope.set(None)
        try:
            run()
        except BaseException as error:
            # What a scenario is about; anything else shows in what was recorded.
            assert not isinstance(error, (AssertionError, TypeError)), name
        runtime.session_listeners.remove(records.append)
        views[name] = playhead.SessionView(runtime, records[0])
    current_scope.set(None)
    assert playhead.flush()
    return views


@pytest.mark.parametrize("name", SCENARIOS)
def test_to_json_is_what_the_api_gives(name: str, views: dict[str, playhead.SessionView]) -> None:
    own = json.loads(json.dumps(views[name].to_json()))
    stored = fetch_session(views[name].id)
    # Why a later run can't be given everything is known to the server alone.
    stored.pop("tapeGaps")
    assert own["session"] == stored["session"]
    assert own["steps"] == stored["steps"]


def test_the_view_counts_as_the_api_does(views: dict[str, playhead.SessionView]) -> None:
    for view in views.values():
        session = view.to_json()["session"]
        assert len(view.errors) == session["errorCount"]
        assert view.tokens == session["usage"]
        assert view.cost == session["cost"] or (session["cost"] is None and view.cost == 0)
    one = views["an_error_raised_from_another"].errors
    assert [(error.type, error.step.name, error.is_handled) for error in one] == [
        ("KeyError", "look_up", False)
    ]
    (handled,) = views["an_error_that_the_session_survives"].errors
    assert (handled.step.name, handled.is_handled) == ("look_up", True)
