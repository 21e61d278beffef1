"""Server-sent events in chunks of any size, the times of streamed text, and encoded bodies."""

from __future__ import annotations

import codecs
import importlib
import zlib
from typing import Any, Optional

from ..serialize import write_json

MAX_CHUNKS = 512


class EventStream:
    """Reads only the `data:` fields; of a stream of JSON lines, such as Ollama's, each line is an event."""

    def __init__(self, is_json_lines: bool = False) -> None:
        self._is_json_lines = is_json_lines
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._data: Optional[str] = None

    def add(self, chunk: bytes, is_final: bool = False) -> list[str]:
        """The data of the events that the chunk completes."""
        found: list[str] = []
        text = self._rest + self._decoder.decode(chunk, is_final) + ("\n\n" if is_final else "")
        lines = text.split("\n")
        self._rest = lines.pop()
        for line in lines:
            self._add_line(line[:-1] if line.endswith("\r") else line, found)
        return found

    def _add_line(self, line: str, found: list[str]) -> None:
        if self._is_json_lines:
            if line.strip():
                found.append(line)
        elif line == "":
            if self._data is not None:
                found.append(self._data)
            self._data = None
        elif line.startswith("data:"):
            value = line[6:] if line.startswith("data: ") else line[5:]
            self._data = value if self._data is None else f"{self._data}\n{value}"


class StreamLog:
    """When each piece of streamed text arrived. Joins neighbours when there are too many."""

    def __init__(self) -> None:
        self._chunks: list[tuple[float, str]] = []

    def add(self, offset_ms: float, text: str) -> None:
        self._chunks.append((round(offset_ms, 2), text))
        if len(self._chunks) > MAX_CHUNKS:
            pairs = zip(self._chunks[::2], [*self._chunks[1::2], (0.0, "")])
            self._chunks = [(left[0], left[1] + right[1]) for left, right in pairs]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self._chunks)

    def to_json(self, text: str, max_length: int) -> tuple[Optional[str], bool]:
        """The chunks as JSON, and whether some were left out. A redacted text is split like the original."""
        if not self._chunks:
            return None, False
        chunks = self._chunks if text == self.text else self._split(text)
        json = write_json(chunks)
        is_cut = len(json) > max_length
        while len(json) > max_length and len(chunks) > 1:
            chunks = chunks[: len(chunks) // 2]
            json = write_json(chunks)
        return (json if len(json) <= max_length else None), is_cut

    def to_times(self) -> Optional[str]:
        return write_json([[offset_ms, ""] for offset_ms, _ in self._chunks]) if self._chunks else None

    def _split(self, text: str) -> list[tuple[float, str]]:
        """A secret may span chunks, so the whole text is redacted and split again."""
        total = max(1, len(self.text))
        passed = start = 0
        shared: list[tuple[float, str]] = []
        for offset_ms, piece in self._chunks:
            passed += len(piece)
            end = round(passed / total * len(text))
            shared.append((offset_ms, text[start:end]))
            start = end
        return shared


class BodyDecoder:
    """Decodes a body chunk by chunk, with the libraries that the host's client has."""

    def __init__(self, encoding: Optional[str]) -> None:
        self.is_readable: bool = True
        self._decoder: Any = None
        word = (encoding or "identity").strip().lower()
        if word in ("gzip", "x-gzip", "deflate"):
            self._decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
        elif word == "br":
            self._use("brotli", "Decompressor", "brotlicffi")
        elif word == "zstd":
            self._use_zstd()
        elif word not in ("identity", ""):
            self.is_readable = False

    def decode(self, chunk: bytes) -> bytes:
        if self._decoder is None:
            return chunk
        step = getattr(self._decoder, "decompress", None) or self._decoder.process
        decoded: bytes = step(chunk)
        return decoded

    def _use(self, module: str, name: str, otherwise: str) -> None:
        for candidate in (module, otherwise):
            try:
                self._decoder = getattr(importlib.import_module(candidate), name)()
                return
            except ImportError:
                continue
        self.is_readable = False

    def _use_zstd(self) -> None:
        try:
            self._decoder = importlib.import_module("zstandard").ZstdDecompressor().decompressobj()
        except ImportError:
            self.is_readable = False
