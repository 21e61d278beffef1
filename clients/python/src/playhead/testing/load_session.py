"""Sessions of recordings and of the server."""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Optional, Union
from urllib.parse import quote, urlsplit

from ..deliver.own_connection import own_connection
from ..runtime import obtain_runtime
from .required_argument import fail, require_text
from .subject import SessionJson, is_session

_RECORDING_VERSION = 1
_TIMEOUT_S = 30.0
_DEFAULT_ENDPOINT = "http://localhost:4318"


def open_recording(path: Union[str, os.PathLike[str]]) -> SessionJson:
    """A session from a file in `.playhead/`, from `playhead export`, or saved from the replay."""
    if not isinstance(path, (str, os.PathLike)):
        fail("The recording", "must be a path", path)
    file = Path(path)
    try:
        recording = json.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise OSError(f"{file} can't be read: {error}.") from error
    except ValueError as error:
        raise ValueError(f"{file} is not JSON: {error}.") from error
    version = recording.get("version") if isinstance(recording, dict) else None
    if isinstance(version, int) and version > _RECORDING_VERSION:
        raise ValueError(f"{file} has version {version}, which needs a newer Playhead.")
    if not is_session(recording):
        raise ValueError(f"{file} is not a Playhead recording.")
    session = {**recording["session"]}
    session.setdefault("url", file.absolute().as_uri())
    return {"session": session, "steps": recording["steps"]}


def fetch_session(
    id_or_url: str, *, endpoint: Optional[str] = None, api_key: Optional[str] = None
) -> SessionJson:
    """A session by its id or the URL of its replay, from the server of `init` if no other is named."""
    origin, session_id = _read_address(require_text(id_or_url, "The session"))
    named = obtain_runtime().settings.endpoint or os.environ.get("PLAYHEAD_ENDPOINT")
    server = endpoint or origin or named or _DEFAULT_ENDPOINT
    path = f"/api/sessions/{quote(session_id, safe='')}?payloads=all"
    session = fetch_json(path, require_text(server, "The option endpoint"), api_key)
    if not is_session(session):
        raise ValueError(f"{server} did not respond with a session to {path}.")
    found: SessionJson = session
    return found


def _read_address(id_or_url: str) -> tuple[Optional[str], str]:
    if not id_or_url.startswith(("http:", "https:")) and id_or_url != "":
        return None, id_or_url
    url = urlsplit(id_or_url)
    found = re.search(r"/sessions/([^/]+)", url.path)
    if found is None:
        fail("The session", "must be its id or its replay's URL, like https://…/sessions/1a2b3c4d", id_or_url)
    return f"{url.scheme}://{url.netloc}", found[1]


def fetch_json(path: str, endpoint: str, api_key: Optional[str] = None, timeout_s: float = _TIMEOUT_S) -> Any:
    """JSON from the server's API, with the API key if there is one."""
    key = api_key or _key_of_init(endpoint)
    key = key or os.environ.get("PLAYHEAD_API_KEY") or os.environ.get("AGENTOPS_API_KEY")
    request = urllib.request.Request(f"{endpoint.rstrip('/')}{path}")
    if key:
        request.add_header("authorization", f"Bearer {key}")
    try:
        with own_connection(), urllib.request.urlopen(request, timeout=timeout_s) as response:
            return json.load(response)
    except (OSError, ValueError) as error:
        reason = error.code if isinstance(error, urllib.error.HTTPError) else error
        why = f"it responded with {reason}" if isinstance(reason, int) else str(reason)
        raise OSError(f"Can't get {path} from {endpoint}: {why}.") from error


def _key_of_init(endpoint: str) -> Optional[str]:
    """The key that `init` was given for this server. No other server may see it."""
    settings = obtain_runtime().settings
    return settings.api_key if settings.endpoint == endpoint.rstrip("/") else None
