"""Phrasings of an input by rules. The same seed always gives the same ones, in TypeScript too."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable, TypeVar

from .required_argument import MAX_ITEMS, fail, require_number, require_text

_Item = TypeVar("_Item")
Random = Callable[[], float]
_LOOKALIKES = str.maketrans({"a": "\u0430", "e": "\u0435", "i": "\u0456", "o": "\u043e", "p": "\u0440"})
# Neighbouring keys on a QWERTY keyboard.
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_FINAL_MARKS = re.compile(r"[.!?…\s]+\Z")


def variations(text: str, *, seed: int = 1) -> Variations:
    """Phrasings of an input, without a model:

    inputs=variations("I was charged twice. Please help.").typos(count=3).case_and_punctuation()
    """
    return Variations(text, seed)


class Variations:
    def __init__(self, text: str, seed: int) -> None:
        self._text = require_text(text, "The text to vary")
        self._seed = require_number(seed, "The seed")
        # In the order in which they were made.
        self._made: dict[str, None] = {text: None}

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._made))

    def __len__(self) -> int:
        return len(self._made)

    def typos(self, *, rate: float = 0.05, count: int = 3) -> Variations:
        """Omits, doubles and mistypes letters; `rate` is the share of letters that change."""
        require_number(rate, "The rate of typos", 0, 1)
        return self._add(count, "typos", lambda random: _add_typos(self._text, rate, random))

    def change_case(self) -> Variations:
        """Lower case, upper case and random case."""
        self._keep(self._text.lower(), self._text.upper())
        return self._add(
            1,
            "case",
            lambda random: "".join(
                letter.upper() if random() < 0.5 else letter.lower() for letter in self._text
            ),
        )

    def punctuation(self) -> Variations:
        """Without punctuation, without the final mark, with too many marks, and with odd spacing."""
        bare = re.sub("[.,;:!?'\"…]+", "", self._text)
        unfinished = _FINAL_MARKS.sub("", self._text)
        spaced = self._text.replace(" ", "  ")
        self._keep(bare, unfinished, f"{unfinished}!!!", f"  {spaced} ")
        return self

    def case_and_punctuation(self) -> Variations:
        return self.change_case().punctuation()

    def reorder_sentences(self, count: int = 2) -> Variations:
        """Shuffles the sentences; adds nothing for a single one."""
        _require_count(count)
        sentences = [found.strip() for found in re.findall("[^.!?…]+[.!?…]*", self._text)]
        if len(sentences) < 2:
            return self
        return self._add(count, "order", lambda random: " ".join(_shuffle(sentences, random)))

    def distractor(self, text: str) -> Variations:
        """Adds an unrelated text before and after."""
        require_text(text, "The distractor")
        self._keep(f"{self._text} {text}", f"{text} {self._text}")
        return self

    def unicode(self) -> Variations:
        """Lookalikes, decomposed accents, invisible spaces, curly quotes, and full-width forms."""
        decomposed = unicodedata.normalize("NFD", self._text)
        self._keep(
            self._text.translate(_LOOKALIKES),
            re.sub(r"\w", lambda found: f"{found[0]}\u200b", decomposed, count=1, flags=re.ASCII),
            self._text.replace("'", "\u2019").replace(" ", "\u00a0"),
            "".join(_to_full_width(letter) for letter in self._text),
        )
        return self

    def paraphrases(self, texts: Iterable[str]) -> Variations:
        """Adds phrasings that you wrote yourself."""
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            fail("The paraphrases", "must be a list", texts)
        for text in texts:
            self._keep(require_text(text, "A paraphrase"))
        return self

    def _keep(self, *texts: str) -> None:
        self._made.update(dict.fromkeys(texts))

    def _add(self, count: int, kind: str, make: Callable[[Random], str]) -> Variations:
        """Adds `count` new variations; gives up after many duplicates."""
        _require_count(count)
        random = _create_random(f"{self._seed} {kind} {self._text}")
        wanted = len(self._made) + count
        for _ in range(count * 20):
            if len(self._made) >= wanted:
                break
            self._keep(make(random))
        return self


def _require_count(count: Any) -> None:
    require_number(count, "The number of variations", 0, MAX_ITEMS, is_whole=True)


def _add_typos(text: str, rate: float, random: Random) -> str:
    letters = list(text)
    places = [index for index, letter in enumerate(letters) if re.fullmatch("[a-zA-Z]", letter)]
    wanted = max(1, math.floor(len(places) * rate + 0.5))
    for place in _shuffle(places, random)[:wanted]:
        letters[place] = _mistype(letters[place], random)
    return "".join(letters)


def _mistype(letter: str, random: Random) -> str:
    way = math.floor(random() * 4)
    if way == 0:
        return ""
    if way == 1:
        return letter + letter
    row = next((keys for keys in _ROWS if letter.lower() in keys), _ROWS[0])
    index = row.find(letter.lower()) + (-1 if random() < 0.5 else 1)
    beside = row[index] if 0 <= index < len(row) else row[1]
    return beside if way == 2 else beside + letter


def _to_full_width(letter: str) -> str:
    code = ord(letter)
    return chr(code + 0xFEE0) if 0x20 < code < 0x7F else letter


def _shuffle(items: Sequence[_Item], random: Random) -> list[_Item]:
    shuffled = list(items)
    for index in range(len(shuffled) - 1, 0, -1):
        other = math.floor(random() * (index + 1))
        shuffled[index], shuffled[other] = shuffled[other], shuffled[index]
    return shuffled


def _create_random(seed: str) -> Random:
    """Numbers from 0 to 1: mulberry32, seeded with an FNV-1a hash of the text."""
    state = 2_166_136_261
    for character in seed:
        state = (state ^ ord(character)) * 16_777_619 & 0xFFFFFFFF

    def draw() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        mixed = (state ^ (state >> 15)) * (1 | state) & 0xFFFFFFFF
        mixed = ((mixed + ((mixed ^ (mixed >> 7)) * (61 | mixed) & 0xFFFFFFFF)) & 0xFFFFFFFF) ^ mixed
        return (mixed ^ (mixed >> 14)) / 4_294_967_296

    return draw
