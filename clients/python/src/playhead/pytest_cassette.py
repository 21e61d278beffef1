"""`@pytest.mark.cassette`: a test whose model calls and actions come from a file."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Generator, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple, Optional

import pytest

from .capture.json_value import JsonObject
from .describe_error import message_of
from .format.lines import safe_for_log
from .project import ProjectError, find_project, load_agent
from .runtime import Runtime, active_runtime
from .serialize import write_json
from .session_record import SessionRecord
from .session_view import SessionView
from .start import init
from .tape.active import set_tape
from .tape.cassette import CassetteError, save_cassette
from .tape.miss import TapeMiss
from .tape.run_tape import RunTape
from .tape.wall import lower_wall, raise_wall
from .version import VERSION

MODES = ("strict", "fill", "record", "live")
_PROPERTY = "playhead_cassette"
_FIXTURE = "_playhead_cassette"
_MAX_NAME_LENGTH = 100

_TAPE = pytest.StashKey[RunTape]()
# The test has failed because of a miss.
_IS_TOLD = pytest.StashKey[bool]()
_notes: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    _notes.clear()
    config.addinivalue_line(
        "markers",
        "cassette(name=None, volatile=()): answer model calls and recorded actions from "
        "__cassettes__/<test file>/<test name>.jsonl (PLAYHEAD_CASSETTE=strict|fill|record|live). "
        "volatile: patterns of text that differs from run to run, besides ids and times.",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("cassette") is not None:
            # Before every other fixture of the test: those may run the agent, or open its session.
            item.fixturenames.insert(0, _FIXTURE)


class _Options(NamedTuple):
    name: Optional[str]
    volatile: tuple[str, ...]


def _read_options(name: Optional[str] = None, *, volatile: Any = ()) -> _Options:
    patterns = (volatile,) if isinstance(volatile, (str, re.Pattern)) else tuple(volatile)
    return _Options(name, tuple(one.pattern if isinstance(one, re.Pattern) else one for one in patterns))


@pytest.fixture
def _playhead_cassette(request: pytest.FixtureRequest) -> Iterator[None]:
    item, mode = request.node, read_mode(os.environ)
    if mode == "live":
        yield
        return
    if active_runtime() is None:
        init()
    _refuse_repeats(item)
    tape = _open_tape(item, mode, _require_content())
    item.stash[_TAPE] = tape
    records: list[SessionRecord] = []
    tape.runtime.session_listeners.append(records.append)
    set_tape(tape)
    if tape.is_strict:
        allowed = find_project(Path(item.path).parent).allow_spawn
        raise_wall(lambda sentence: _note_refusal(tape, sentence), allowed)
    added = _add_keys() if tape.is_strict else []
    yield
    for name in added:
        os.environ.pop(name, None)
    lower_wall()
    set_tape(None)
    tape.runtime.session_listeners.remove(records.append)
    if not tape.is_strict:
        _save(item, tape, records)
    note_use(tape, os.environ.get("PLAYHEAD_RUN_DIR"))
    if tape.misses and not item.stash.get(_IS_TOLD, False):
        pytest.fail(safe_for_log(_describe_miss(item, tape)), pytrace=False)


_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
    "COHERE_API_KEY",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
    "OPENROUTER_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_API_KEY",
)
# Google's client takes either, and warns about both.
_OTHER_NAMES = {"GOOGLE_API_KEY": "GEMINI_API_KEY"}


def _add_keys() -> list[str]:
    """Clients refuse to be created without a key, and a test without a network needs none."""
    missing = [
        name
        for name in _KEYS
        if not os.environ.get(name) and not os.environ.get(_OTHER_NAMES.get(name, name))
    ]
    os.environ.update(dict.fromkeys(missing, "not-needed-from-the-cassette"))
    return missing


def _refuse_repeats(item: pytest.Item) -> None:
    """pytest-repeat runs a test many times."""
    if "__pytest_repeat_step_number" in getattr(getattr(item, "callspec", None), "params", {}):
        pytest.fail(
            "A cassette gives the same answers in every run, so repeating the test proves nothing. Leave out "
            "one of them, or run it live: PLAYHEAD_CASSETTE=live.",
            pytrace=False,
        )


def _require_content() -> Runtime:
    runtime = active_runtime()
    if runtime is None:
        pytest.fail("A cassette needs recording, and playhead.shutdown() stopped it.", pytrace=False)
    if not runtime.settings.is_content_kept:
        pytest.fail(
            "A cassette needs what models and tools are asked and answer. Record it: "
            "init(capture_content=True).",
            pytrace=False,
        )
    return runtime


def read_mode(environment: Any) -> str:
    """By default, what a cassette lacks is recorded on a developer's machine, and is an error in CI."""
    given = (environment.get("PLAYHEAD_CASSETTE") or "").strip().lower()
    if given == "":
        is_ci = (environment.get("CI") or "").strip().lower() not in ("", "0", "false")
        return "strict" if is_ci else "fill"
    if given not in MODES:
        pytest.exit(f"PLAYHEAD_CASSETTE is {given!r}; it is one of {', '.join(MODES)}.", returncode=4)
    return given


