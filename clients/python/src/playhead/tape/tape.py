"""Looks up what a run asks: each entry is used once.

Repeats are served in recorded order, parallel calls by what they ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, TypeVar, Union

from ..capture.json_value import JsonObject
from .compare import IsSameText, compare_values, parse_json_text
from .meaning import Meaning, read_meaning, settings_of
from .miss import TapeMiss, explain_action_miss, explain_model_miss
from .text_shape import VolatileIds, shape_of_text, shape_of_value

VOLATILE = "⟨volatile⟩"


@dataclass
class ModelEntry:
    number: int
    # The line of the cassette: api, path, asked, answer.
    line: JsonObject
    asked: Meaning = field(init=False)
    is_used: bool = False
    kind: str = "model"

    def __post_init__(self) -> None:
        self.asked = read_meaning(self.line["asked"])

    @property
    def title(self) -> str:
        return str(self.asked.model or self.line["api"])


@dataclass
class ActionEntry:
    number: int
    # The line of the cassette: name, arguments, shape, result or error, isContainer.
    line: JsonObject
    is_used: bool = False
    kind: str = "action"

    @property
    def title(self) -> str:
        return str(self.line["name"])

    @property
    def arguments(self) -> Any:
        return self.line.get("arguments")

    @property
    def is_container(self) -> bool:
        """It holds other entries: it runs again, and what is inside it is served."""
        return self.line.get("isContainer") is True


TapeEntry = Union[ModelEntry, ActionEntry]
Entry = TypeVar("Entry", ModelEntry, ActionEntry)


def to_entries(lines: Iterable[JsonObject]) -> list[TapeEntry]:
    """The model calls and actions of a cassette."""
    return [
        ModelEntry(number, line) if line["kind"] == "model" else ActionEntry(number, line)
        for number, line in enumerate(lines, 1)
    ]


class Tape:
    def __init__(self, entries: Sequence[TapeEntry], volatile: Sequence[str] = ()) -> None:
        self.entries: list[TapeEntry] = list(entries)
        self._volatile = [re.compile(pattern) for pattern in volatile]
        self._models = [entry for entry in self.entries if isinstance(entry, ModelEntry)]
        self._by_print: dict[str, list[ModelEntry]] = {}
        self._by_name: dict[str, list[ActionEntry]] = {}
        ids: set[str] = set()
        for entry in self.entries:
            if isinstance(entry, ModelEntry):
                self._by_print.setdefault(self._print(entry.asked), []).append(entry)
                _collect_ids(entry.asked.messages, ids)
            else:
                self._by_name.setdefault(entry.title, []).append(entry)
                _collect_ids(entry.arguments, ids)
        self._ids = VolatileIds(frozenset(ids))

    def take_model_call(self, question: JsonObject) -> Union[ModelEntry, TapeMiss]:
        """The recorded call that asked the same, or the reason why there is none."""
        asked = read_meaning(question)

        def is_same(entry: ModelEntry, same_text: IsSameText) -> bool:
            return not compare_values(entry.asked.messages, asked.messages, same_text) and not compare_values(
                *settings_of(entry.asked, asked), same_text
            )

        found = self._take(self._by_print.get(self._print(asked), []), is_same)
        return found or explain_model_miss(asked, self._models, self._same_text(self._ids.fork()))

    def take_action(self, name: str, arguments: Any) -> Union[ActionEntry, TapeMiss]:
        """The recorded action of that name with these arguments, or the reason why there is none."""
        candidates = self._by_name.get(name, [])
        found = self._take(
            candidates, lambda entry, same_text: not compare_values(entry.arguments, arguments, same_text)
        )
        return found or explain_action_miss(name, arguments, candidates, self._same_text(self._ids.fork()))

    @property
    def unused(self) -> list[TapeEntry]:
        return [entry for entry in self.entries if not entry.is_used]

    @property
    def mapped(self) -> dict[str, int]:
        """How many ids and times differed from the recorded ones and were mapped to them."""
        return self._ids.mapped

    def _take(
        self, candidates: Sequence[Entry], is_same: Callable[[Entry, IsSameText], bool]
    ) -> Optional[Entry]:
        for entry in candidates:
            ids = self._ids.fork()
            if not entry.is_used and is_same(entry, self._same_text(ids)):
                self._ids = ids
                entry.is_used = True
                return entry
        return None

    def _same_text(self, ids: VolatileIds) -> IsSameText:
        return lambda taped, live: ids.is_same_text(self._mask(taped), self._mask(live))

    def _mask(self, text: str) -> str:
        for pattern in self._volatile:
            text = pattern.sub(VOLATILE, text)
        return text

    def _mask_all(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._mask(value)
        if isinstance(value, list):
            return [self._mask_all(item) for item in value]
        return (
            {key: self._mask_all(item) for key, item in value.items()} if isinstance(value, dict) else value
        )

    def _print(self, meaning: Meaning) -> str:
        return shape_of_value(self._mask_all(meaning.messages) if self._volatile else meaning.messages)


def _collect_ids(value: Any, ids: set[str], depth: int = 0) -> None:
    """Every id, so that a live id that the tape knows can't be taken for another."""
    if isinstance(value, str):
        shape_of_text(value, lambda token: ids.add(token.text))
        parsed = parse_json_text(value) if value.startswith(("{", "[")) else None
        if isinstance(parsed, (dict, list)):
            _collect_ids(parsed, ids, depth + 1)
    elif isinstance(value, (dict, list)) and depth < 40:
        for item in value.values() if isinstance(value, dict) else value:
            _collect_ids(item, ids, depth + 1)
