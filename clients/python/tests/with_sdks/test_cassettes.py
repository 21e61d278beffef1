"""The real SDKs, answered from cassettes: recorded against a model server, then played without a network."""

from __future__ import annotations

import asyncio
import datetime
import json
from pathlib import Path
from typing import Any, Callable

import anthropic
import httpx
import openai
import pytest

import playhead
from playhead.tape.active import TapeMissError
from playhead.tape.cassette import load_cassette

from ..playing import fresh as fresh
from ..playing import playing
from ..support import ROOT, outline

CLAUDE = "claude-sonnet-4-6"
# Built before any tape is there.
client, async_client = openai.OpenAI(), openai.AsyncOpenAI()
claude, async_claude = anthropic.Anthropic(), anthropic.AsyncAnthropic()
GOLDEN = ROOT / "fixtures/cassettes"


def told(said: str, **reply: Any) -> str:
    """A message that tells the model server what to answer."""
    return f"{said} reply:{json.dumps(reply, ensure_ascii=False)}"


GREETING = told("Hi.", text="Grüße 👋 aus Köln, einmal mehr.")
TOOL = told("Look.", toolCalls=[{"name": "look", "arguments": {"at": "Köln 👋", "n": 3}}])
FUNCTION = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def chat(text: str) -> Any:
    message = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": text}])
    return message.model_dump()


def chat_stream(text: str) -> Any:
    stream = client.chat.completions.create(
        model="gpt-4o",
        messages=[{"role": "user", "content": text}],
        stream=True,
        stream_options={"include_usage": True},
    )
    return [chunk.model_dump() for chunk in stream]


def chat_async(text: str) -> Any:
    async def ask() -> Any:
        async with openai.AsyncOpenAI() as own:
            return await own.chat.completions.create(
                model="gpt-4o", messages=[{"role": "user", "content": text}]
            )

    return asyncio.run(ask()).model_dump()


def chat_async_stream(text: str) -> Any:
    async def ask() -> Any:
        async with openai.AsyncOpenAI() as own:
            stream = await own.chat.completions.create(
                model="gpt-4o", messages=[{"role": "user", "content": text}], stream=True
            )
            return [chunk.model_dump() async for chunk in stream]

    return asyncio.run(ask())


def responses(text: str) -> Any:
    return client.responses.create(model="gpt-4o", input=text).model_dump()


def responses_stream(text: str) -> Any:
    return [event.model_dump() for event in client.responses.create(model="gpt-4o", input=text, stream=True)]


def messages(text: str) -> Any:
    given = [{"role": "user", "content": text}]
    return claude.messages.create(model=CLAUDE, max_tokens=99, messages=given).model_dump()


def messages_stream(text: str) -> Any:
    given = [{"role": "user", "content": text}]
    with claude.messages.stream(model=CLAUDE, max_tokens=99, messages=given) as stream:
        return [event.model_dump() for event in stream], stream.get_final_message().model_dump()


def messages_async(text: str) -> Any:
    async def ask() -> Any:
        given = [{"role": "user", "content": text}]
        own = anthropic.AsyncAnthropic()
        async with own, own.messages.stream(model=CLAUDE, max_tokens=99, messages=given) as stream:
            return (await stream.get_final_message()).model_dump()

    return asyncio.run(ask())


WAYS = [
    chat,
    chat_stream,
    chat_async,
    chat_async_stream,
    responses,
    responses_stream,
    messages,
    messages_stream,
    messages_async,
]


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize("text", [GREETING, TOOL], ids=["text", "tool"])
def test_what_was_recorded_is_played_without_a_network(
    ask: Callable[[str], Any], text: str, tmp_path: Path
) -> None:
    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"), playhead.session() as recorded:
        live = ask(text)
    with playing(path) as tape, playhead.session() as played:
        assert ask(text) == live
    assert (tape.misses, tape.unused, tape.counts) == ([], [], {"taped": 1, "live": 0})
    assert [step.attributes.get("playhead.step.source") for step in recorded.llm_calls] == ["live"]
    assert [step.attributes.get("playhead.step.source") for step in played.llm_calls] == ["tape"]
    assert (played.cost, played.tokens) == (recorded.cost, recorded.tokens)
    assert played.llm_calls[0].messages == recorded.llm_calls[0].messages


