"""Charsets: texts of any character set → UTF-8, by the server's own tables.

utf8mb4, utf8mb3 and ascii are UTF-8 already. Of a character set with one byte a character the server is asked once what
each byte means. For the others Python's codecs stand in where they agree with the server to the last character; texts
of the rest are sent to the server to be converted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lakeward.capture.mysql.cells.cell_kernels import copy_mapped, measure_mapped
from lakeward.capture.mysql.cells.cells import Cells

_UTF8 = {"utf8mb4", "utf8mb3", "utf8", "ascii", "binary"}
_WIDE = {"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"}
_MANY_BYTES = {"big5", "gbk", "gb2312", "gb18030", "sjis", "cp932", "ujis", "eucjpms", "euckr"}
_TEXTS_PER_QUERY = 500

Query = Callable[[str], Sequence[tuple[Any, ...]]]


class Charsets:
    """Converts columns; `query` asks the server."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._tables: dict[str, tuple[Any, Any]] = {}
        self._collations: dict[int, str] = {}

    def collation(self, number: int) -> str:
        """The name of a collation that a TABLE_MAP tells by its number."""
        if not self._collations:
            rows = self._query("SELECT ID, COLLATION_NAME FROM INFORMATION_SCHEMA.COLLATIONS WHERE ID IS NOT NULL")
            self._collations = {int(row[0]): str(row[1]) for row in rows}
            self._collations |= {int(row[0]): str(row[1]) for row in self._applicable()}
        return self._collations.get(number, "utf8mb4_general_ci")

    def _applicable(self) -> Sequence[tuple[Any, ...]]:
        """MariaDB has collations of several character sets, whose numbers stand elsewhere."""
        known = self._query(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME ="
            " 'COLLATION_CHARACTER_SET_APPLICABILITY' AND COLUMN_NAME = 'ID'"
        )
        if not known[0][0]:
            return ()
        return self._query(
            "SELECT ID, FULL_COLLATION_NAME FROM INFORMATION_SCHEMA.COLLATION_CHARACTER_SET_APPLICABILITY"
            " WHERE ID IS NOT NULL"
        )

    def texts(self, cells: Cells, charset: str) -> pa.Array:
        """The column as texts of Arrow."""
        if charset in _UTF8:
            return cells.binary(pa.string())
        if charset in _WIDE or charset in _MANY_BYTES:
            values = cells.binary(pa.binary()).dictionary_encode()
            words = self._convert(values.dictionary.to_pylist(), charset)
            return pa.DictionaryArray.from_arrays(values.indices, pa.array(words, pa.string())).cast(pa.string())
        widths, table = self._table(charset)
        offsets = np.empty(len(cells) + 1, np.int32)
        total = measure_mapped(cells.data, cells.starts, cells.lengths, widths, offsets)
        out = np.empty(max(total, 1), np.uint8)
        copy_mapped(cells.data, cells.starts, cells.lengths, widths, table, offsets, out)
        return pa.Array.from_buffers(
            pa.string(), len(cells), [cells.validity(), pa.py_buffer(offsets), pa.py_buffer(out)]
        )

    def text(self, value: bytes, charset: str) -> str:
        """One text."""
        return value.decode() if charset in _UTF8 else self._convert([value], charset)[0]

    def _convert(self, values: Sequence[bytes], charset: str) -> list[str]:
        if charset in _WIDE:
            return [value.decode(_WIDE[charset], "replace") for value in values]
        words: list[str] = []
        for begin in range(0, len(values), _TEXTS_PER_QUERY):
            some = values[begin : begin + _TEXTS_PER_QUERY]
            asked = ", ".join(f"CONVERT(_{charset} X'{value.hex()}' USING utf8mb4)" for value in some)
            words += self._query(f"SELECT {asked}")[0]
        return words

    def _table(self, charset: str) -> tuple[Any, Any]:
        """What each byte of a character set becomes: how many bytes, and which."""
        if charset not in self._tables:
            words = [word.encode() for word in self._convert([bytes([byte]) for byte in range(256)], charset)]
            widths, table = np.zeros(256, np.uint8), np.zeros((256, 4), np.uint8)
            for byte, word in enumerate(words):
                widths[byte] = len(word)
                table[byte, : len(word)] = list(word)
            self._tables[charset] = widths, table
        return self._tables[charset]
