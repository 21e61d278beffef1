"""Why the tape has no answer: the nearest recording, and the first thing that differs from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, TypeVar

from .compare import MISSING, IsSameText, compare_values, describe_value, diff_words, visible_text
from .meaning import Meaning, inside_message, settings_of, tool_of_message
from .text_shape import VolatileToken, replace_tokens, shape_of_text

if TYPE_CHECKING:
    from .tape import ActionEntry, ModelEntry, TapeEntry

    Entry = TypeVar("Entry", ModelEntry, ActionEntry)

VALUE_WIDTH = 60


@dataclasses.dataclass
class TapeMiss:
    # model or action
    kind: str
    sentence: str
    # The number of the nearest entry; None when the tape has none of that kind.
    step: Optional[int] = None
    # The number of the message that differs; the first is 1.
    message: Optional[int] = None
    # `system prompt`, `message 3 (tool result of fetch_customer)`, `argument customer_id`
    field: Optional[str] = None
    recorded: Any = MISSING
    asked: Any = MISSING
    # The difference word by word, where both sides are text.
    words: list[dict[str, str]] = dataclasses.field(default_factory=list)
    # True for what no cassette can hold, such as a connection.
    is_refusal: bool = False

    def diff(self) -> list[str]:
        """The words that differ, if both sides are text: the recorded ones above the asked ones."""
        if not self.words:
            return []
        recorded, asked = (_side(self.words, kind) for kind in ("a", "b"))
        return [f"- recorded: {recorded}\n+ asked:    {asked}"]


class _Place(NamedTuple):
    field: str
    recorded: Any
    asked: Any
    message: Optional[int] = None


def explain_model_miss(asked: Meaning, entries: Sequence[ModelEntry], same_text: IsSameText) -> TapeMiss:
    if not entries:
        return TapeMiss("model", "The tape has no model call.")
    nearest = _pick_nearest(entries, lambda entry: _count_equal(entry.asked, asked, same_text))
    place = _find_place(nearest.asked, asked, same_text)
    if place is None:
        return _miss_of(nearest, "The model was asked this once more than recorded")
    is_longer = len(asked.messages) > len(nearest.asked.messages)
    if is_longer and all(entry.is_used for entry in entries):
        return _miss_of(
            nearest, "The tape has no model call left. The last one that is like this", place, same_text
        )
    return _miss_of(nearest, "The model was asked something else than recorded", place, same_text)


def explain_action_miss(
    name: str, given: Any, entries: Sequence[ActionEntry], same_text: IsSameText
) -> TapeMiss:
    shown = visible_text(name)
    if not entries:
        return TapeMiss("action", f"The tape has no action {shown}: the recorded run never called it.")
    nearest = _pick_nearest(
        entries, lambda entry: -len(compare_values(entry.arguments, given, same_text, 100))
    )
    differences = compare_values(nearest.arguments, given, same_text)
    if not differences:
        return _miss_of(nearest, f"{shown} was called once more than recorded")
    difference = differences[0]
    place = _Place(
        f"argument {difference.path}" if difference.path else "arguments",
        difference.recorded,
        difference.asked,
    )
    return _miss_of(nearest, f"{shown} was called with other arguments than recorded", place, same_text)


def _pick_nearest(entries: Sequence[Entry], score: Callable[[Entry], float]) -> Entry:
    """The best score wins, then what was not used, then what comes first."""
    return max(entries, key=lambda entry: score(entry) + (0 if entry.is_used else 0.5))


def _count_equal(taped: Meaning, live: Meaning, same_text: IsSameText) -> float:
    count = 0
    for one, other in zip(taped.messages, live.messages):
        if compare_values(one, other, same_text):
            break
        count += 1
    # Of calls that begin alike, the one of the same length is the same turn.
    return count - abs(len(taped.messages) - len(live.messages)) / 1000


def _find_place(taped: Meaning, live: Meaning, same_text: IsSameText) -> Optional[_Place]:
    for index in range(max(len(taped.messages), len(live.messages))):
        recorded = taped.messages[index] if index < len(taped.messages) else MISSING
        asked = live.messages[index] if index < len(live.messages) else MISSING
        differences = compare_values(recorded, asked, same_text)
        if not differences:
            continue
        inside = inside_message(differences[0].path)
        name = _name_message(asked if recorded is MISSING else recorded, index)
        is_whole = recorded is MISSING or asked is MISSING or inside in ("", "role")
        where = name if is_whole else f"{name} › {inside}"
        return _Place(where, differences[0].recorded, differences[0].asked, index + 1)
    for difference in compare_values(*settings_of(taped, live), same_text):
        path = difference.path
        name = path[len("parameters.") :] if path.startswith("parameters.") else path
        return _Place(name, difference.recorded, difference.asked)
    return None


def _name_message(message: dict[str, Any], index: int) -> str:
    if message["role"] == "system":
        return "system prompt"
    tool = tool_of_message(message)
    what = f"tool result of {visible_text(tool)}" if tool is not None else message["role"]
    return f"message {index + 1} ({'tool result' if what == 'tool' else what})"


def _miss_of(
    nearest: TapeEntry, start: str, place: Optional[_Place] = None, same_text: Optional[IsSameText] = None
) -> TapeMiss:
    where = f"step {nearest.number} {visible_text(nearest.title)}"
    if place is None:
        return TapeMiss(nearest.kind, f"{start} ({where}).", nearest.number)
    recorded, asked = place.recorded, place.asked
    are_texts = isinstance(recorded, str) and isinstance(asked, str)
    read = _with_recorded_ids(recorded, asked, same_text) if are_texts and same_text is not None else asked
    shown = _cut_to_difference(recorded, read) if are_texts else (recorded, asked)
    return TapeMiss(
        nearest.kind,
        f"{start} ({where}): {visible_text(place.field)} {_compare_shown(*shown)}.",
        nearest.number,
        place.message,
        place.field,
        recorded,
        asked,
        diff_words(recorded, read) if are_texts else [],
    )


def _with_recorded_ids(recorded: str, asked: str, same_text: IsSameText) -> str:
    """What was asked, with the recorded ids and times where others stand for them: they are no difference."""
    taped: list[VolatileToken] = []
    live: list[VolatileToken] = []
    shape_of_text(recorded, taped.append)
    shape_of_text(asked, live.append)
    if [token.shape for token in taped] != [token.shape for token in live]:
        return asked
    recorded_ids = iter(taped)

    def replace(token: VolatileToken) -> str:
        known = next(recorded_ids).text
        return known if same_text(known, token.text) else token.text

    return replace_tokens(asked, replace)


def _compare_shown(recorded: Any, asked: Any) -> str:
    if asked is MISSING:
        return f"is missing, recorded was {describe_value(recorded, VALUE_WIDTH)}"
    if recorded is MISSING:
        return f"is new: {describe_value(asked, VALUE_WIDTH)}"
    return f"is {describe_value(asked, VALUE_WIDTH)}, recorded was {describe_value(recorded, VALUE_WIDTH)}"


def _cut_to_difference(a: str, b: str) -> tuple[str, str]:
    """Long texts are shown from shortly before they differ."""
    start = next((i for i, (one, other) in enumerate(zip(a, b)) if one != other), min(len(a), len(b)))
    begin = a.rfind(" ", 0, max(0, start - 16) + 1) + 1
    return (a, b) if begin < 2 else (f"…{a[begin:]}", f"…{b[begin:]}")


def _side(words: list[dict[str, str]], kind: str) -> str:
    return "".join(
        _shorten(word["text"]) if word["kind"] == "same" else visible_text(word["text"])
        for word in words
        if word["kind"] in ("same", kind)
    )


def _shorten(text: str) -> str:
    """What both sides share, without its middle."""
    return visible_text(text if len(text) <= 120 else f"{text[:40]} … {text[-40:]}")
