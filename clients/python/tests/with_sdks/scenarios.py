"""Sessions of many kinds, for tests that compare how they are read."""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import Any, Callable

import anthropic
import openai

import playhead

CLAUDE = "claude-opus-4-1"
SCENARIOS: dict[str, Callable[[], None]] = {}


def scenario(run: Callable[[], None]) -> Callable[[], None]:
    SCENARIOS[run.__name__] = run
    return run


@playhead.record_action("look_up")
def look_up(customer: int = 4711) -> None:
    raise KeyError(f"no such customer {customer}")


@playhead.record_action("find_plan")
def find_plan() -> None:
    try:
        look_up()
    except KeyError as error:
        raise ValueError("lookup failed") from error


@playhead.record_action("save", effect="write")
def save(a: Any, b: Any = 2) -> dict[str, Any]:
    return {"a": a, "b": [b, None, 1.5]}


@playhead.agent("worker")
def worker(question: Any) -> None:
    look_up()


def ask(text: str, **options: Any) -> Any:
    settings = {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **options}
    return openai.OpenAI(max_retries=0).chat.completions.create(**settings)


def ask_claude(messages: list[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return anthropic.Anthropic().messages.create(model=CLAUDE, max_tokens=50, messages=messages)


def reply(**told: Any) -> str:
    return f"reply:{json.dumps(told)}"


@scenario
def an_error_raised_from_another() -> None:
    with playhead.session("raise from"):
        find_plan()


@scenario
def an_error_that_the_session_survives() -> None:
    with playhead.session("survives"):
        try:
            find_plan()
        except ValueError:
            pass
        save(1)


@scenario
def an_error_that_an_action_handles() -> None:
    @playhead.record_action("tolerant")
    def tolerant() -> str:
        try:
            look_up()
        except KeyError:
            pass
        return "fallback"

    metadata = {"x": 1, "empty": "", "none": None, "list": [], "session_id": "s-1", "nested": {"y": None}}
    with playhead.session("facts", tags=["a", "b"], metadata=metadata, user_id="u", input={"q": "x"}):
        tolerant()


@scenario
def an_agent_that_fails_and_is_caught() -> None:
    with playhead.session("caught"):
        try:
            worker("x")
        except KeyError:
            pass


@scenario
def an_agent_that_fails_before_nobody_says_how_it_ended() -> None:
    playhead.start_session(name="unsaid")
    try:
        worker({"question": "what?"})
    except KeyError:
        pass
    playhead.end_session("Indeterminate")


@scenario
def an_agent_that_fails_with_an_error_of_its_own() -> None:
    @playhead.agent("boss")
    def boss() -> None:
        try:
            look_up()
        except KeyError:
            pass
        raise RuntimeError("another thing")

    with playhead.session("other error"):
        boss()


@scenario
def the_same_error_twice() -> None:
    with playhead.session("twice"):
        for _ in range(2):
            try:
                look_up()
            except KeyError:
                pass


@scenario
def a_part_that_fails() -> None:
    with playhead.session("whole"):
        try:
            with playhead.session("part"):
                look_up()
        except KeyError:
            pass
        save(2)


@scenario
def an_exit() -> None:
    @playhead.record_action("busy")
    def busy() -> None:
        raise SystemExit(3)

    with playhead.session("exit"):
        busy()


@scenario
def a_cancelled_task() -> None:
    @playhead.record_action("slow")
    async def slow() -> None:
        await asyncio.sleep(10)

    async def run() -> None:
        async with playhead.session("cancelled"):
            task = asyncio.ensure_future(slow())
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass

    asyncio.run(run())


@scenario
def results_of_every_kind() -> None:
    with playhead.session("results"):
        for name, value in {
            "none": None,
            "number": 2.0,
            "flag": True,
            "json": '{"a": 1}',
            "word": "null",
            "empty": "",
            "blocks": [{"type": "text", "text": "hello"}],
            "failure": {"error": "not found"},
            "exit": {"exit_code": 2, "stderr": "no\nmore"},
            "mcp": {"isError": True, "content": [{"type": "text", "text": "broken"}]},
        }.items():
            playhead.record_tool(name, description="returns it")(lambda value=value: value)()


@scenario
def texts_that_are_long_or_hidden() -> None:
    with playhead.session("texts"):
        save("😀" * 150, b="x" * 300)
        save("line\n  another\t one", b={"k": [1, {"a": {"b": {"c": {"d": {"e": 1}}}}}]})
        save({"password": "hunter2xyz"}, b="sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")


@scenario
def pieces() -> None:
    @playhead.record_action("letters")
    def letters() -> Any:
        yield "a"
        yield "b"

    with playhead.session("pieces"):
        list(letters())


@scenario
def agents_without_a_session() -> None:
    @playhead.agent("researcher")
    def research(question: str) -> str:
        save(question)
        return "found"

    playhead.agent("boss")(research)("what is it")


@scenario
def an_action_without_a_session() -> None:
    save(5)


@scenario
def a_session_without_a_name() -> None:
    with playhead.session():
        save(1)


@scenario
def an_end_with_a_reason() -> None:
    playhead.start_session(tags=["x"])
    save(1)
    playhead.end_session("Fail", "ValueError: it went wrong")


@scenario
def events() -> None:
    with playhead.session("events"):
        playhead.record(playhead.ActionEvent("session_complete", params={"intent": "x"}, returns={"n": 3}))
        playhead.record(playhead.ToolEvent("t", params=[1, 2], returns="text", call_id="c1"))
        playhead.record(playhead.LLMEvent("gpt-4o", "hello", "bye", prompt_tokens=10, completion_tokens=5))
        playhead.record(playhead.LLMEvent("my-own", "q", {"a": 1}, usage={"input": 3, "output": 4}))
        playhead.record(playhead.LLMEvent("", "q", prompt_tokens=3))
        playhead.record(playhead.LLMEvent("gpt-4o", "q", prompt_tokens=3))
        playhead.record(playhead.LLMEvent("gpt-4o", "q", cost=0.5, error=ValueError("nope")))
        call = {"id": "c1", "function": {"name": "f", "arguments": '{"a":1}'}}
        messages = [
            {"role": "system", "content": "be nice"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
        ]
        playhead.record(playhead.LLMEvent(CLAUDE, messages, "done", usage={"input": 3, "cache_read": 1}))
        playhead.record(playhead.ErrorEvent(exception=ValueError("boom")))
        playhead.record(playhead.ErrorEvent(error_type="Odd", message="weird"))


@scenario
def a_model_call() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/y.png"}}
    with playhead.session():
        ask(
            "I was charged",
            messages=[{"role": "user", "content": [{"type": "text", "text": "look"}, image]}],
            temperature=0.5,
            stop=["x"],
            max_completion_tokens=5,
            response_format={"type": "json_object"},
        )


@scenario
def a_model_call_without_a_session() -> None:
    ask("I was charged twice, and this is a long question " * 5)


@scenario
def streams_with_and_without_usage() -> None:
    with playhead.session("streams"):
        list(ask("hello", stream=True, stream_options={"include_usage": True}))
        list(ask("hello", stream=True))


@scenario
def a_model_that_fails_and_then_does_not() -> None:
    with playhead.session("retry"):
        try:
            ask(reply(error={"status": 500, "message": "internal problem"}))
        except openai.APIError:
            pass
        ask("hello")


@scenario
def a_model_that_fails_inside_an_action() -> None:
    with playhead.session("model error"):
        playhead.record_action("ask")(ask)(reply(error={"status": 400, "message": "bad thing here"}))


@scenario
def tools_that_nobody_recorded() -> None:
    calls = [
        {"name": "get_weather", "arguments": {"city": "Oslo"}},
        {"name": "recorded_tool", "arguments": {"x": 1}},
    ]
    messages: list[Any] = [{"role": "user", "content": reply(toolCalls=calls)}]
    tool = {"name": "get_weather", "description": "d", "parameters": {"type": "object", "properties": {}}}
    with playhead.session("inferred"):
        message = (
            ask("", messages=messages, tools=[{"type": "function", "function": tool}]).choices[0].message
        )
        playhead.record_tool("recorded_tool")(lambda x: "ok")(x=1)
        messages.append(message)
        for call in message.tool_calls:
            text = "ok" if call.function.name == "recorded_tool" else '{"error":"no such city"}'
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        ask("", messages=[*messages, {"role": "user", "content": "go on"}])


@scenario
def tools_of_claude() -> None:
    told = reply(toolCalls=[{"name": "get_weather", "arguments": {"city": "Oslo"}}])
    messages: list[Any] = [{"role": "user", "content": told}]
    with playhead.session("claude"):
        answer = ask_claude(messages)
        result = {"type": "tool_result", "tool_use_id": answer.content[0].id, "content": "sunny"}
        messages.append({"role": "assistant", "content": answer.content})
        ask_claude([*messages, {"role": "user", "content": [result, {"type": "text", "text": "and now?"}]}])


@scenario
def other_apis() -> None:
    client = openai.OpenAI(max_retries=0)
    with playhead.session("apis"):
        client.responses.create(model="gpt-4o", input="I was charged", instructions="one word")
        client.embeddings.create(model="text-embedding-3-small", input=["a", "b"])