@pytest.mark.parametrize(
    ("one", "other"),
    [(chat, chat_stream), (responses, responses_stream), (messages, messages_stream)],
)
@pytest.mark.parametrize("text", [GREETING, TOOL], ids=["text", "tool"])
def test_the_form_of_the_answer_is_that_of_the_request(
    one: Callable[[str], Any], other: Callable[[str], Any], text: str, tmp_path: Path
) -> None:
    def said(session: Any) -> Any:
        parts = [part for message in session.llm_calls[0].messages[1:] for part in message["parts"]]
        return parts, session.tokens, session.cost, session.llm_calls[0].finish_reasons

    for recorded, asked in ((one, other), (other, one)):
        path = tmp_path / f"{recorded.__name__}.jsonl"
        with playing(path, "record"), playhead.session() as live:
            recorded(text)
        with playing(path) as tape, playhead.session() as played:
            asked(text)
        assert (tape.misses, said(played)) == ([], said(live))


def test_a_cassette_of_typescript_answers_the_same_conversation() -> None:
    tools: Any = [
        {
            "type": "function",
            "function": {
                "name": "fetch_customer",
                "description": "Looks up a customer.",
                "parameters": {
                    "type": "object",
                    "properties": {"customer_id": {"type": "string"}},
                    "required": ["customer_id"],
                },
            },
        }
    ]

    @playhead.record_action("fetch_customer")
    async def fetch(customer_id: str) -> Any:
        raise AssertionError("it is served, not run")

    @playhead.record_action("classify_intent")
    def classify(message: str) -> Any:
        system = {"role": "system", "content": "Answer with one word: billing, refund or general."}
        asked: Any = [system, {"role": "user", "content": message}]
        return client.chat.completions.create(model="gpt-4o", messages=asked).choices[0].message.content

    with playing(GOLDEN / "support.jsonl") as tape, playhead.session() as session:
        question = "I was charged twice, account c_42"
        assert classify(question) == "billing"
        asked: Any = [
            {"role": "system", "content": "You answer for the support team of Tidewater."},
            {"role": "user", "content": question},
        ]
        settings: Any = {"model": "gpt-4o", "temperature": 0.2, "tools": tools}
        reply = client.chat.completions.create(messages=asked, **settings).choices[0].message
        (call,) = reply.tool_calls
        customer = asyncio.run(fetch(**json.loads(call.function.arguments)))
        asked += [
            reply.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": json.dumps(customer, default=str)},
        ]
        answer = client.chat.completions.create(messages=asked, **settings).choices[0].message.content
    assert answer == "You are on Pro, Ada, and the second charge is paid back."
    since = datetime.datetime(2019, 4, 1, tzinfo=datetime.timezone.utc)
    assert (customer, tape.misses) == ({"id": "c_42", "plan": "Pro", "since": since}, [])
    assert [entry.title for entry in tape.unused] == ["issue_refund"]
    assert outline(session.steps) == [
        "workflow session",
        "  action classify_intent",
        "    llm gpt-4o",
        "  llm gpt-4o",
        "  action fetch_customer",
        "  llm gpt-4o",
    ]


def test_a_stream_of_typescript_in_the_order_of_anthropics_events() -> None:
    @playhead.record_action("size_of")
    async def size_of(city: str) -> Any:
        yield "never run"

    async def pieces() -> Any:
        return [piece async for piece in size_of("Tromsø")]

    with playing(GOLDEN / "anthropic-stream.jsonl") as tape:
        with claude.messages.stream(
            model="claude-sonnet-4-5",
            max_tokens=1024,
            system="Be brief.",
            tools=[
                {
                    "name": "size_of",
                    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
                }
            ],
            messages=[{"role": "user", "content": "Größe von Tromsø? 🏔️"}],
        ) as stream:
            final = stream.get_final_message()
        assert asyncio.run(pieces()) == ["2 ", "521 km²"]
    assert (tape.misses, tape.unused) == ([], [])
    assert [block.type for block in final.content][-1] == "tool_use"
    assert final.content[-1].input == {"city": "Tromsø"}


