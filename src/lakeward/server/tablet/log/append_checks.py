"""What a batch must be before it is appended: rows of its table that every reader can read.

A refusal is INVALID_TARGET_COLUMN, which fails the batch at the client. CORRUPT_RECORD would have it sent again, for
ever: pyfluss does so three thousand times a second. That code stays with batches whose checksum is wrong, where sending
again helps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.table import LOG_FORMAT
from lakeward.records.arrow.row_batches import APPEND_ONLY, records_of
from lakeward.records.batch.batch_header import HEADER_BYTES
from lakeward.records.batch.log_batch import BatchSpan
from lakeward.records.batch.statistics import parse_statistics
from lakeward.records.ipc.arrow_message import NO_CODEC
from lakeward.records.ipc.arrow_structure import Node, nodes_of
from lakeward.records.ipc.known_messages import KnownMessages
from lakeward.records.row import compacted_row, indexed_row
from lakeward.records.row.row_codec import RowFormat
from lakeward.server.catalog.catalog import Catalog

#: What the rows of a batch may take without compression: so much, or so many times what was sent. It is what readers
#: take by default (`client.scanner.log.max-decompressed-batch-size`): nothing is stored that they refuse.
_RAW_BYTES_MAX = 128 << 20
_RATIO_MAX = 16
#: Rows of the INDEXED and COMPACTED formats are decoded in Python, so many times slower than bytes are decompressed.
_COST_OF_ROWS = 100
_ROW_FORMATS: dict[str, RowFormat] = {"COMPACTED": compacted_row.codec, "INDEXED": indexed_row.codec}


class Rest:
    """Batches that are to be looked into: what is compressed, and rows one by one."""

    def __init__(self, table: TablePath, bucket: TableBucket) -> None:
        self._table, self._bucket = table, bucket
        self._checks: list[Callable[[], None]] = []
        #: Bytes to be decompressed, a gigabyte of them a second; or what takes as long.
        self.raw_bytes = 0

    def add(self, check: Callable[[], None], raw_bytes: int) -> None:
        """One more batch."""
        self._checks.append(check)
        self.raw_bytes += raw_bytes

    def __call__(self) -> LakewardError | None:
        """Look; returns why the batches are refused."""
        try:
            for check in self._checks:
                check()
        except LakewardError as wrong:
            return refusal(self._table, self._bucket, wrong)
        return None


class AppendChecks:
    """Looks at batches for log tables, as far as `log.batch.check` says."""

    def __init__(self, catalog: Catalog, *, looks_at_contents: bool) -> None:
        self._catalog = catalog
        self._looks_at_contents = looks_at_contents
        self._schemas: dict[tuple[int, int], tuple[tuple[Node, ...], KnownMessages]] = {}

    def check(self, table: TableInfo, bucket: TableBucket, data: memoryview, spans: list[BatchSpan]) -> None:
        """Refuse batches that readers could not read."""
        wrong = self.begin(table, bucket, data, spans)()
        if wrong is not None:
            raise wrong

    def begin(self, table: TableInfo, bucket: TableBucket, data: memoryview, spans: list[BatchSpan]) -> Rest:
        """Refuse what can be refused at once; the rest is to be done, on any thread."""
        if table.descriptor.has_primary_key:
            raise ErrorCode.INVALID_TABLE.error(f"Table {table.path} has a primary key; rows are put, not appended.")
        log_format = LOG_FORMAT.read(table.descriptor.properties).upper()
        rest = Rest(table.path, bucket)
        for span in spans:
            schema_id = span.header.schema_id
            schema = self._catalog.schema(table.table_id, schema_id) if 0 < schema_id <= table.schema_id else None
            if schema is None:
                raise ErrorCode.SCHEMA_NOT_EXIST.error(
                    f"Table {table.path} has schemas 1 to {table.schema_id}; the batch was written with {schema_id}."
                )
            try:
                if log_format == "ARROW" or _begins_as_arrow(data, span):
                    self._check_arrow(table.table_id, schema, data, span, rest)
                else:
                    check = partial(self._check_rows, _ROW_FORMATS[log_format], schema, data, span)
                    rest.add(check, _COST_OF_ROWS * (span.end - span.start))
            except LakewardError as wrong:
                raise refusal(table.path, bucket, wrong) from wrong
        return rest

    def _check_arrow(self, table_id: int, schema: Schema, data: memoryview, span: BatchSpan, rest: Rest) -> None:
        header = span.header
        at = span.start + HEADER_BYTES[header.magic]
        if header.statistics_length:
            _check_statistics(data[at : at + header.statistics_length], schema, header.record_count)
            at += header.statistics_length
        if not header.append_only:
            kinds = bytes(data[at : min(at + header.record_count, span.end)])
            if kinds.strip(b"\0"):
                raise _unfit("a log table takes rows that are appended, and no other kind of change")
            at += header.record_count
        if at == span.end and not header.record_count:
            return
        nodes, messages = self._of_schema(table_id, header.schema_id, schema)
        payload = data[at : span.end]
        checked = messages.check(payload, header.record_count)
        message = checked.message
        most = max(_RAW_BYTES_MAX, _RATIO_MAX * message.body_bytes)
        if sum(checked.sizes) > most:
            raise _unfit(f"its rows take {sum(checked.sizes)} bytes, over the limit of {most}; write fewer at once")
        if self._looks_at_contents:
            from lakeward.records.ipc.arrow_contents import check_contents  # loads numpy, which nothing else here needs

            if message.codec == NO_CODEC:
                check_contents(payload, checked, nodes)
            else:
                rest.add(partial(check_contents, payload, checked, nodes), sum(checked.sizes))

    def _check_rows(self, form: RowFormat, schema: Schema, data: memoryview, span: BatchSpan) -> None:
        """Rows of the INDEXED and COMPACTED formats, one at a time: no client of today writes many of them."""
        at = span.start + HEADER_BYTES[span.header.magic] + span.header.statistics_length
        codec = form(tuple(column.type for column in schema.columns))
        for change_type, row in records_of(data[at : span.end], span.header.record_count):
            if change_type != APPEND_ONLY:
                raise _unfit("a log table takes rows that are appended, and no other kind of change")
            if not self._looks_at_contents:
                continue
            for column, value in zip(schema.columns, codec.decode(bytes(row)), strict=True):
                if value is None and not column.type.nullable:
                    raise _unfit(f"column {column.name} must not be NULL")

    def _of_schema(self, table_id: int, schema_id: int, schema: Schema) -> tuple[tuple[Node, ...], KnownMessages]:
        found = self._schemas.get((table_id, schema_id))
        if found is None:
            nodes = nodes_of(schema)
            found = self._schemas[table_id, schema_id] = nodes, KnownMessages(nodes)
        return found


def refusal(table: TablePath, bucket: TableBucket, wrong: LakewardError) -> LakewardError:
    """The answer to a batch that will never do."""
    where = f"Bucket {bucket.bucket} of table {table}"
    if bucket.partition_id is not None:
        where = f"Bucket {bucket.bucket} of partition {bucket.partition_id} of table {table}"
    return ErrorCode.INVALID_TARGET_COLUMN.error(f"{where} refuses a batch; nothing of it was written. {wrong.message}")


def _begins_as_arrow(data: memoryview, span: BatchSpan) -> bool:
    """Whether an Arrow message stands where rows should: pyfluss sends one whatever the table's format is."""
    at = span.start + HEADER_BYTES[span.header.magic] + span.header.statistics_length
    return bytes(data[at : at + 4]) == b"\xff\xff\xff\xff"


def _check_statistics(block: memoryview, schema: Schema, rows: int) -> None:
    try:
        columns = parse_statistics(block, [column.type for column in schema.columns])
    except (ValueError, ArithmeticError) as wrong:
        raise _unfit(f"its statistics cannot be read ({wrong})") from wrong
    for column in columns or ():
        if not 0 <= column.null_count <= rows:
            raise _unfit(f"its statistics count {column.null_count} NULL in {rows} rows")


def _unfit(what: str) -> LakewardError:
    return ErrorCode.CORRUPT_RECORD.error(f"The record batch is damaged: {what}.")
