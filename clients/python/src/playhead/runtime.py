"""Everything that records in this process. There is one instance, however often `init` is called."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Optional

from .deliver.delivery import Delivery
from .deliver.recording_files import RecordingFiles
from .deliver.running_steps import RunningSteps
from .deliver.send import Target
from .deliver.worker import Worker
from .exit_hooks import ExitHooks
from .headers import scope_from_headers
from .reading.session_json import read_session
from .redaction.redact import Redactor
from .reporter import Reporter
from .scope import Scope, SessionFrame, current_scope, open_frame_of, settle
from .serialize import Serialized, SerializeOptions, serialize_value
from .session_record import SessionRecord
from .session_store import SessionStore
from .settings import Settings
from .span import Span
from .version import VERSION


class Runtime:
    def __init__(self) -> None:
        self.is_on: bool = False
        # What `init` was told so far, since the start or the last `shutdown`.
        self.options: dict[str, Any] = {}
        self.settings: Settings = Settings()
        self.reporter: Reporter = Reporter()
        self.store: SessionStore = SessionStore()
        self.redactor: Redactor = Redactor()
        self.serialize_options: SerializeOptions = SerializeOptions(
            1_048_576, True, self.redactor.is_secret_key
        )
        # Open sessions and parts; those of one thread in start order.
        self.open_frames: dict[int, SessionFrame] = {}
        self.frame_count: int = 0
        self.fault_count: int = 0
        self.last_fault: str = ""
        # Notified of every session that starts in this process.
        self.session_listeners: list[Callable[[SessionRecord], None]] = []
        self.captured_calls: int = 0
        self.failed_captures: int = 0
        self._exit_hooks = ExitHooks(self)
        self.worker: Worker = Worker(self.fault)
        self.delivery: Delivery = Delivery(self.worker, self.reporter)
        self.running_steps: RunningSteps = RunningSteps(self.worker, self.store, self.delivery.announce)
        self.recordings: RecordingFiles = RecordingFiles(self.worker, self.reporter, self.read)
        # The parent process's session, if it passed one in the environment.
        self.inherited: Optional[Scope] = None
        if hasattr(os, "register_at_fork"):
            hooks = self._exit_hooks
            os.register_at_fork(
                before=hooks.hold_signals,
                after_in_parent=hooks.release_signals,
                after_in_child=self._after_fork,
            )

    def configure(self, settings: Settings) -> None:
        """Apply settings; every `init` calls this."""
        self.settings = settings
        self.reporter.is_silent = settings.is_silent
        for problem in settings.problems:
            self.reporter.once(problem, problem)
        self.redactor = Redactor(settings.redact)
        self.serialize_options = SerializeOptions(
            settings.max_value_bytes, settings.is_content_kept, self.redactor.is_secret_key
        )
        self.store.kept_sessions = settings.kept_sessions
        self.recordings.folder = settings.directory
        target = None if settings.endpoint is None else Target(settings.endpoint, settings.api_key)
        self.delivery.configure(target, settings.spool, self.redactor, describe_process(settings))
        self.inherited = scope_from_headers(os.environ.get("TRACEPARENT"), os.environ.get("BAGGAGE"))
        self.is_on = True
        self._exit_hooks.install()

    def stop(self, timeout_s: float) -> bool:
        from .sessions import close_all_sessions

        close_all_sessions(self, "Recording was shut down")
        is_delivered = self.drain(timeout_s)
        self.is_on = False
        self.options.clear()
        return is_delivered

    def drain(self, timeout_s: float) -> bool:
        self.recordings.flush()
        return self.delivery.flush(timeout_s)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Wraps our own code: its failures are counted and never reach the host."""
        try:
            yield
        except Exception as fault:
            self.fault(fault)

    def fault(self, fault: BaseException) -> None:
        self.fault_count += 1
        text = "".join(traceback.format_exception(type(fault), fault, fault.__traceback__))
        self.last_fault = text
        self.reporter.once(
            "fault",
            "Playhead hit an internal error; the recording may be incomplete. Please report it.\n" + text,
        )

    def serialize(self, value: Any) -> Serialized:
        return serialize_value(value, self.serialize_options)

    def place(self) -> Optional[Scope]:
        """The parent of a new step. Outside any session, that is the parent process's session, if any."""
        return settle(current_scope.get()) or self.inherited

    def session_started(self, record: SessionRecord) -> None:
        for listener in self.session_listeners:
            listener(record)

    def step_started(self, span: Span, record: SessionRecord) -> None:
        if self._exit_hooks.is_child_unprepared:
            self._exit_hooks.prepare_child()
        record.start(span)
        self.store.note_open(record)
        self.running_steps.on_step_start()
        self.recordings.note(record)

    def step_ended(self, span: Span, record: SessionRecord) -> None:
        record.end(span)
        self.delivery.on_step_end(span, record)
        if not record.open:
            self.store.settle(record)
        self.recordings.note(record)

    def current_frame(self) -> Optional[SessionFrame]:
        return open_frame_of(current_scope.get())

    def frame_here(self) -> Optional[SessionFrame]:
        """The open session of this code; where it never was in any, the only one that is open in this
        process.

        That is one that was started in a flow that this one is not part of, as in an async fixture of a test.
        """
        scope = current_scope.get()
        if scope is not None:
            return open_frame_of(scope)
        flows = [frame for frame in list(self.open_frames.values()) if frame.reach == "flow"]
        return flows[0] if len(flows) == 1 else None

    def read(self, record: SessionRecord) -> dict[str, Any]:
        """The session in the recording format."""
        return read_session(record, self.redactor, self.delivery.resource)

    def url_of(self, record: SessionRecord, step_id: Optional[str] = None) -> str:
        endpoint = self.settings.endpoint
        if endpoint is None:
            path = self.recordings.path_of(record)
            return "" if path is None else path.as_uri()
        return f"{endpoint}/sessions/{record.id}" + ("" if step_id is None else f"?step={step_id}")

    def _after_fork(self) -> None:
        """What the other process started is its own; what this one records is a part of it."""
        self.worker.forget()
        self.delivery.forget()
        self.recordings.forget()
        records: dict[int, SessionRecord] = {}
        for record in self.store.forget_open():
            for span in record.open.values():
                span.is_foreign = True
        for frame in self.open_frames.values():
            frame.is_foreign = True
            frame.record = records.setdefault(id(frame.record), SessionRecord(frame.record.id))
        self.open_frames.clear()
        if self.is_on:
            self._exit_hooks.watch_bare_exit()
        self.begin_child()

    def begin_child(self) -> None:
        with self.guard():
            self._exit_hooks.begin_child()
        self._exit_hooks.release_signals()


