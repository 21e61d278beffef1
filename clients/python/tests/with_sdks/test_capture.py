"""The real SDKs of OpenAI and Anthropic against a model server: nothing but `init` is needed."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import anthropic
import httpx
import openai
import pytest

import playhead

from ..playing import fresh as fresh
from ..support import ENDPOINT, MODEL, fetch, fetch_session, outline

CLAUDE = "claude-sonnet-4-6"


def told(**reply: Any) -> list[dict[str, str]]:
    """Messages that tell the model what to answer."""
    return [{"role": "user", "content": f"reply:{json.dumps(reply)}"}]


def only_call(session: Any) -> Any:
    (call,) = session.llm_calls
    return call


def answer_of(call: Any) -> Any:
    return [message for message in call.messages if "isOutput" in message]


def ask_openai(stream: bool, **reply: Any) -> str:
    client = openai.OpenAI()
    if not stream:
        return (
            client.chat.completions.create(model="gpt-4o", messages=told(**reply)).choices[0].message.content
        )
    options = {"include_usage": True}
    chunks = client.chat.completions.create(
        model="gpt-4o", messages=told(**reply), stream=True, stream_options=options
    )
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def ask_responses(stream: bool, **reply: Any) -> str:
    client = openai.OpenAI()
    given = told(**reply)[0]["content"]
    if not stream:
        return client.responses.create(model="gpt-4o", input=given).output_text
    events = client.responses.create(model="gpt-4o", input=given, stream=True)
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def ask_anthropic(stream: bool, **reply: Any) -> str:
    client = anthropic.Anthropic()
    if not stream:
        return client.messages.create(model=CLAUDE, max_tokens=99, messages=told(**reply)).content[0].text
    with client.messages.stream(model=CLAUDE, max_tokens=99, messages=told(**reply)) as events:
        return "".join(events.text_stream)


def ask_openai_async(stream: bool, **reply: Any) -> str:
    async def ask() -> str:
        async with openai.AsyncOpenAI() as client:
            if not stream:
                answer = await client.chat.completions.create(model="gpt-4o", messages=told(**reply))
                return answer.choices[0].message.content
            chunks = await client.chat.completions.create(
                model="gpt-4o", messages=told(**reply), stream=True, stream_options={"include_usage": True}
            )
            return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])

    return asyncio.run(ask())


def ask_anthropic_async(stream: bool, **reply: Any) -> str:
    async def ask() -> str:
        async with anthropic.AsyncAnthropic() as client:
            if not stream:
                answer = await client.messages.create(model=CLAUDE, max_tokens=99, messages=told(**reply))
                return answer.content[0].text
            async with client.messages.stream(model=CLAUDE, max_tokens=99, messages=told(**reply)) as events:
                return "".join([text async for text in events.text_stream])

    return asyncio.run(ask())


WAYS = [ask_openai, ask_responses, ask_anthropic, ask_openai_async, ask_anthropic_async]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("ask", WAYS, ids=[way.__name__ for way in WAYS])
def test_a_call_is_recorded_with_its_words_tokens_and_cost(ask: Any, stream: bool) -> None:
    usage = {"input": 3000, "output": 500, "cacheRead": 1000}
    with playhead.session() as session:
        assert ask(stream, text="Hello you there", usage=usage) == "Hello you there"
    call = only_call(session)
    is_openai = "anthropic" not in ask.__name__
    assert (call.status, call.provider) == ("ok", "openai" if is_openai else "anthropic")
    assert call.model == ("gpt-4o" if is_openai else CLAUDE)
    assert call.usage == {"input": 3000, "output": 500, "cacheRead": 1000, "total": 3500}
    # Dollars a million: 2.50, from the cache 1.25, out 10; Claude 3, 0.30, 15.
    assert session.cost == pytest.approx(0.01125 if is_openai else 0.0138)
    (answer,) = answer_of(call)
    assert answer["parts"] == [{"type": "text", "text": "Hello you there"}]
    assert (call.first_token_ms is not None) == stream
    if stream:
        assert "".join(text for _, text in call.chunks) == "Hello you there"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("stream", [False, True])
def test_what_is_compressed_and_torn_apart_is_read_all_the_same(encoding: str, stream: bool) -> None:
    with playhead.session() as session:
        assert (
            ask_openai(stream, text="Grüße 🎉 an alle", encoding=encoding, sliceBytes=7) == "Grüße 🎉 an alle"
        )
    (answer,) = answer_of(only_call(session))
    assert answer["parts"][0]["text"] == "Grüße 🎉 an alle"


@pytest.mark.parametrize("stream", [False, True])
def test_tool_calls_are_recorded_with_their_arguments(stream: bool) -> None:
    tools: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]
    reply = told(toolCalls=[{"name": "get_weather", "arguments": {"city": "Ulm"}, "id": "call_1"}])
    with playhead.session() as session:
        answer = openai.OpenAI().chat.completions.create(
            model="gpt-4o", messages=reply, tools=tools, stream=stream
        )
        if stream:
            list(answer)
    (message,) = answer_of(only_call(session))
    expected = {"type": "tool-call", "id": "call_1", "name": "get_weather", "arguments": {"city": "Ulm"}}
    assert message["parts"] == [expected]
    assert only_call(session).finish_reasons == ["tool_call"]


def test_every_attempt_is_a_step_and_the_hosts_error_is_its_own() -> None:
    client = openai.OpenAI(max_retries=1)
    error = {"status": 429, "message": "Slow down.", "retryAfterSeconds": 0}
    with playhead.session() as session, pytest.raises(openai.RateLimitError) as raised:
        client.chat.completions.create(model="gpt-4o", messages=told(error=error))
    assert raised.value.status_code == 429
    assert [(call.attempt, call.status, call.error.message) for call in session.llm_calls] == [
        (1, "error", "Slow down."),
        (2, "error", "Slow down."),
    ]


def test_an_error_that_an_action_passes_on_has_one_owner() -> None:
    @playhead.record_action("classify_intent")
    def classify() -> None:
        error = {"status": 400, "message": "The model is not available here."}
        openai.OpenAI(max_retries=0).chat.completions.create(model="gpt-4o", messages=told(error=error))

    with playhead.session() as session, pytest.raises(openai.BadRequestError):
        classify()
    assert [error.step.kind for error in session.errors] == ["llm"]


def test_a_server_that_is_not_there_is_an_error_of_the_step() -> None:
    client = openai.OpenAI(base_url="http://127.0.0.1:9/v1", max_retries=0)
    with playhead.session() as session, pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model="gpt-4o", messages=told(text="x"))
    assert only_call(session).error.type == "ConnectError"


def test_a_stream_that_the_host_stops_reading_is_no_failure_and_one_that_breaks_is() -> None:
    client = openai.OpenAI(max_retries=0)
    with playhead.session() as session:
        stream = client.chat.completions.create(
            model="gpt-4o", messages=told(text="a b c d e f"), stream=True
        )
        next(iter(stream))
        stream.close()
        with pytest.raises(openai.APIError):
            list(
                client.chat.completions.create(
                    model="gpt-4o", messages=told(text="a b c", cutAfterEvents=2), stream=True
                )
            )
    stopped, broken = session.llm_calls
    assert (stopped.status, stopped.attributes["playhead.stream.aborted"]) == ("ok", True)
    assert (broken.status, broken.attributes["playhead.stream.aborted"]) == ("error", True)


def test_thinking_and_reasoning_are_parts_of_the_answer() -> None:
    usage = {"input": 10, "output": 60, "reasoning": 40}
    with playhead.session() as session:
        ask_anthropic(True, text="Four.", reasoning="Two and two.", usage=usage)
        ask_openai(False, text="Four.", reasoning="Two and two.", usage=usage)
    for call in session.llm_calls:
        kinds = [part["type"] for part in answer_of(call)[0]["parts"]]
        assert kinds == ["reasoning", "text"]
    assert session.llm_calls[1].usage["reasoning"] == 40


def test_clients_of_the_older_httpx_are_seen_too() -> None:
    messages = told(text="Hello", usage={"input": 1000, "output": 100})
    with playhead.session() as session:
        with openai.OpenAI(http_client=httpx.Client()) as client:
            client.chat.completions.create(model="gpt-4o", messages=messages)
        body = {"model": "gpt-4o", "messages": messages}
        with httpx.stream("POST", f"{MODEL}/v1/chat/completions", json={**body, "stream": True}) as response:
            response.read()
    assert [answer_of(call)[0]["parts"][0]["text"] for call in session.llm_calls] == ["Hello", "Hello"]


def test_embeddings_are_recorded_without_their_vectors() -> None:
    with playhead.session() as session:
        openai.OpenAI().embeddings.create(model="text-embedding-3-small", input=["one", "two"])
    (step,) = [step for step in session.steps if step.kind == "embedding"]
    assert (step.status, step.model, step.cost is not None) == ("ok", "text-embedding-3-small", True)
    assert "embedding" not in json.dumps(step.messages)


def test_calls_belong_to_the_step_around_them_and_outside_are_sessions() -> None:
    @playhead.record_action("classify_intent")
    def classify() -> str:
        return ask_openai(False, text="billing")

    with playhead.session() as session:
        classify()
    assert outline(session.steps) == ["workflow session", "  action classify_intent", "    llm gpt-4o"]
    before = playhead.stats()["captured_calls"]
    ask_openai(False, text="alone")
    assert playhead.stats()["captured_calls"] == before + 1


def test_sessions_in_threads_each_have_their_own_calls() -> None:
    client = openai.OpenAI()
    found: dict[str, list[str]] = {}

    def run(name: str) -> None:
        playhead.start_session(tags=[name])
        for number in range(3):
            client.chat.completions.create(model="gpt-4o", messages=told(text=f"{name}{number}"))
        playhead.end_session("Success")
        calls = playhead.get_session().llm_calls
        found[name] = [answer_of(call)[0]["parts"][0]["text"] for call in calls]

    threads = [threading.Thread(target=run, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [f"{name}{number}" for number in range(3)] for name in "abcd"}


def test_keys_are_never_recorded_and_content_only_where_it_is_wanted() -> None:
    with playhead.session() as session:
        openai.OpenAI(api_key="sk-verysecretverysecret").chat.completions.create(
            model="gpt-4o", messages=told(text="my key is sk-anothersecretanother")
        )
    text = json.dumps(session.to_json())
    assert "verysecret" not in text
    assert "anothersecret" not in text
    playhead.init(endpoint=False, capture_content=False)
    with playhead.session() as session:
        ask_openai(True, text="a private matter", usage={"input": 10, "output": 2})
    text = json.dumps(session.to_json())
    assert "private" not in text
    assert session.cost > 0
    playhead.init(endpoint=False, capture_llm=False)
    with playhead.session() as session:
        ask_openai(False, text="unseen")
    assert session.llm_calls == []


def test_the_server_prices_and_reads_calls_as_this_process_does() -> None:
    playhead.init(endpoint=ENDPOINT)
    with playhead.session("calls") as session:
        ask_openai(True, text="Hello", usage={"input": 3000, "output": 500, "cacheRead": 1000})
        ask_anthropic(False, text="Hello", usage={"input": 900, "output": 50, "cacheWrite": 300})
    assert playhead.flush()
    there = fetch_session(session.id)
    here = session.to_json()
    for name in ("cost", "usage", "models", "llmCallCount", "unpricedModels", "inputPreview"):
        assert here["session"].get(name) == there["session"].get(name)
    for ours, theirs in zip(here["steps"], there["steps"]):
        for name in (
            "kind",
            "name",
            "cost",
            "usage",
            "messages",
            "finishReasons",
            "provider",
            "model",
            "responseId",
        ):
            assert ours.get(name) == theirs.get(name), name


@pytest.mark.parametrize("ask", ["openai", "anthropic"])
def test_calls_outside_of_any_session_that_go_on_from_each_other_are_one_session(ask: str) -> None:
    playhead.init(endpoint=ENDPOINT)
    call = {"name": "get_weather", "arguments": {"city": "Ulm"}, "id": f"call_{ask}"}
    messages: list[Any] = [
        {"role": "user", "content": f"Weather, {ask}? reply:{json.dumps({'toolCalls': [call]})}"}
    ]
    for _ in range(2):
        if ask == "openai":
            message = (
                openai.OpenAI().chat.completions.create(model="gpt-4o", messages=messages).choices[0].message
            )
            messages.append(message)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": '{"sky": "rain"}'})
        else:
            answer = anthropic.Anthropic().messages.create(model=CLAUDE, max_tokens=50, messages=messages)
            messages.append({"role": "assistant", "content": answer.content})
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": '{"sky": "rain"}'}
            messages.append({"role": "user", "content": [result]})
    assert playhead.flush()

    listed = fetch("/api/sessions?limit=100")["sessions"]
    shown = [
        (session["llmCallCount"], session["actionCount"], session["tools"])
        for session in listed
        if f"Weather, {ask}?" in session.get("inputPreview", "")
    ]
    assert shown == [(2, 1, ["get_weather"])]


def test_the_answer_itself_is_kept_for_a_later_run() -> None:
    reply = {
        "text": "The key is sk-proj-Ab12Cd34Ef56Gh78Ij90.",
        "toolCalls": [{"name": "look", "arguments": {}}],
    }
    kept = []
    for stream in (False, True):
        with playhead.session() as session:
            ask_openai(stream, **reply)
        kept.append(json.loads(only_call(session).attributes["playhead.response"]))
    for body in kept:
        (choice,) = body["choices"]
        assert choice["message"]["content"] == "The key is [redacted]."
        assert choice["message"]["tool_calls"][0]["function"]["name"] == "look"
        assert (choice["finish_reason"], body["usage"]["total_tokens"] > 0) == ("tool_calls", True)
    playhead.init(endpoint=False, capture_content=False)
    with playhead.session() as session:
        ask_openai(False, **reply)
    assert "playhead.response" not in only_call(session).attributes
