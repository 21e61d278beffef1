"""Reads and writes cassettes: JSON lines, the same files as TypeScript's.

The first line is `{"v":1,"kind":"meta",…}`. Messages stand before the first call that sends them and are
written once; model calls refer to them by id.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..capture.json_value import JsonObject
from ..redaction.redact import Redactor
from ..redaction.redact_json import redact_json, redact_json_text, redact_response, redact_texts
from ..serialize import write_json
from .compare import parse_json_text
from .stream_form import assemble_events, stream_body

VERSION = 1
_KEPT_HEADERS = re.compile(
    r"content-type|retry-after(?:-ms)?|x-should-retry|x?-?request-id|openai-model|(?:x|anthropic)-ratelimit-.*"
)
_NO_META = 'is no {"v":1,"kind":"meta",…}, so this is not a cassette.'


class CassetteError(Exception):
    """A cassette that can't be read, with the number of the line."""


class Cassette(NamedTuple):
    meta: JsonObject
    # Model calls and actions in recorded order; questions hold their messages.
    entries: list[JsonObject]


def read_cassette(text: str) -> Cassette:
    meta: JsonObject = {}
    entries: list[JsonObject] = []
    messages: dict[Any, JsonObject] = {}
    for number, content in enumerate(text.split("\n"), 1):
        if content.strip() == "":
            continue
        try:
            line = json.loads(content)
        except ValueError:
            raise CassetteError(f"Line {number} of the cassette is not JSON.") from None
        problem = _read_line(line if isinstance(line, dict) else {}, meta, entries, messages)
        if problem is not None:
            raise CassetteError(f"Line {number} of the cassette {problem}")
    if not meta:
        raise CassetteError(f"Line 1 of the cassette {_NO_META}")
    return Cassette(meta, entries)


def _read_line(
    line: JsonObject, meta: JsonObject, entries: list[JsonObject], messages: dict[Any, JsonObject]
) -> Any:
    """None, or what is wrong with the line."""
    kind = line.get("kind")
    if not meta:
        if kind != "meta":
            return _NO_META
        if line.get("v") != VERSION:
            return f"has version {line.get('v')}; this Playhead reads version {VERSION}. Update it."
        meta.update(line)
    elif kind == "message":
        message = line.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("parts"), list) or "id" not in line:
            return "is a message without an id, a role or parts."
        messages[line["id"]] = message
    elif kind == "model":
        return _read_call(line, entries, messages)
    elif kind == "action":
        if not isinstance(line.get("name"), str):
            return "is an action without a name."
        entries.append(line)
    else:
        return "is no message, model call or action."
    return None


def _read_call(line: JsonObject, entries: list[JsonObject], messages: dict[Any, JsonObject]) -> Any:
    asked = line.get("asked")
    if not isinstance(asked, dict) or not isinstance(asked.get("messages"), list):
        return "is a model call without a question."
    if not isinstance(line.get("answer"), dict):
        return "is a model call without an answer."
    for message_id in asked["messages"]:
        if message_id not in messages:
            return f"refers to message {message_id}, which is not above it."
    sent = [messages[message_id] for message_id in asked["messages"]]
    entries.append({**line, "asked": {**asked, "messages": sent}})
    return None


def write_cassette(meta: JsonObject, entries: Sequence[JsonObject], redactor: Redactor) -> str:
    """One JSON value a line, without secrets. Entries added at the end leave the lines before them alone."""
    head = {"v": VERSION, "kind": "meta", **meta, "name": redactor.text(str(meta.get("name", "")), "name")}
    if "input" in meta:
        head["input"] = redact_json(meta["input"], redactor, "input")
    lines: list[Any] = [head]
    ids: dict[str, int] = {}
    for given in entries:
        entry = (
            _redact_action(given, redactor) if given["kind"] == "action" else _redact_call(given, redactor)
        )
        if given["kind"] == "model":
            entry["asked"] = {
                **entry["asked"],
                "messages": [_id_of(message, ids, lines) for message in entry["asked"]["messages"]],
            }
        lines.append(entry)
    return "".join(f"{write_json(line)}\n" for line in lines)


def _id_of(message: JsonObject, ids: dict[str, int], lines: list[Any]) -> int:
    text = write_json(message)
    if text not in ids:
        ids[text] = len(ids) + 1
        lines.append({"kind": "message", "id": ids[text], "message": message})
    return ids[text]


