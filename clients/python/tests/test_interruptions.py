"""What ends code from outside ends its session as Indeterminate, in every form; an error ends it as Fail."""

from __future__ import annotations

import asyncio
from typing import Any, Callable

import playhead
from playhead.runtime import obtain_runtime
from playhead.sessions import close_all_sessions

from .support import RecordingTest

CAUSES: list[tuple[type[BaseException], str, str]] = [
    (KeyboardInterrupt, "indeterminate", "Interrupted (KeyboardInterrupt)"),
    (asyncio.CancelledError, "indeterminate", "Cancelled (CancelledError)"),
    (ValueError, "fail", "ValueError"),
    (SystemExit, "success", ""),
]


def in_a_block(raised: BaseException) -> None:
    with playhead.session("block"):
        raise raised


def in_an_async_block(raised: BaseException) -> None:
    async def run() -> None:
        async with playhead.session("async block"):
            raise raised

    run_alone(run())


def in_an_action(raised: BaseException) -> None:
    @playhead.record_action("act")
    def act() -> None:
        raise raised

    act()


def in_an_async_action(raised: BaseException) -> None:
    @playhead.record_action("act later")
    async def act() -> None:
        raise raised

    run_alone(act())


def in_a_generator(raised: BaseException) -> None:
    @playhead.record_action("pieces")
    def pieces() -> Any:
        yield 1
        raise raised

    list(pieces())


def in_an_async_generator(raised: BaseException) -> None:
    @playhead.record_action("pieces later")
    async def pieces() -> Any:
        yield 1
        raise raised

    async def run() -> None:
        async for _ in pieces():
            pass

    run_alone(run())


def in_an_agent_of_a_block(raised: BaseException) -> None:
    @playhead.agent("agent")
    def agent() -> None:
        in_an_action(raised)

    with playhead.session("agent's block"):
        agent()


def at_the_end_of_the_process(raised: BaseException) -> None:
    playhead.start_session(name="flow")
    try:
        in_an_action(raised)
    except BaseException as error:
        if not isinstance(error, SystemExit):
            close_all_sessions(obtain_runtime(), "The process ended before the session did", error)
        else:
            playhead.end_session("Success")
        raise


def run_alone(coroutine: Any) -> None:
    """Without a loop, which would turn the cause into something else."""
    try:
        coroutine.send(None)
    except StopIteration:
        pass


FORMS: list[Callable[[BaseException], None]] = [
    in_a_block,
    in_an_async_block,
    in_an_action,
    in_an_async_action,
    in_a_generator,
    in_an_async_generator,
    in_an_agent_of_a_block,
    at_the_end_of_the_process,
]


class InterruptionTest(RecordingTest):
    def test_every_form_ends_alike(self) -> None:
        for kind, state, reason in CAUSES:
            for form in FORMS:
                # A step that is a session of its own has no code that exits with 0.
                if kind is SystemExit and form not in (in_a_block, in_an_async_block):
                    continue
                with self.subTest(form=form.__name__, cause=kind.__name__):
                    records: list[Any] = []
                    listeners = obtain_runtime().session_listeners
                    listeners.append(records.append)
                    with self.assertRaises(kind):
                        form(kind())
                    listeners.remove(records.append)
                    view = playhead.SessionView(obtain_runtime(), records[0])
                    self.assertEqual((view.end_state, view.end_state_reason or ""), (state, reason))
                    if kind is not SystemExit:
                        self.assertEqual([error.is_handled for error in view.errors], [False])

    def test_a_block_that_exits_with_a_code_has_failed(self) -> None:
        with self.assertRaises(SystemExit), playhead.session("exit") as view:
            raise SystemExit(3)
        self.assertEqual((view.end_state, view.end_state_reason), ("fail", "SystemExit: 3"))


class InitAgainTest(RecordingTest):
    def test_init_again_keeps_what_it_was_not_told_to_change(self) -> None:
        folder = self.folder()
        playhead.init(
            endpoint=False,
            dir=str(folder),
            tags=["kept"],
            capture_content=False,
            capture_llm=False,
            redact=["internal"],
            keep_sessions=3,
            service_name="shop",
            max_value_bytes=5000,
        )
        first = obtain_runtime().settings
        playhead.init()
        self.assertEqual(obtain_runtime().settings, first)
        playhead.init(tags=["other"], capture_content=True)
        settings = obtain_runtime().settings
        self.assertEqual(
            (settings.tags, settings.is_content_kept, settings.directory, settings.redact, settings.endpoint),
            (("other",), True, folder.resolve(), ("internal",), None),
        )
        playhead.shutdown()
        playhead.init(endpoint=False)
        self.assertEqual((obtain_runtime().settings.tags, obtain_runtime().settings.service_name), ((), None))