def describe_process(settings: Settings) -> dict[str, Any]:
    described: dict[str, Any] = {
        "service.name": _program_name(),
        "telemetry.sdk.name": "playhead",
        "telemetry.sdk.language": "python",
        "telemetry.sdk.version": VERSION,
        "process.pid": os.getpid(),
        **settings.resource,
    }
    if settings.service_name is not None:
        described["service.name"] = settings.service_name
    if settings.environment is not None:
        described["deployment.environment.name"] = settings.environment
    return described


def _program_name() -> str:
    """The script's name without directory and extension."""
    script = Path(sys.argv[0]) if sys.argv and sys.argv[0] else None
    if script is None:
        return "python"
    return script.parent.name if script.name == "__main__.py" else script.stem or "python"


_runtime: Optional[Runtime] = None


def known_runtime() -> Optional[Runtime]:
    return _runtime


def active_runtime() -> Optional[Runtime]:
    """None before `init` and after `shutdown`."""
    return _runtime if _runtime is not None and _runtime.is_on else None


def obtain_runtime() -> Runtime:
    global _runtime
    if _runtime is None:
        _runtime = Runtime()
    return _runtime


_unheard = Reporter()


def require_runtime(function: str) -> Optional[Runtime]:
    runtime = active_runtime()
    if runtime is None:
        _unheard.once(
            function,
            f"{function}() was called before init(): nothing is recorded. Call playhead.init() first.",
        )
    return runtime
