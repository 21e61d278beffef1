"""Wraps a function so that its calls are recorded: sync or async, generators of both kinds."""

from __future__ import annotations

import asyncio
import functools
import inspect
import types
from collections.abc import AsyncGenerator, Coroutine, Generator
from typing import Any, Callable, Optional

from .host_value import is_a
from .recorded_call import CallPlan, RecordedCall, read_parameter_names
from .reporter import Reporter
from .runtime import active_runtime

_reporter = Reporter()
Begin = Callable[[Any, Any], Optional[RecordedCall]]


def wrap_function(fn: Any, plan: CallPlan) -> Any:
    """Keep what frameworks inspect: the function's name, its signature, whether it is async."""
    try:
        return _wrap(fn, plan)
    except Exception:
        # A callable object may raise whenever it is inspected.
        _reporter.once("inspect", f"{plan.name} is not recorded: it can't be inspected.")
        return fn


def _wrap(fn: Any, plan: CallPlan) -> Any:
    if is_a(fn, staticmethod) or is_a(fn, classmethod):
        return type(fn)(wrap_function(fn.__func__, plan))
    if is_a(fn, type) or not callable(fn):
        # This runs while the host's module is imported, so warn instead of raising.
        _reporter.once(
            "class", f"{plan.name} is not recorded: decorate functions, or the methods of a class."
        )
        return fn
    names = read_parameter_names(fn)

    def begin(args: Any, kwargs: Any) -> Optional[RecordedCall]:
        runtime = active_runtime()
        return None if runtime is None else RecordedCall.begin(runtime, plan, names, args, kwargs)

    if inspect.isasyncgenfunction(fn):
        return _wrap_async_generator(fn, begin)
    if inspect.isgeneratorfunction(fn):
        return _wrap_generator(fn, begin)
    if _is_async(fn):
        return _wrap_async(fn, begin)
    return _wrap_sync(fn, begin)


# What asyncio marks functions with that return coroutines. Its own test warns since 3.14 and is gone in 3.16.
_MARK = getattr(asyncio.coroutines, "_is_coroutine", None)


def _is_async(fn: Any) -> bool:
    if inspect.iscoroutinefunction(fn):
        return True
    return _MARK is not None and getattr(fn, "_is_coroutine", None) is _MARK