def _redact_call(entry: JsonObject, redactor: Redactor) -> JsonObject:
    asked = dict(entry["asked"])
    for name in ("parameters", "tools"):
        if name in asked:
            asked[name] = redact_texts(asked[name], redactor)
    asked["messages"] = [
        {**message, "parts": [_redact_part(part, redactor) for part in message["parts"]]}
        for message in asked["messages"]
    ]
    return {
        "kind": "model",
        "api": entry["api"],
        "path": redactor.text(entry["path"], "path"),
        "asked": asked,
        "answer": _redact_answer(entry["answer"], entry["api"], redactor),
    }


def _redact_part(part: JsonObject, redactor: Redactor) -> JsonObject:
    """Secret keys count only in what tools were given and returned."""
    for name in ("arguments", "result", "raw"):
        if name in part:
            return {**part, name: redact_json(part[name], redactor, name)}
    if "base64" in part:
        return part
    text = part.get("text")
    if part.get("type") in ("text", "refusal", "reasoning"):
        return part if text is None else {**part, "text": redactor.text(text, "text")}
    return redact_texts(part, redactor)  # type: ignore[no-any-return]


def _redact_action(entry: JsonObject, redactor: Redactor) -> JsonObject:
    kept = dict(entry)
    if "arguments" in kept:
        kept["arguments"] = redact_json(kept["arguments"], redactor, "arguments")
    if "result" in kept:
        kept["result"] = redact_json(_whole_secrets(kept, redactor), redactor, "result")
    if "error" in kept:
        kept["error"] = redact_texts(kept["error"], redactor)
    return kept


def _whole_secrets(action: JsonObject, redactor: Redactor) -> Any:
    """A secret may be cut over the pieces that a generator yields; then it is one piece."""
    pieces = action["result"]
    is_text = isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces)
    if not is_text or not str(action.get("shape")).endswith("generator"):
        return pieces
    whole = "".join(pieces)
    return pieces if redactor.text(whole, "result") == whole else [whole]


def _redact_answer(answer: JsonObject, api: str, redactor: Redactor) -> JsonObject:
    if "error" in answer:
        return {"error": redact_texts(answer["error"], redactor)}
    kept = dict(answer)
    kept["headers"] = {
        name: redactor.text(value, name)
        for name, value in answer["headers"].items()
        if _KEPT_HEADERS.fullmatch(name)
    }
    if "body" in answer:
        kept["body"] = redact_response(answer["body"], redactor)
    else:
        kept["events"] = _redact_events(answer["events"], api, redactor)
    return kept


def _redact_events(events: list[Any], api: str, redactor: Redactor) -> list[Any]:
    """A stream may cut a secret into pieces that look like nothing; then the whole answer is cut anew."""
    whole = assemble_events(events, api)
    redacted = {} if whole is None else redact_response(whole, redactor)
    texts = None if redacted == (whole or {}) else stream_body(redacted, api)
    if texts is not None:
        return [[events[0][0], text] for text in texts]
    return [[at_ms, _redact_event(text, redactor)] for at_ms, text in events]


_DATA = re.compile(r"^(data: ?)(.*)$", re.MULTILINE)


def _redact_event(text: str, redactor: Redactor) -> str:
    def redact(value: Any) -> Any:
        return redact_response(value, redactor)

    if _DATA.search(text) is None:
        # A line of JSON.
        line = text.rstrip("\r\n")
        return redact_json_text(line, redact, parse_json_text) + text[len(line) :]
    return _DATA.sub(
        lambda match: match.group(1) + redact_json_text(match.group(2), redact, parse_json_text), text
    )


def load_cassette(path: Path) -> Cassette:
    try:
        return read_cassette(path.read_text("utf-8"))
    except CassetteError as error:
        raise CassetteError(f"{path}: {error}") from None


def save_cassette(
    path: Path, meta: JsonObject, entries: Sequence[JsonObject], redactor: Redactor, *, is_anew: bool
) -> None:
    """Writes the whole file at once. Tests in other processes may add to the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent):
        if not is_anew and path.exists():
            known = load_cassette(path)
            meta, entries = known.meta, [*known.entries, *entries]
        text = write_cassette(meta, entries, redactor)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".cassette-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                # A lone surrogate is no UTF-8; JSON can escape it.
                file.write(text.encode("utf-8", "backslashreplace").decode("utf-8"))
            os.chmod(draft, 0o644)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Processes that write to the same folder wait for each other; where the system has no such lock, the
    last one wins."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
