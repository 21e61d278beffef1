"""Records one call to a model as it passes by. It never raises into the host."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from functools import wraps
from typing import Any, Callable, NamedTuple, Optional

from ..runtime import Runtime
from ..span import KIND_CLIENT, STATUS_ERROR
from ..steps import end_step, note_interruption, start_step
from .content_writer import ContentWriter
from .conversations import Conversations
from .event_stream import BodyDecoder, EventStream, StreamLog
from .json_value import JsonObject, parse_json
from .model_api import ModelApi, ModelRequest, ModelResponse, ProviderError, provider_error

# Reading longer bodies would cost the host too much.
MAX_WHOLE_BYTES = 32 * 1024 * 1024
_VECTOR = re.compile(rb"\[[-+0-9.eE,\s]{256,}\]")
_ENCODED_VECTOR = re.compile(rb'"embedding":\s*"[A-Za-z0-9+/=]{256,}"')


_conversations = Conversations()


class Address(NamedTuple):
    host: str
    port: int
    provider: str
    # From 0, where the SDK reports it.
    retries: Optional[int]


def _guarded(method: Callable[..., None]) -> Callable[..., None]:
    @wraps(method)
    def guarded(self: ObservedCall, *args: Any, **kwargs: Any) -> None:
        if self.is_over:
            return
        try:
            method(self, *args, **kwargs)
        except Exception as fault:
            self.give_up(fault)

    return guarded


class ObservedCall:
    def __init__(self, runtime: Runtime, api: ModelApi, request: ModelRequest, address: Address) -> None:
        settings = runtime.settings
        self.is_over: bool = False
        self._runtime = runtime
        self._api = api
        self._request = request
        self._is_stream = request.is_stream
        self._started = time.perf_counter()
        self._assembler = api.create_assembler()
        self._writer = ContentWriter(settings.is_content_kept, runtime.redactor, settings.max_value_bytes)
        self._log = StreamLog()
        self._first_token_ms: Optional[float] = None
        self._status = 0
        self._events: Optional[EventStream] = None
        self._is_json_lines = False
        self._decoder = BodyDecoder(None)
        self._body: list[bytes] = []
        self._body_bytes = 0
        model = request.model
        name = request.operation if model is None else f"{request.operation} {model}"
        self._step = start_step(runtime, name, self._request_attributes(request, address), kind=KIND_CLIENT)
        self._attributes = self._step.span.attributes
        # A step with a frame is outside of any session.
        continued = None if self._step.frame is None else _conversations.find(request)
        if continued is not None:
            self._attributes["playhead.continues"] = continued

    def set_source(self, source: str) -> None:
        """Whether the answer comes from a cassette: `tape` or `live`."""
        self._attributes["playhead.step.source"] = source

    @_guarded
    def response_began(self, status: int, headers: Mapping[str, str]) -> None:
        self._status = status
        self._attributes["http.response.status_code"] = status
        request_id = headers.get("x-request-id") or headers.get("request-id")
        if request_id is not None:
            self._attributes["http.response.header.x-request-id"] = [request_id]
        if status >= 400 and headers.get("retry-after") is not None:
            self._attributes["http.response.header.retry-after"] = [headers["retry-after"]]
        content_type = (headers.get("content-type") or "").split(";", 1)[0].strip().lower()
        self._is_json_lines = content_type in ("application/x-ndjson", "application/jsonl")
        if status < 300 and (content_type == "text/event-stream" or self._is_stream):
            self._events = EventStream(self._is_json_lines)
        self._decoder = BodyDecoder(headers.get("content-encoding"))

    @_guarded
    def received(self, chunk: bytes) -> None:
        """A chunk of the body, still encoded."""
        if not self._decoder.is_readable or not chunk:
            return
        self._add(self._decoder.decode(chunk))

    @_guarded
    def received_decoded(self, chunk: bytes) -> None:
        """A chunk of the body that the client has decoded."""
        if chunk:
            self._add(chunk)

    @_guarded
    def received_whole(self, content: bytes) -> None:
        """The whole body, decoded."""
        self._decoder = BodyDecoder(None)
        self._add(content)

    @_guarded
    def ended(self) -> None:
        if self._events is not None:
            for data in self._events.add(b"", is_final=True):
                self._add_event(data)
        if not self.is_over:
            self._finish(None)

    @_guarded
    def failed(self, error: BaseException) -> None:
        self._finish(error)

    @_guarded
    def closed(self) -> None:
        """A host that stops reading a stream early has not failed."""
        self._finish(None)

    def give_up(self, fault: Exception) -> None:
        self.is_over = True
        self._runtime.failed_captures += 1
        self._runtime.fault(fault)
        with self._runtime.guard():
            end_step(self._runtime, self._step)

    def _request_attributes(self, request: ModelRequest, address: Address) -> dict[str, Any]:
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": request.operation,
            "gen_ai.provider.name": address.provider,
        }
        if request.model is not None:
            attributes["gen_ai.request.model"] = request.model
        attributes.update(self._writer.parameters(request.attributes))
        attributes["server.address"] = address.host
        attributes["server.port"] = address.port
        if address.retries is not None:
            attributes["playhead.step.attempt"] = address.retries + 1
            if address.retries > 0:
                attributes["http.request.resend_count"] = address.retries
        if request.system:
            attributes["gen_ai.system_instructions"] = self._writer.parts(request.system)
        if request.messages:
            attributes["gen_ai.input.messages"] = self._writer.messages(request.messages)
        if request.tools:
            attributes["gen_ai.tool.definitions"] = self._writer.tools(request.tools)
        return attributes

    def _add(self, decoded: bytes) -> None:
        if self._events is not None and not self._body:
            is_body = self._body_bytes == 0 and decoded.lstrip()[:1] in (b"{", b"[")
            if is_body and not self._is_json_lines:
                # The request asked for a stream, but the response is a single body.
                self._events = None
            else:
                self._body_bytes += len(decoded)
                for data in self._events.add(decoded):
                    self._add_event(data)
                return
        self._body_bytes += len(decoded)
        if self._body_bytes <= MAX_WHOLE_BYTES:
            self._body.append(decoded)

    def _add_event(self, data: str) -> None:
        if self.is_over:
            return
        if data == "[DONE]":
            self._finish(None)
            return
        event = parse_json(data)
        if not isinstance(event, dict):
            return
        delta = self._assembler.add(event)
        at_ms = (time.perf_counter() - self._started) * 1000
        if delta.is_token and self._first_token_ms is None:
            self._first_token_ms = at_ms
        if delta.text:
            self._log.add(at_ms, delta.text)
        if delta.is_last:
            self._finish(None)

    def _finish(self, error: Optional[BaseException]) -> None:
        self.is_over = True
        failure = self._failure() if self._status >= 300 else self._complete(error)
        if failure is not None:
            span = self._step.span
            self._attributes["error.type"] = failure.type or "error"
            span.status_code = STATUS_ERROR
            is_kept = self._runtime.settings.is_content_kept
            # A provider's error message may quote the request.
            span.status_message = self._writer.text(failure.message) if is_kept else ""
        if error is not None:
            note_interruption(self._step, error)
        if self._writer.is_cut:
            self._attributes["playhead.truncated"] = True
        self._runtime.captured_calls += 1
        end_step(self._runtime, self._step)

    def _failure(self) -> Optional[ProviderError]:
        if self._status < 400:
            return None
        body = b"".join(self._body)
        said = provider_error(parse_json(body))
        message = body[:1000].decode("utf-8", "replace") if said is None else said.message
        return ProviderError((said.type if said is not None else "") or str(self._status), message)

    def _complete(self, error: Optional[BaseException]) -> Optional[ProviderError]:
        is_streamed = self._events is not None
        body = self._read_body(is_streamed)
        response = None if body is None else self._api.read_response(body)
        has_finished = response is not None and bool(response.finish_reasons)
        if body is not None and response is not None:
            self._write_response(response)
            if self._step.frame is not None:
                _conversations.remember(self._step.span, self._request, response)
            self._keep_body(body)
        if is_streamed and self._status > 0:
            self._write_stream(is_aborted=not has_finished and (response is None or response.error is None))
        if error is not None and not has_finished:
            return ProviderError(type(error).__name__, str(error))
        if response is None and error is None and self._decoder.is_readable:
            return ProviderError("malformed_response", "The response is not JSON.")
        return None if response is None else response.error

    def _read_body(self, is_streamed: bool) -> Optional[JsonObject]:
        if is_streamed:
            return self._assembler.response()
        body = b"".join(self._body)
        if b'"embedding' in body:
            body = _ENCODED_VECTOR.sub(b'"embedding":""', _VECTOR.sub(b"[]", body))
        parsed = parse_json(body)
        if not isinstance(parsed, list):
            return parsed if isinstance(parsed, dict) else None
        # Gemini streams a JSON list if the request does not ask for events.
        for event in parsed:
            if isinstance(event, dict):
                self._assembler.add(event)
        return self._assembler.response()

    def _write_response(self, response: ModelResponse) -> None:
        attributes = self._attributes
        if response.id is not None:
            attributes["gen_ai.response.id"] = response.id
        if response.model is not None:
            attributes["gen_ai.response.model"] = response.model
        if response.finish_reasons:
            attributes["gen_ai.response.finish_reasons"] = response.finish_reasons
        attributes.update(response.usage)
        attributes.update(response.attributes)
        if response.messages:
            attributes["gen_ai.output.messages"] = self._writer.messages(response.messages)

    def _keep_body(self, body: JsonObject) -> None:
        """A later run is answered with it. Embeddings without their vectors are of no use to it."""
        kept = self._writer.response(body) if self._status > 0 and "embedding" not in self._api.name else None
        if kept is not None:
            self._attributes["playhead.response"] = kept

    def _write_stream(self, is_aborted: bool) -> None:
        settings, attributes = self._runtime.settings, self._attributes
        if settings.is_content_kept:
            text = self._runtime.redactor.text(self._log.text, "text")
            chunks, is_cut = self._log.to_json(text, settings.max_value_bytes)
            self._writer.is_cut = self._writer.is_cut or is_cut
        else:
            chunks = self._log.to_times()
        if self._first_token_ms is not None:
            attributes["gen_ai.response.time_to_first_chunk"] = self._first_token_ms / 1000
        if chunks is not None:
            attributes["playhead.stream.chunks"] = chunks
        if is_aborted:
            attributes["playhead.stream.aborted"] = True