def _wrap_sync(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        call = begin(args, kwargs)
        if call is None:
            return fn(*args, **kwargs)
        served = call.ask_tape(fn)
        outer = call.enter()
        try:
            result = fn(*args, **kwargs) if served is None else served.in_shape()
        except BaseException as error:
            _settle(call, outer, error)
            raise
        call.leave(outer)
        return _observe(result, call)

    return recorded


def _observe(result: Any, call: RecordedCall) -> Any:
    """A sync function can still return an awaitable."""
    kind = type(result)
    if kind is types.CoroutineType:
        call.set_shape("promise")
        return _drive_coroutine(result, call)
    if kind is types.GeneratorType:
        call.set_shape("generator")
        return _drive_generator(result, call)
    if kind is types.AsyncGeneratorType:
        call.set_shape("async-generator")
        return _async_driver(lambda _args, _kwargs: (result, call))()
    if is_a(result, asyncio.Future):
        call.set_shape("promise")
        result.add_done_callback(lambda future: _settle_future(future, call))
        return result
    call.set_shape("value")
    call.returned(result)
    return result


def _settle_future(future: asyncio.Future[Any], call: RecordedCall) -> None:
    if future.cancelled():
        call.raised(asyncio.CancelledError())
        return
    # Retrieving the exception would suppress asyncio's "never retrieved" warning for the host.
    is_noted = getattr(future, "_log_traceback", None)
    error = future.exception()
    if is_noted:
        future._log_traceback = True  # type: ignore[assignment]
    if error is not None:
        call.raised(error)
    else:
        call.returned(future.result())


def _wrap_async(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(fn)
    async def recorded(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        call = begin(args, kwargs)
        if call is None:
            return await fn(*args, **kwargs)
        call.set_shape("promise")
        served = call.ask_tape(fn)
        return await _drive_coroutine(fn(*args, **kwargs) if served is None else served.coroutine(), call)

    return recorded


async def _drive_coroutine(coroutine: Coroutine[Any, Any, Any], call: RecordedCall) -> Any:
    __tracebackhide__ = True
    outer = call.enter()
    try:
        result = await coroutine
    except BaseException as error:
        _settle(call, outer, error)
        raise
    call.leave(outer)
    call.returned(result)
    return result


def _wrap_generator(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        call = begin(args, kwargs)
        if call is None:
            return (yield from fn(*args, **kwargs))
        call.set_shape("generator")
        served = call.ask_tape(fn)
        pieces = fn(*args, **kwargs) if served is None else served.generator()
        return (yield from _drive_generator(pieces, call))

    return recorded


def _drive_generator(generator: Generator[Any, Any, Any], call: RecordedCall) -> Generator[Any, Any, Any]:
    """Forward everything in both directions; only the body runs in the call's scope, not the consumer."""
    __tracebackhide__ = True
    sent: Any = None
    thrown: Optional[BaseException] = None
    while True:
        outer = call.enter()
        try:
            value = generator.send(sent) if thrown is None else generator.throw(thrown)
        except StopIteration as stop:
            call.leave(outer)
            call.returned(stop.value)
            return stop.value
        except BaseException as error:
            _settle(call, outer, error)
            raise
        call.leave(outer)
        call.yielded(value)
        sent, thrown = None, None
        try:
            sent = yield value
        except GeneratorExit:
            _close(generator, call)
            raise
        except BaseException as error:
            thrown = error


def _close(generator: Generator[Any, Any, Any], call: RecordedCall) -> None:
    outer = call.enter()
    try:
        generator.close()
    except BaseException as error:
        _settle(call, outer, error)
        raise
    _settle(call, outer)


def _wrap_async_generator(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def open_call(args: Any, kwargs: Any) -> tuple[AsyncGenerator[Any, Any], Optional[RecordedCall]]:
        call = begin(args, kwargs)
        if call is None:
            return fn(*args, **kwargs), None
        call.set_shape("async-generator")
        served = call.ask_tape(fn)
        return fn(*args, **kwargs) if served is None else served.async_generator(), call

    return functools.wraps(fn)(_async_driver(open_call))


def _async_driver(open_call: Callable[[Any, Any], Any]) -> Callable[..., AsyncGenerator[Any, Any]]:
    """An async generator function itself, because frameworks check for that."""

    async def recorded(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        __tracebackhide__ = True
        generator, call = open_call(args, kwargs)
        sent: Any = None
        thrown: Optional[BaseException] = None
        while True:
            outer = call and call.enter()
            try:
                value = await (generator.asend(sent) if thrown is None else generator.athrow(thrown))
            except StopAsyncIteration:
                _settle(call, outer)
                return
            except BaseException as error:
                _settle(call, outer, error)
                raise
            if call is not None:
                call.leave(outer)
                call.yielded(value)
            sent, thrown = None, None
            try:
                sent = yield value
            except GeneratorExit:
                await _close_async(generator, call)
                raise
            except BaseException as error:
                thrown = error

    return recorded


def _settle(call: Optional[RecordedCall], outer: Any, error: Optional[BaseException] = None) -> None:
    if call is None:
        return
    call.leave(outer)
    if error is None:
        call.returned(None)
    else:
        call.raised(error)


async def _close_async(generator: AsyncGenerator[Any, Any], call: Optional[RecordedCall]) -> None:
    outer = call and call.enter()
    try:
        await generator.aclose()
    except BaseException as error:
        _settle(call, outer, error)
        raise
    _settle(call, outer)
