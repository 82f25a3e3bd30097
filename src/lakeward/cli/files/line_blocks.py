"""LineBlocks: bytes cut into blocks of whole lines, each with the number of its first line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lakeward.cli.files.bad_row import BadRowError
from lakeward.cli.files.source import Source

BLOCK_BYTES = 4 * 1024 * 1024
RECORD_BYTES_MAX = 64 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Some lines; `first_line` counts from 1."""

    data: bytes
    first_line: int


class LineBlocks:
    """The blocks of a source. `cut` says how many bytes of a buffer are whole records, 0 if not even one."""

    def __init__(self, source: Source, cut: Callable[[bytes], int], block_bytes: int = BLOCK_BYTES) -> None:
        self._source = source
        self._cut = cut
        self._block_bytes = block_bytes
        self._peeked: list[Block] = []
        self._blocks = self._read()

    def peek(self, number: int = 0) -> Block | None:
        """One of the first blocks, which stays to be read; None when there are not so many."""
        while len(self._peeked) <= number and (block := next(self._blocks, None)) is not None:
            self._peeked.append(block)
        return self._peeked[number] if number < len(self._peeked) else None

    def __iter__(self) -> Iterator[Block]:
        yield from self._peeked
        yield from self._blocks

    def _read(self) -> Iterator[Block]:
        line, left = 1, b""
        is_start = True
        while piece := self._source.read(self._block_bytes):
            data = left + piece
            if is_start and len(data) >= len(_MARK):
                is_start, data = False, data.removeprefix(_MARK)
            whole = self._cut(data)
            if not whole and len(data) > RECORD_BYTES_MAX:
                mb = RECORD_BYTES_MAX >> 20
                raise BadRowError(
                    f"{self._source.name}, line {line}", f"no end of the row within {mb} MB; is a quote left open?"
                )
            if whole:
                yield Block(data[:whole], line)
                line += data.count(b"\n", 0, whole)
            left = data[whole:]
        if left:
            yield Block(left, line)


def whole_lines(data: bytes) -> int:
    """How many bytes are whole lines."""
    return data.rfind(b"\n") + 1


def whole_quoted_lines(data: bytes) -> int:
    """How many bytes are whole lines, where a line break between quotes does not end a line."""
    quotes = data.count(b'"')
    end = len(data)
    while (at := data.rfind(b"\n", 0, end)) >= 0:
        quotes -= data.count(b'"', at, end)
        if quotes % 2 == 0:
            return at + 1
        end = at
    return 0


def text_of(block: Block, name: str) -> str:
    """The block as text; a byte that is not UTF-8 is reported with its line."""
    try:
        return block.data.decode()
    except UnicodeDecodeError as wrong:
        line = block.first_line + block.data.count(b"\n", 0, wrong.start)
        raise BadRowError(
            f"{name}, line {line}", f"byte 0x{block.data[wrong.start]:02x} is not UTF-8; convert the file first"
        ) from wrong
