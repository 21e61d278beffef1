"""Text for a terminal or the log of a build: on one line, and without characters that act on it."""

from __future__ import annotations

import re
from typing import Any

from .json_text import compact_json, utf16_length, utf16_slice

# Control characters, and marks that reorder or break a line without being seen.
_UNSEEN = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
_unseen = re.compile(_UNSEEN)
_unseen_in_lines = re.compile(f"(?![\n\t]){_UNSEEN}")
_line_break = re.compile(r"[ \t]*[\n\r\t][ \t\n\r]*")
_lone_surrogate = re.compile("[\ud800-\udfff]")
# JavaScript's white space: Python's has a few control characters more.
WHITE_SPACE = re.compile("[\t\n\x0b\x0c\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_SPACES = "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
WHITE_CHARACTERS = _SPACES + "\u2028\u2029\u202f\u205f\u3000\ufeff"
# What a build service takes for a command.
_command_at_start = re.compile(r"^((?:[^\S\n]|\x1b\[\d+m)*)::(?=[a-z])", re.IGNORECASE | re.MULTILINE)
_command_anywhere = re.compile(r"##(?=[\w.-]*\[)")


def visible_text(text: str) -> str:
    """Text on one line, with control characters escaped."""
    return _unseen.sub(_escape, _line_break.sub(" ", well_formed(text)))


def visible_lines(text: str) -> str:
    """As `visible_text`, for text of several lines: line breaks and tabs stay."""
    return _unseen_in_lines.sub(_escape, well_formed(text).replace("\r\n", "\n"))


def safe_for_log(text: str) -> str:
    """As `visible_lines`, and no line is a command to the build service."""
    plain = _command_at_start.sub(r"\1\\::", visible_lines(text))
    return _command_anywhere.sub(r"#\\#", plain)


def well_formed(text: str) -> str:
    """Half of a surrogate pair can't be written as UTF-8."""
    return text if text.isascii() else _lone_surrogate.sub("\ufffd", text)


def one_line(text: str, width: int) -> str:
    """At most `width` characters; `…` marks a cut."""
    # Reads only the beginning, whatever the size of the text.
    beginning = utf16_slice(text, width * 4 + 100)
    line = visible_text(WHITE_SPACE.sub(" ", beginning).strip(WHITE_CHARACTERS))
    if len(line) <= width and utf16_length(beginning) == utf16_length(text):
        return line
    return f"{line[: max(1, width - 1)]}…"


def describe_value(value: Any, width: int) -> str:
    """Any value on one line: texts in quotes, the rest as JSON."""
    if isinstance(value, str):
        escaped = value.replace('"', '\\"')
        return f'"{one_line(escaped, max(1, width - 2))}"'
    return one_line(compact_json(value, width * 4), width)


def _escape(found: re.Match[str]) -> str:
    code = f"{ord(found[0]):x}"
    return f"\\u{code:0>4}" if len(code) > 2 else f"\\x{code:0>2}"
