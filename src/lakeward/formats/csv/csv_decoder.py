"""Messages → rows: a line each, its fields in the order of the columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode
from lakeward.formats.csv.csv_kernels import OPEN_QUOTE, fields_of
from lakeward.formats.csv.csv_options import CsvSettings
from lakeward.formats.port import Decoded
from lakeward.formats.values.faults import Faults
from lakeward.formats.values.leaf_columns import leaf_column
from lakeward.formats.values.messages import values_of
from lakeward.formats.values.values import FITS, I64, NULL, STRING, U8, UNFIT, Values
from lakeward.model.data_types import NESTED, DataType, TypeRoot
from lakeward.model.data_types import STRING as TEXT
from lakeward.model.schema import Column, Schema
from lakeward.records.arrow.arrow_types import arrow_schema

_TEXTS = {TypeRoot.STRING, TypeRoot.CHAR}


def check_columns(schema: Schema) -> None:
    """Refuse columns that no field can hold: of what is nested, only an ARRAY of single values."""
    for column in schema.columns:
        element = column.type.element
        if column.type.root in NESTED and (element is None or element.root in NESTED):
            raise ErrorCode.INVALID_TABLE.error(
                f"Column '{column.name}' is of type {column.type}, which the format 'csv' cannot hold; take 'json'."
            )


class CsvDecoder:
    """Reads rows of lines."""

    has_changes = False

    def __init__(self, schema: Schema, settings: CsvSettings) -> None:
        check_columns(schema)
        self._columns = schema.columns
        self._arrow = arrow_schema(schema)
        self._settings = settings

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """The rows of the messages."""
        faults, settings = Faults(), self._settings
        lines = values_of(messages, faults)
        if settings.allows_comments:
            is_comment = [(messages[owner] or b"").startswith(b"#") for owner in lines.owners.tolist()]
            lines = lines.take(~np.array(is_comment, np.bool_))
        out, starts, ends, kinds, counts, wrong = fields_of(
            lines.starts, lines.ends, len(self._columns), settings.delimiter, settings.quote, settings.escape
        )
        self._check_lines(lines, counts, wrong, faults)
        columns = []
        for at, column in enumerate(self._columns):
            values = Values((*lines.held, out), starts[at], ends[at], kinds[at], lines.owners)
            columns.append(self._column(values, column, faults))
        rows, owners = pa.RecordBatch.from_arrays(columns, schema=self._arrow), lines.owners
        if len(faults):
            keep = ~np.isin(owners, faults.owners())
            rows, owners = rows.filter(pa.array(keep)), owners[keep]
        return Decoded(rows, pa.array(owners), None, faults.bad())

    def _check_lines(self, lines: Values, counts: I64, wrong: U8, faults: Faults) -> None:
        is_empty = lines.starts == lines.ends
        for index in np.flatnonzero((counts != len(self._columns)) | (wrong > 0) | is_empty).tolist():
            if is_empty[index]:
                reason = "it is empty"
            elif wrong[index] == OPEN_QUOTE:
                reason = "a quote is not closed"
            elif wrong[index]:
                reason = "there is something between a closing quote and the next field"
            else:
                reason = f"it has {counts[index]} fields, and the table {len(self._columns)} columns"
            faults.add(int(lines.owners[index]), reason)

    def _column(self, values: Values, column: Column, faults: Faults) -> pa.Array:
        type_ = column.type
        texts, there = leaf_column(values, TEXT())
        if self._settings.null is not None:
            is_null = np.asarray(pc.fill_null(pc.equal(texts, self._settings.null), False))  # noqa: FBT003
            kinds = np.where(is_null, NULL, np.where(values.kinds == NULL, STRING, values.kinds)).astype(np.uint8)
            values = Values(values.held, values.starts, values.ends, kinds, values.owners)
            texts, there = leaf_column(values, TEXT())
        if type_.root in _TEXTS:
            made, status = texts, there
        elif type_.root is TypeRoot.ARRAY:
            made, status = self._arrays(texts, type_)
        else:
            made, status = leaf_column(values, type_)
        if not self._settings.ignores_errors:
            faults.add_unfit(values, status, column.name, type_)
        if not type_.nullable:
            faults.add_absent(values, status, column.name)
        return made

    def _arrays(self, texts: pa.Array, type_: DataType) -> tuple[pa.Array, U8]:
        assert type_.element is not None
        parts = pc.split_pattern(texts, self._settings.array_delimiter)
        inner = parts.flatten()
        data = np.frombuffer(inner.buffers()[2] or b"", np.uint8)
        bounds = np.frombuffer(inner.buffers()[1] or bytes(4), np.int32).astype(np.int64) + data.ctypes.data
        bounds = bounds[inner.offset : inner.offset + len(inner) + 1]
        owners = np.repeat(np.arange(len(texts)), np.asarray(pc.list_value_length(parts).fill_null(0)))
        items = Values((data,), bounds[:-1], bounds[1:], np.full(len(inner), STRING, np.uint8), owners)
        column, fits = leaf_column(items, type_.element)
        status = np.where(np.asarray(texts.is_valid()), FITS, 0).astype(np.uint8)
        status[owners[fits == UNFIT]] = UNFIT
        target = arrow_schema(Schema((Column("c", type_),))).field("c").type
        made = pa.ListArray.from_arrays(parts.offsets, column, type=target, mask=parts.is_null())
        return pc.if_else(pa.array(status == FITS), made, pa.scalar(None, target)), status