def _open_tape(item: pytest.Item, mode: str, runtime: Runtime) -> RunTape:
    marker = item.get_closest_marker("cassette")
    assert marker is not None
    try:
        options = _read_options(*marker.args, **marker.kwargs)
    except TypeError as error:
        pytest.fail(f"@pytest.mark.cassette: {error}", pytrace=False)
    try:
        tape = RunTape(path_of(item, options.name), mode, runtime, options.volatile)
        if tape.is_strict and not tape.has_file:
            tape.note_miss(TapeMiss("action", "Record it with PLAYHEAD_CASSETTE=fill and commit the file."))
        return tape
    except (CassetteError, ProjectError, re.error) as error:
        pytest.fail(str(error), pytrace=False)


def path_of(item: pytest.Item, name: Optional[str]) -> Path:
    """`__cassettes__/<test file>/<test name>.jsonl` beside the test."""
    file = Path(item.path)
    folder = find_project(file.parent).cassettes or file.parent / "__cassettes__"
    if name is not None:
        return folder / (name if name.endswith(".jsonl") else f"{name}.jsonl")
    suite = getattr(item, "cls", None)
    own = item.name if suite is None else f"{suite.__name__}.{item.name}"
    return folder / file.stem / f"{to_file_name(own)}.jsonl"


def to_file_name(name: str) -> str:
    """Readable, safe on every system, and different for different names."""
    safe = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_MAX_NAME_LENGTH]
    if safe == name:
        return safe
    return f"{safe}-{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def _note_refusal(tape: RunTape, sentence: str) -> None:
    tape.note_miss(TapeMiss("action", sentence, is_refusal=True))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, None]:
    """Imports the agent before the test, so that its time is that of the run. Fixtures were there first."""
    outcome = yield
    tape = item.stash.get(_TAPE, None)
    if outcome.excinfo is None and tape is not None and tape.is_strict:
        _import_agents(item)


def _import_agents(item: pytest.Item) -> None:
    code = getattr(getattr(item, "function", None), "__code__", None)
    # A test that changes its environment may do so before the import.
    if code is None or "run_agent" not in code.co_names or "monkeypatch" in getattr(item, "fixturenames", ()):
        return
    try:
        project = find_project(Path(item.path).parent)
        for name in code.co_consts:
            if isinstance(name, str) and name in project.agents:
                load_agent(project, name)
    except Exception:
        # The test imports it again, and says why it can't.
        return


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """A miss fails the test, also if the agent caught it."""
    outcome = yield
    tape = item.stash.get(_TAPE, None)
    if tape is None or not tape.misses:
        return
    item.stash[_IS_TOLD] = True
    if outcome.excinfo is not None:
        item.add_report_section("call", "after the miss", safe_for_log(message_of(outcome.excinfo[1])))
    failure = pytest.fail.Exception(safe_for_log(_describe_miss(item, tape)), pytrace=False)
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(failure)
    else:
        # pytest 7.0 comes with an older pluggy.
        outcome._excinfo = (type(failure), failure, None)