def test_retries_failures_and_an_aborted_stream_of_typescript() -> None:
    class PaymentError(Exception):
        code = None

    @playhead.record_action("charge_card")
    def charge(amount: int) -> None:
        raise AssertionError("it is served, not run")

    charge.__wrapped__.__globals__["PaymentError"] = PaymentError
    try:
        with playing(GOLDEN / "failures.jsonl") as tape, playhead.session() as session:
            # The SDK tries again after the 429 and after the broken connection, without waiting.
            asked: Any = [{"role": "user", "content": "Hi"}]
            reply = client.chat.completions.create(model="gpt-4o", messages=asked)
            stream = client.chat.completions.create(
                model="gpt-4o", messages=[{"role": "user", "content": "Tell me a story."}], stream=True
            )
            text = ""
            with pytest.raises(openai.APIConnectionError):
                for chunk in stream:
                    text += chunk.choices[0].delta.content or ""
            with pytest.raises(PaymentError, match="The card was declined") as raised:
                asyncio.run(charge(12))
    finally:
        del charge.__wrapped__.__globals__["PaymentError"]
    assert (reply.id, text, raised.value.code) == ("chatcmpl-8", "Once upon a time", "card_declined")
    assert [step.status for step in session.llm_calls] == ["error", "error", "ok", "error"]
    assert ([entry.title for entry in tape.unused], tape.misses) == (["log_attempt"], [])


def support(system: str) -> Any:
    asked: Any = [{"role": "system", "content": system}, {"role": "user", "content": GREETING}]
    return client.chat.completions.create(model="gpt-4o", messages=asked).choices[0].message.content


def test_a_miss_is_an_error_of_the_provider_that_is_not_retried(tmp_path: Path) -> None:
    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        support("You are a friendly agent.")
        messages(GREETING)
    sentence = (
        "The model was asked something else than recorded (step 1 gpt-4o): system prompt is "
        '"You are a grumpy agent.", recorded was "You are a friendly agent.".'
    )
    with playing(path) as tape, playhead.session() as session:
        with pytest.raises(openai.BadRequestError) as raised:
            support("You are a grumpy agent.")
        # What follows the first miss is asked in a state that was never recorded.
        with pytest.raises(anthropic.BadRequestError) as repeated:
            messages("something else")
    assert sentence in str(raised.value)
    assert sentence in str(repeated.value)
    assert [miss.field for miss in tape.misses] == ["system prompt", "message 1 (user)"]
    assert tape.misses[0].diff() == [
        "- recorded: You are a friendly agent.\n+ asked:    You are a grumpy agent."
    ]
    assert len(session.llm_calls) == 2


def test_fill_records_only_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        first = support("one")
    before = path.read_text("utf-8")
    with playing(path, "fill") as tape:
        assert (support("one"), support("two")) == (first, first)
    assert tape.counts == {"taped": 1, "live": 1}
    assert path.read_text("utf-8").startswith(before)
    with playing(path) as tape:
        support("two")
        support("one")
    assert tape.misses == []


def test_calls_in_parallel_are_served_by_what_they_ask(tmp_path: Path) -> None:
    async def ask(numbers: Any) -> list[Any]:
        async with openai.AsyncOpenAI() as own:
            texts = [told(str(number), text=f"answer {number}") for number in numbers]
            replies = await asyncio.gather(
                *(
                    own.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": text}])
                    for text in texts
                )
            )
            return [reply.choices[0].message.content for reply in replies]

    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        asyncio.run(ask(range(8)))
    with playing(path) as tape:
        assert asyncio.run(ask(reversed(range(8)))) == [f"answer {n}" for n in reversed(range(8))]
    assert (tape.misses, tape.unused) == ([], [])


def test_a_stream_that_the_client_left_is_served_as_far_as_it_came(tmp_path: Path) -> None:
    def begin() -> Any:
        asked: Any = [{"role": "user", "content": GREETING}]
        stream = client.chat.completions.create(model="gpt-4o", messages=asked, stream=True)
        texts = []
        for chunk in stream:
            texts.append(chunk.choices[0].delta.content)
            if texts[-1]:
                stream.close()
                return texts
        return texts

    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        live = begin()
    with playing(path) as tape:
        assert begin() == live
    assert (tape.misses, load_cassette(path).entries[0]["answer"]["isAborted"]) == ([], True)


def test_other_requests_are_refused_unless_an_action_that_is_recorded_makes_them(tmp_path: Path) -> None:
    url = f"{client.base_url}models"
    path = tmp_path / "cassette.jsonl"

    @playhead.record_action("list_models")
    def list_models() -> int:
        return httpx.get(url).status_code

    with playing(path, "fill") as tape:
        status = list_models()
    with playing(path) as tape:
        assert list_models() == status
        response = httpx.get(url, params={"key": "not shown"})
    (miss,) = tape.misses
    assert (response.status_code, response.json()["error"]["code"]) == (400, "playhead_miss")
    assert miss.sentence == (
        f"The test made a request that no cassette can answer: GET {url}. "
        "Record the function that makes it with @playhead.record_tool."
    )


