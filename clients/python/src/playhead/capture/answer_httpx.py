"""Gives httpx responses from a cassette instead of the network."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any, Optional, Union

from ..tape.served import TapedError, TapedResponse

# Requests to these never leave the process.
_IN_PROCESS = frozenset(["MockTransport", "ASGITransport", "WSGITransport", "_TestClientTransport"])


def is_in_process(client: Any, url: Any) -> bool:
    find = getattr(client, "_transport_for_url", None)
    transport = None if find is None else find(url)
    return any(kind.__name__ in _IN_PROCESS for kind in type(transport).__mro__)


def create_answerer(module: ModuleType) -> Any:
    """Makes responses of this copy of httpx."""

    class TapedStream(module.SyncByteStream, module.AsyncByteStream):  # type: ignore[misc,name-defined]
        def __init__(self, taped: TapedResponse, request: Any) -> None:
            self._taped = taped
            self._request = request

        def __iter__(self) -> Iterator[bytes]:
            for chunk in self._taped.chunks:
                yield chunk.encode("utf-8", "backslashreplace")
            if self._taped.is_aborted:
                raise module.ReadError("The recorded stream ends here.", request=self._request)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in self:
                yield chunk

    def answer(taped: Union[TapedResponse, TapedError], request: Any) -> Any:
        if isinstance(taped, TapedError):
            failure = module.ConnectTimeout if taped.code == "ETIMEDOUT" else module.ConnectError
            raise failure(taped.message or taped.code, request=request)
        response = module.Response(
            taped.status,
            headers=taped.headers,
            stream=TapedStream(taped, request),
            request=request,
            extensions={"http_version": b"HTTP/1.1"},
        )
        response.elapsed = datetime.timedelta(0)
        return response

    return answer


def hooks_of(client: Any, name: str) -> list[Any]:
    """What the host runs before each request or after each response."""
    hooks: Optional[dict[str, list[Any]]] = getattr(client, "event_hooks", None)
    return [] if hooks is None else hooks.get(name, [])
