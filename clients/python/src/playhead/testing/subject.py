"""What matchers accept: the session of a test, a recording, or a session from the server; and its replay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, Union
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..session_view import SessionView

# A session in the format of the API: {"session": {...}, "steps": [...]}.
SessionJson = dict[str, Any]
SessionSubject = Union[SessionView, SessionJson]


def read_subject(subject: Any) -> SessionJson:
    """The session in its current state."""
    session = subject.to_json() if isinstance(subject, SessionView) else subject
    if not is_session(session):
        raise TypeError(
            "This is not a session. Pass the fixture playhead_session, the result of get_session(), "
            "a recording (open_recording) or a session from the server (fetch_session)."
        )
    return dict(session)


def is_session(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("session"), Mapping):
        return False
    steps = value.get("steps")
    is_named = isinstance(value["session"].get("id"), str)
    return is_named and isinstance(steps, list) and all(_is_step(step) for step in steps)


def _is_step(step: Any) -> bool:
    if not isinstance(step, Mapping):
        return False
    error, tool = step.get("error"), step.get("tool")
    has_message = error is None or (isinstance(error, Mapping) and isinstance(error.get("message"), str))
    is_named = isinstance(step.get("id"), str) and isinstance(step.get("name"), str)
    return is_named and has_message and (tool is None or isinstance(tool, Mapping))


def replay_link(session: Mapping[str, Any], step_id: Optional[str] = None) -> str:
    """The replay on the server, otherwise in the report, otherwise the command that shows the recording."""
    url = session.get("url") or ""
    if url.startswith(("http:", "https:")):
        return url if step_id is None else f"{url}{'&' if '?' in url else '?'}step={step_id}"
    report = os.environ.get("PLAYHEAD_REPORT")
    if report:
        return f"{report}#session={session['id']}" + ("" if step_id is None else f"&step={step_id}")
    if url.startswith("file:"):
        return f"npx playhead show {_short_path(url2pathname(urlsplit(url).path))}"
    return ""


def replay_line(session: Mapping[str, Any], step_id: Optional[str] = None) -> str:
    link = replay_link(session, step_id)
    return "" if link == "" else f"\n\nReplay: {link}"


def _short_path(path: str) -> str:
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
