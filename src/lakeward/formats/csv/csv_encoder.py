"""Rows → messages: a line each, without the end of the line."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode
from lakeward.formats.csv.csv_decoder import check_columns
from lakeward.formats.csv.csv_options import CsvSettings
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.json.json_text import plain_texts
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema


class CsvEncoder:
    """Writes rows as lines."""

    has_changes = False

    def __init__(self, schema: Schema, settings: CsvSettings) -> None:
        check_columns(schema)
        self._columns = schema.columns
        self._settings = settings

    def encode(self, rows: pa.RecordBatch, kinds: pa.Array | None = None) -> Sequence[bytes | None]:
        """A message for each row."""
        del kinds
        fields = [self._fields(rows.column(i), column.type, column.name) for i, column in enumerate(self._columns)]
        lines = pc.binary_join_element_wise(*fields, pa.scalar(self._settings.delimiter, pa.large_string()))
        messages: list[bytes | None] = lines.cast(pa.large_binary()).to_pylist()
        return messages

    def _fields(self, values: pa.Array, type_: DataType, name: str) -> pa.Array:
        if type_.root is TypeRoot.ARRAY:
            assert type_.element is not None
            delimiter = pa.scalar(self._settings.array_delimiter, pa.large_string())
            items = pc.fill_null(plain_texts(values.flatten(), type_.element, JsonSettings()), "")
            lengths = pc.fill_null(pc.list_value_length(values), 0).cast(pa.int64())
            offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
            texts = pc.binary_join(pa.LargeListArray.from_arrays(offsets, items, mask=values.is_null()), delimiter)
        else:
            texts = plain_texts(values, type_, JsonSettings())
        return pc.fill_null(self._in_quotes(texts, name), self._settings.null or "")

    def _in_quotes(self, texts: pa.Array, name: str) -> pa.Array:
        """Texts in quotes where they must be; an empty one too, which would be NULL otherwise."""
        settings = self._settings
        needs = pc.match_substring_regex(texts, "[" + "".join(f"\\x{ord(c):02x}" for c in self._special()) + "]")
        needs = pc.or_(needs, pc.equal(texts, ""))
        needs = needs if settings.null is None else pc.or_(needs, pc.equal(texts, settings.null))
        if not pc.any(needs).as_py():
            return texts
        if settings.quote is None:
            raise ErrorCode.INVALID_TABLE.error(
                f"Column '{name}' has a text with a delimiter in it, or an empty one, and the format has no quotes."
            )
        doubled = texts
        if settings.escape is not None:
            doubled = pc.replace_substring(doubled, settings.escape, 2 * settings.escape)
        doubled = pc.replace_substring(doubled, settings.quote, 2 * settings.quote)
        quote = pa.scalar(settings.quote, pa.large_string())
        quoted = pc.binary_join_element_wise(quote, doubled, quote, pa.scalar("", pa.large_string()))
        return pc.if_else(needs, quoted, texts)

    def _special(self) -> str:
        return f"{self._settings.delimiter}{self._settings.quote or ''}{self._settings.escape or ''}\r\n#"