def test_requests_that_stay_in_the_process_are_let_through(tmp_path: Path) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text="from the app"))
    with playing(tmp_path / "cassette.jsonl") as tape, httpx.Client(transport=transport) as own:
        assert own.get("http://app/chat").text == "from the app"
    assert tape.misses == []


def test_hooks_of_the_host_see_taped_responses(tmp_path: Path) -> None:
    seen: list[Any] = []

    def ask() -> Any:
        hooks = {"request": [lambda one: seen.append(one.method)], "response": [lambda one: seen.append(one)]}
        # The copy of httpx that the SDK uses.
        base = next(kind for kind in type(client._client).__mro__ if kind.__module__.startswith("httpx"))
        with base(event_hooks=hooks) as own:
            given = openai.OpenAI(http_client=own)
            asked: Any = [{"role": "user", "content": GREETING}]
            return given.chat.completions.create(model="gpt-4o", messages=asked).choices[0].message.content

    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        live = ask()
    with playing(path):
        assert ask() == live
    assert [one if isinstance(one, str) else one.status_code for one in seen] == ["POST", 200] * 2


def test_a_miss_of_an_action_is_raised_where_it_is_called(tmp_path: Path) -> None:
    @playhead.record_action("send_mail", effect="write")
    def send_mail(to: str) -> str:
        return "sent"

    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        send_mail("a@example.com")
    with playing(path) as tape, pytest.raises(TapeMissError) as raised:
        send_mail("b@example.com")
    assert (
        str(raised.value)
        == tape.misses[0].sentence
        == (
            "send_mail was called with other arguments than recorded (step 1 send_mail): argument to is "
            '"b@example.com", recorded was "a@example.com".'
        )
    )


def test_embeddings_keep_their_vectors(tmp_path: Path) -> None:
    def embed() -> Any:
        return client.embeddings.create(model="text-embedding-3-small", input=["one", "two"]).model_dump()

    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        live = embed()
    with playing(path) as tape:
        assert embed() == live
    assert (tape.misses, len(live["data"])) == ([], 2)


def loop_openai() -> Any:
    asked: Any = [{"role": "user", "content": TOOL}]
    reply = (
        client.chat.completions.create(model="gpt-4o", messages=asked, tools=[FUNCTION]).choices[0].message
    )
    asked.append(reply)
    asked.append({"role": "tool", "tool_call_id": reply.tool_calls[0].id, "content": '{"seen": "a dome"}'})
    asked.append({"role": "user", "content": GREETING})
    return client.chat.completions.create(model="gpt-4o", messages=asked, tools=[FUNCTION]).model_dump()


def loop_responses() -> Any:
    tools: Any = [{"type": "function", "name": "look", "parameters": {"type": "object"}}]
    asked: Any = [{"role": "user", "content": TOOL}]
    reply = client.responses.create(model="gpt-4o", input=asked, tools=tools)
    asked += reply.output
    call = next(item for item in reply.output if item.type == "function_call")
    asked.append({"type": "function_call_output", "call_id": call.call_id, "output": '{"seen": "a dome"}'})
    asked.append({"role": "user", "content": GREETING})
    return client.responses.create(model="gpt-4o", input=asked, tools=tools).model_dump()


def loop_anthropic() -> Any:
    tools: Any = [{"name": "look", "input_schema": {"type": "object"}}]
    asked: Any = [{"role": "user", "content": TOOL}]
    settings: Any = {"model": CLAUDE, "max_tokens": 99, "tools": tools, "system": "Be brief."}
    reply = claude.messages.create(messages=asked, **settings)
    asked.append({"role": "assistant", "content": reply.content})
    call = next(block for block in reply.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": '{"seen": "a dome"}'}
    asked.append({"role": "user", "content": [result, {"type": "text", "text": GREETING}]})
    return claude.messages.create(messages=asked, **settings).model_dump()


@pytest.mark.parametrize("loop", [loop_openai, loop_responses, loop_anthropic])
def test_a_loop_with_tools_is_played(loop: Callable[[], Any], tmp_path: Path) -> None:
    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        live = loop()
    with playing(path) as tape:
        assert loop() == live
    assert (tape.misses, tape.unused, tape.counts) == ([], [], {"taped": 2, "live": 0})
