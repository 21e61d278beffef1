"""Posts OTLP/JSON to the server."""

from __future__ import annotations

import email.utils
import gzip
import http.client
import json
import re
import ssl
import time
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional
from urllib.parse import urlsplit

from .export_response import read_export_response
from .own_connection import own_connection

TIMEOUT_S = 10.0
MAX_ANSWER_BYTES = 1024 * 1024
# On the same machine, compression costs more than it saves.
GZIP_FROM = 4096
GZIP_FROM_ON_LOOPBACK = 1024 * 1024
_LOOPBACK = re.compile(r"https?://(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::|/|$)")


class Target(NamedTuple):
    """The server's address and our credentials."""

    endpoint: str
    api_key: Optional[str]

    @property
    def traces_url(self) -> str:
        return f"{self.endpoint}/v1/traces"


@dataclass
class Outcome:
    """accepted, later (no answer or busy), too-large, unwelcome (key, address) or unreadable."""

    kind: str
    reason: str = ""
    after_s: Optional[float] = None
    is_server_there: bool = True
    rejected_steps: int = 0


class Sender:
    """Reuses one connection across batches."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._connection: Optional[http.client.HTTPConnection] = None
        self._is_used = False

    def send(self, text: str, timeout_s: float = TIMEOUT_S) -> Outcome:
        """Never raises."""
        body = text.encode()
        headers = {"content-type": "application/json"}
        if self._target.api_key is not None:
            headers["authorization"] = f"Bearer {self._target.api_key}"
        is_near = _LOOPBACK.match(self._target.endpoint) is not None
        if len(body) >= (GZIP_FROM_ON_LOOPBACK if is_near else GZIP_FROM):
            body = gzip.compress(body, 6)
            headers["content-encoding"] = "gzip"
        try:
            return self._read(*self._post(body, headers, timeout_s))
        except Exception as error:
            self.close()
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return Outcome("later", reason=str(reason), is_server_there=False)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _post(self, body: bytes, headers: dict[str, str], timeout_s: float) -> tuple[int, Any, bytes]:
        was_used = self._is_used and self._connection is not None
        try:
            with own_connection():
                return self._exchange(body, headers, timeout_s)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            # The server closed an idle connection; it may still be healthy.
            if not was_used:
                raise
            self.close()
            with own_connection():
                return self._exchange(body, headers, timeout_s)

    def _exchange(self, body: bytes, headers: dict[str, str], timeout_s: float) -> tuple[int, Any, bytes]:
        url = urlsplit(self._target.traces_url)
        if self._connection is None:
            self._is_used = False
            self._connection = _connect(url.scheme, url.hostname or "", url.port, timeout_s)
        connection = self._connection
        connection.timeout = timeout_s
        if connection.sock is not None:
            connection.sock.settimeout(timeout_s)
        connection.request("POST", url.path, body=body, headers=headers)
        response = connection.getresponse()
        answer = response.read(MAX_ANSWER_BYTES)
        self._is_used = True
        if response.will_close or not response.isclosed():
            self.close()
        return response.status, response.headers, answer

    def _read(self, status: int, headers: Any, answer: bytes) -> Outcome:
        said = _parse(answer)
        if 200 <= status < 300:
            content_type = headers.get("content-type") or ""
            stored = read_export_response(content_type, answer)
            if stored is not None:
                return Outcome("accepted", rejected_steps=stored[0], reason=stored[1])
            kind = content_type or "no content type"
            reason = f"{status} with {kind} instead of OTLP's response, as from a proxy or a login page"
            return Outcome("unwelcome", reason=reason)
        message = said.get("message")
        reason = f"{status} {message[:300]}" if isinstance(message, str) and message else str(status)
        if status == 413:
            return Outcome("too-large", reason=reason)
        if status in (408, 429) or status >= 500:
            return Outcome("later", reason=reason, after_s=_retry_after(headers.get("retry-after")))
        if status in (401, 403):
            return Outcome("unwelcome", reason=reason)
        if status in (404, 405) or 300 <= status < 400:
            return Outcome(
                "unwelcome", reason=f"{status} for {self._target.traces_url}: another program listens there"
            )
        return Outcome("unreadable", reason=reason)


def _connect(scheme: str, host: str, port: Optional[int], timeout_s: float) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(
            host, port, timeout=timeout_s, context=ssl.create_default_context()
        )
    return http.client.HTTPConnection(host, port, timeout=timeout_s)


def _parse(answer: bytes) -> dict[str, Any]:
    try:
        value = json.loads(answer)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _retry_after(header: Optional[str]) -> Optional[float]:
    """Parse seconds or an HTTP date."""
    if header is None or header.strip() == "":
        return None
    try:
        seconds = float(header)
        return seconds if seconds >= 0 else None
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def explain_trouble(outcome: Outcome, target: Target, is_spooled: bool) -> str:
    """Tell the developer why delivery fails and what to do."""
    kept = (
        "Steps are kept on disk and sent later."
        if is_spooled
        else "Steps are kept in memory and lost when the process exits."
    )
    if outcome.kind == "unwelcome":
        return (
            f"{target.endpoint} rejected the recorded steps: {outcome.reason}. Check the key "
            "(init(api_key=…) or PLAYHEAD_API_KEY) and the address (init(endpoint=…) or PLAYHEAD_ENDPOINT)."
        )
    if outcome.is_server_there:
        return f"{target.endpoint} can't accept steps right now ({outcome.reason}). {kept}"
    return (
        f"No Playhead server responds at {target.endpoint} ({outcome.reason}). {kept} Start one with "
        '"npx playhead serve", set PLAYHEAD_ENDPOINT, or record to files with init(dir=".playhead").'
    )
