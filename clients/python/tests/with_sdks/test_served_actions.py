"""Recorded functions that a cassette answers: in the same form, with the same values and errors."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import uuid
from typing import Any, NamedTuple

import openai
import pydantic
import pytest

import playhead
from playhead.tape.active import TapeMissError
from playhead.tape.cassette import load_cassette

from ..playing import fresh as fresh
from ..playing import playing
from ..support import outline

runs: list[str] = []


@playhead.record_action
def at_once(x: int) -> int:
    runs.append("at_once")
    return x + 1


@playhead.record_action
async def later(x: int) -> int:
    runs.append("later")
    await asyncio.sleep(0)
    return x + 1


@playhead.record_action
def coroutine_of(x: int) -> Any:
    runs.append("coroutine_of")
    return later.__wrapped__(x)


@playhead.record_action
def in_pieces(x: int) -> Any:
    runs.append("in_pieces")
    yield "a "
    yield "b"
    return x


@playhead.record_tool("stream_words")
async def words(x: int) -> Any:
    runs.append("words")
    for word in ("Grü", "ße"):
        yield word


class Box:
    @playhead.record_action("open_box", effect="read")
    def open(self, key: str) -> str:
        runs.append("open")
        return f"opened with {key}"

    @staticmethod
    @playhead.record_action("static_box")
    def static(key: str) -> str:
        runs.append("static")
        return key


def drain(generator: Any) -> tuple[list[Any], Any]:
    pieces = []
    while True:
        try:
            pieces.append(next(generator))
        except StopIteration as end:
            return pieces, end.value


def call_all() -> list[Any]:
    async def collect() -> list[str]:
        return [word async for word in words(1)]

    return [
        at_once(1),
        asyncio.run(later(1)),
        asyncio.run(coroutine_of(1)),
        drain(in_pieces(1)),
        asyncio.run(collect()),
        Box().open(key="k"),
        Box.static("s"),
    ]


def test_every_kind_of_function_gives_its_result_in_the_same_form(tmp_path: Any) -> None:
    path = tmp_path / "cassette.jsonl"
    runs.clear()
    with playing(path, "record"), playhead.session() as recorded:
        live = call_all()
    assert len(runs) == 8
    with playing(path) as tape, playhead.session() as played:
        assert call_all() == live
    # None of them ran.
    assert (len(runs), tape.misses, tape.unused) == (8, [], [])
    assert [entry["shape"] for entry in load_cassette(path).entries] == [
        "value",
        "promise",
        "promise",
        "generator",
        "async-generator",
        "value",
        "value",
    ]
    shapes = [event.attributes["playhead.action.shape"] for event in recorded.steps if event.kind == "action"]
    assert shapes == [entry["shape"] for entry in load_cassette(path).entries]
    assert outline(played.steps) == outline(recorded.steps)
    assert [step.output for step in played.steps] == [step.output for step in recorded.steps]
    assert {step.attributes["playhead.step.source"] for step in played.steps if step.kind == "action"} == {
        "tape"
    }


class Plan(enum.Enum):
    PRO = "pro"


@dataclasses.dataclass(frozen=True)
class Customer:
    id: str
    plan: Plan
    since: datetime.date


class Point(NamedTuple):
    x: int
    y: int


class Invoice(pydantic.BaseModel):
    id: str
    amount: decimal.Decimal


class Account:
    def __init__(self, owner: str) -> None:
        self.owner = owner

    def greet(self) -> str:
        return f"Hello {self.owner}"


VALUES: list[Any] = [
    None,
    "",
    '{"text": "that looks like JSON"}',
    "null",
    0.5,
    2**70,
    float("inf"),
    {"nested": [1, {"deep": (1, 2)}], "a/b~c": (3,)},
    {1: "one", 2: "two"},
    datetime.datetime(2026, 11, 16, 9, 30, tzinfo=datetime.timezone.utc),
    datetime.date(2026, 11, 16),
    datetime.timedelta(seconds=90),
    decimal.Decimal("129.50"),
    uuid.UUID(int=7),
    pathlib.Path("a/b"),
    b"\x00\xff",
    {"a", "b"},
    frozenset(["a"]),
    (1, "two"),
    Plan.PRO,
    Customer("c_42", Plan.PRO, datetime.date(2019, 4, 1)),
    [Point(1, 2)],
    Invoice(id="INV-1", amount=decimal.Decimal("9.99")),
    collections.OrderedDict(a=1),
]


@playhead.record_action
def give(index: int) -> Any:
    return VALUES[index]


@pytest.mark.parametrize("index", range(len(VALUES)), ids=[repr(value)[:30] for value in VALUES])
def test_a_value_comes_back_as_it_was(index: int, tmp_path: Any) -> None:
    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        give(index)
    with playing(path):
        served = give(index)
    assert (served, type(served) if index < len(VALUES) - 1 else dict) == (
        VALUES[index],
        type(VALUES[index]) if index < len(VALUES) - 1 else dict,
    )


@playhead.record_action
def open_account(owner: str) -> Account:
    return Account(owner)


@playhead.record_action
def connect() -> Any:
    return open(__file__)


@playhead.record_action(revive=lambda data: Account(data["owner"].upper()))
def revived(owner: str) -> Account:
    return Account(owner)


def test_objects_keep_their_methods_and_what_is_no_data_is_a_miss(tmp_path: Any) -> None:
    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        assert (open_account("Ada").greet(), revived("Ada").greet()) == ("Hello Ada", "Hello Ada")
        connect().close()
    with playing(path) as tape:
        assert (open_account("Ada").greet(), revived("Ada").greet()) == ("Hello Ada", "Hello ADA")
        with pytest.raises(TapeMissError):
            connect()
    assert tape.misses[0].sentence == (
        "connect (step 3) returned TextIOWrapper, which a cassette can't hold. Mark it "
        'replay="run", or pass revive= to its decorator.'
    )


class CustomerNotFound(LookupError):
    def __init__(self, customer_id: str, *, code: int) -> None:
        super().__init__(f"no customer {customer_id}")
        self.code = code


@playhead.record_action
def fail(how: str) -> Any:
    if how == "key":
        return {}["c_42"]
    if how == "own":
        raise CustomerNotFound("c_42", code=404)
    raise ValueError("customer_id cannot be None")


@playhead.record_action
def fail_midway() -> Any:
    yield "first"
    raise RuntimeError("the line broke")


def test_errors_come_back_with_their_class_message_and_code(tmp_path: Any) -> None:
    def caught(how: str) -> Any:
        with pytest.raises(Exception) as raised:
            fail(how)
        return type(raised.value), str(raised.value), getattr(raised.value, "code", None)

    path = tmp_path / "cassette.jsonl"
    kinds = ("key", "own", "value")
    with playing(path, "record"):
        live = [caught(how) for how in kinds]
        with pytest.raises(RuntimeError):
            list(fail_midway())
    with playing(path) as tape:
        assert [caught(how) for how in kinds] == live
        pieces = fail_midway()
        assert next(pieces) == "first"
        with pytest.raises(RuntimeError, match="the line broke"):
            next(pieces)
    assert (live[1], tape.misses) == ((CustomerNotFound, "no customer c_42", 404), [])


client = openai.OpenAI()


def ask(text: str) -> Any:
    asked: Any = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-4o", messages=asked).choices[0].message.content


@playhead.record_action
def classify(text: str) -> str:
    runs.append("classify")
    return ask(f"Classify: {text}")


@playhead.record_action(effect="write")
def send_reply(text: str) -> str:
    runs.append("send_reply")
    return ask(f"Write: {text}")


@playhead.record_action(replay="run")
def remember(text: str) -> int:
    runs.append("remember")
    return len(runs)


@playhead.record_action(replay="serve")
def summarize(text: str) -> str:
    runs.append("summarize")
    return ask(f"Sum up: {text}")


@playhead.agent("researcher")
def research(text: str) -> str:
    return text.upper()


@playhead.record_action
def delegate(text: str) -> str:
    runs.append("delegate")
    return research(text)


def test_what_holds_a_model_call_runs_again_and_writes_never_do(tmp_path: Any) -> None:
    def work() -> None:
        classify("Hi")
        send_reply("Hi")
        remember("Hi")
        summarize("Hi")
        delegate("Hi")

    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        work()
    runs.clear()
    with playing(path) as tape, playhead.session() as session:
        work()
    assert runs == ["classify", "remember", "delegate"]
    assert tape.misses == []
    sources = [(step.name, step.attributes.get("playhead.step.source")) for step in session.steps[1:]]
    assert sources == [
        ("classify", None),
        ("gpt-4o", "tape"),
        ("send_reply", "tape"),
        ("remember", None),
        ("summarize", "tape"),
        ("delegate", None),
        ("researcher", None),
    ]
    containers = [entry["name"] for entry in load_cassette(path).entries if entry.get("isContainer")]
    assert containers == ["classify", "delegate"]


def test_a_cassette_file_is_no_way_to_import_code(tmp_path: Any) -> None:
    path = tmp_path / "cassette.jsonl"
    with playing(path, "record"):
        open_account("Ada")
    path.write_text(path.read_text().replace(__name__, "antigravity"))
    with playing(path):
        served = open_account("Ada")
    assert (served, "antigravity" in __import__("sys").modules) == (
        types.SimpleNamespace(owner="Ada"),
        False,
    )


@playhead.record_action
def charge(card: Any, **options: Any) -> Any:
    return {"charged": card, "api_key": "hunter2hunter2", "note": "password=hunter2"}


def test_secrets_are_masked_in_the_file_and_what_was_asked_still_matches(tmp_path: Any) -> None:
    path = tmp_path / "cassette.jsonl"

    def work() -> Any:
        return charge([4111111111111111], password="hunter2hunter2", note="password=hunter2")

    with playing(path, "record"):
        work()
    # Filled again: what is masked already stays as it is.
    with playing(path, "fill"):
        work()
        charge("another")
    with playing(path) as tape:
        assert work() == {"charged": ["[redacted]"], "api_key": "[redacted]", "note": "password=[redacted]"}
        charge("another")
    assert (tape.misses, tape.unused) == ([], [])
    text = path.read_text()
    assert "hunter2" not in text and "4111111111111111" not in text
