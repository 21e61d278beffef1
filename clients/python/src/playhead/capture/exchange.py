"""One request of the host: what watches it, and what answers it instead of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ..deliver.own_connection import is_own_connection
from ..runtime import active_runtime
from ..tape.active import active_tape
from ..tape.call_tap import CallTap
from ..tape.served import TapedError, TapedResponse
from .observed_call import ObservedCall
from .recognize import may_be_call
from .wire import ReadCall, is_sending, observe_call, read_call

if TYPE_CHECKING:
    from ..tape.run_tape import RunTape

Watcher = Union[ObservedCall, CallTap]
Taped = Union[TapedResponse, TapedError]


class Exchange:
    """The watchers are the step that records the request, and the tap that a cassette needs."""

    def __init__(self, watchers: Sequence[Watcher], taped: Optional[Taped] = None) -> None:
        self._watchers = watchers
        # What answers the request instead of the network.
        self.taped = taped

    def response_began(self, status: int, headers: Mapping[str, str]) -> None:
        for watcher in self._watchers:
            watcher.response_began(status, headers)

    def received(self, chunk: bytes) -> None:
        for watcher in self._watchers:
            watcher.received(chunk)

    def received_decoded(self, chunk: bytes) -> None:
        for watcher in self._watchers:
            watcher.received_decoded(chunk)

    def received_whole(self, content: bytes) -> None:
        for watcher in self._watchers:
            watcher.received_whole(content)

    def ended(self) -> None:
        for watcher in self._watchers:
            watcher.ended()

    def closed(self) -> None:
        for watcher in self._watchers:
            watcher.closed()

    def failed(self, error: BaseException) -> None:
        for watcher in self._watchers:
            watcher.failed(error)

    def give_up(self, fault: Exception) -> None:
        for watcher in self._watchers:
            watcher.give_up(fault)


def begin_exchange(
    method: str, url: Any, content: Any, *, retries: Optional[str] = None, is_in_process: bool = False
) -> Optional[Exchange]:
    """None for a request that is neither a call to a model nor answered by a cassette.

    `url` has a scheme, a host or hostname, a port, a path and a query. What stays in the process is not
    answered by a cassette.
    """
    runtime = active_runtime()
    if runtime is None or is_sending() or is_own_connection():
        return None
    with runtime.guard():
        tape = None if is_in_process else active_tape()
        if tape is None and not runtime.settings.is_llm_captured:
            return None
        read = read_call(url, content) if may_be_call(method, url.path) else None
        call = None
        if read is not None and runtime.settings.is_llm_captured:
            call = observe_call(runtime, url, retries, read)
        if tape is not None:
            return _ask_tape(tape, method, url, read, call)
        return None if call is None else Exchange([call])
    return None


def _ask_tape(
    tape: RunTape, method: str, url: Any, read: Optional[ReadCall], call: Optional[ObservedCall]
) -> Optional[Exchange]:
    if read is None:
        refused = tape.refuse(method, _address_of(url))
        return None if refused is None else Exchange([], refused)
    answer = tape.respond(url.path, read)
    watchers: list[Watcher] = [] if call is None else [call]
    if isinstance(answer, CallTap):
        if call is not None:
            call.set_source("live")
        return Exchange([*watchers, answer])
    is_miss = isinstance(answer, TapedResponse) and answer.headers.get("x-should-retry") == "false"
    if call is not None and not is_miss:
        call.set_source("tape")
    return Exchange(watchers, answer)


def _address_of(url: Any) -> str:
    """Without the query, which may hold a key."""
    host = getattr(url, "host", None) or getattr(url, "hostname", None) or ""
    shown = f"[{host}]" if ":" in host else host
    is_usual = url.port in (None, {"http": 80, "https": 443}.get(url.scheme))
    return f"{url.scheme}://{shown}{'' if is_usual else f':{url.port}'}{url.path}"


def observe_response(observe: Callable[[Any, Exchange], None], response: Any, exchange: Exchange) -> None:
    """Nothing that goes wrong here reaches the host."""
    if active_runtime() is None:
        return
    try:
        observe(response, exchange)
    except Exception as fault:
        exchange.give_up(fault)