def _describe_miss(item: pytest.Item, tape: RunTape) -> str:
    """The sentence of the first miss, the words that differ, and what to do about it."""
    path = _show_path(item, tape)
    if tape.is_strict and not tape.has_file:
        return f"There is no cassette {path}. {tape.misses[0].sentence}"
    miss = tape.misses[0]
    if miss.is_refusal:
        return miss.sentence
    lines = [f"The cassette {path} has no answer. {miss.sentence}", *miss.diff()]
    if tape.is_strict:
        lines.append(
            "If the change is meant, record what is missing with PLAYHEAD_CASSETTE=fill, or all of it with "
            "PLAYHEAD_CASSETTE=record."
        )
    return "\n\n".join(lines)


def _show_path(item: pytest.Item, tape: RunTape) -> str:
    return os.path.relpath(tape.path, item.config.rootpath).replace(os.sep, "/")


# What each test of this process recorded anew, by file: a test that is retried replaces its own share.
_recorded_anew: dict[Path, dict[str, list[JsonObject]]] = {}


def _save(item: pytest.Item, tape: RunTape, records: list[SessionRecord]) -> None:
    entries = tape.recorded
    reports = [getattr(item, name, None) for name in ("rep_setup", "rep_call")]
    is_failed = any(report is not None and report.failed for report in reports)
    if not entries and (is_failed or (tape.has_file and tape.mode == "fill")):
        return
    failure = next(filter(None, map(_failure_of, entries)), None) if is_failed else None
    if failure is not None:
        _announce(item, tape, f"not written, because the test failed and a model call ended with {failure}.")
        return
    meta = {
        "name": item.name,
        **tape.started,
        "recordedAt": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "playhead": VERSION,
        "sessions": [record.id for record in records],
    }
    is_anew, all_entries = tape.mode == "record", entries
    if is_anew:
        shares = _recorded_anew.setdefault(tape.path, {})
        shares[item.nodeid] = entries
        all_entries = [entry for share in shares.values() for entry in share]
    save_cassette(tape.path, meta, all_entries, tape.runtime.redactor, is_anew=is_anew)
    if not entries:
        return
    models = sum(entry["kind"] == "model" for entry in entries)
    what = f"{_count(models, 'model call')} and {_count(len(entries) - models, 'action')}"
    spent = f", {_describe_spending(tape.runtime, records)}" if models > 0 else ""
    _announce(item, tape, f"{'recorded anew' if is_anew else 'added'}: {what}{spent}.")


def _failure_of(entry: JsonObject) -> Optional[str]:
    """A failure that is nothing to keep, if the test failed because of it."""
    answer = entry.get("answer") or {}
    if "error" in answer:
        return str(answer["error"]["code"])
    return f"status {answer['status']}" if answer.get("status", 0) >= 400 else None


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _describe_spending(runtime: Runtime, records: list[SessionRecord]) -> str:
    steps = [step for record in records for step in SessionView(runtime, record).steps]
    live = [
        step
        for step in steps
        if step.kind in ("llm", "embedding") and step.attributes.get("playhead.step.source") == "live"
    ]
    spent = f"${sum(step.cost or 0 for step in live):.4f}"
    is_known = all(step.cost is not None for step in live)
    return f"for {spent}" if is_known else f"for at least {spent} (a price is unknown)"


def _announce(item: pytest.Item, tape: RunTape, sentence: str) -> None:
    # Reaches the controller also from a worker of pytest-xdist.
    item.user_properties.append((_PROPERTY, f"{_show_path(item, tape)} {sentence}"))


def note_use(tape: RunTape, folder: Optional[str]) -> None:
    """Notes what the test did not ask for, for `playhead cassette lint`."""
    if not folder:
        return
    try:
        use = {"path": str(tape.path.resolve()), "unused": [entry.number for entry in tape.unused]}
        with open(Path(folder) / f"{os.getpid()}.cassettes.jsonl", "a", encoding="utf-8") as file:
            file.write(f"{write_json(use)}\n")
    except OSError:
        # Nothing depends on it but a hint.
        pass


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "teardown":
        return
    for name, note in report.user_properties:
        if name == _PROPERTY:
            _notes.append(str(note))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not _notes:
        return
    terminalreporter.section("cassettes")
    for note in _notes:
        terminalreporter.write_line(safe_for_log(note))
