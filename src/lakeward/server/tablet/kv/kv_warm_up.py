"""Loads every compiled loop that primary key tables use, by using it once. `make setup` runs it.

What was compiled is kept beside the source; the second time takes half a second instead of ten.
"""

from __future__ import annotations

from pathlib import Path

from lakeward.model import data_types as t
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.protocol.codec import encode
from lakeward.protocol.messages.kv import PbLookupReqForBucket
from lakeward.records.batch.kv_batch import build_kv_batch, parse_kv_batch
from lakeward.records.batch.value_batch import encode_value_batch
from lakeward.records.kernels.spans import Spans
from lakeward.records.row import compacted_row
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.server.tablet.kv.packed_lookup import AskedKeys, packed_values
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.kv.recovery import Recovery
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.settings import LogSettings

_COLUMNS = [
    ("id", t.BIGINT().not_null()),
    ("flag", t.BOOLEAN()),
    ("count", t.INT()),
    ("price", t.DOUBLE()),
    ("name", t.STRING()),
    ("amount", t.DECIMAL(10, 2)),
    ("at", t.TIMESTAMP(6)),
]
_ROW = (None,) * (len(_COLUMNS) - 1)
_MANY = 20  # few rows are merged one by one


def warm_up() -> None:
    """Put, look up, scan, snapshot and recover a few rows of a table that nobody sees."""
    schema = Schema.of(_COLUMNS, primary_key=["id"])
    descriptor = TableDescriptor(schema, bucket_count=1).normalize()
    info = TableInfo(TablePath("warm", "up"), 0, 1, descriptor, 0, 0)
    table = KvTable.of(info, lambda _: schema)
    disk, directory = MemoryFiles(), Path("/warm-up")
    for _ in range(2):  # the second time recovers what the first one left
        files = OpenFiles(disk, 4)
        log = LogTablet(directory / "log-0", LogSettings(), files, lambda job: job())
        recovered = Recovery(directory / "kv-0", log, table, "hash").run()
        kv = KvTablet(directory / "kv-0", log, lambda: table, recovered, lambda job: job(), lambda _: 0)
        _use(kv, table)
        log.close()
        kv.close()
        files.close()


def _use(kv: KvTablet, table: KvTable) -> None:
    codec = compacted_row.codec(table.types)
    keys = [bytes([i]) for i in range(_MANY)]
    rows = Spans.of([bytes(codec.encode((i, *_ROW))) for i in range(_MANY)])
    whole = build_kv_batch(1, Spans.of(keys), rows)
    for batch, targets in ((whole, ()), (whole, (0, 1)), (build_kv_batch(1, Spans.of(keys[:1]), None), ())):
        parsed = parse_kv_batch(batch)
        kv.check(parsed, 0)
        kv.put(parsed, targets, 0)
    asked = AskedKeys.of(memoryview(encode(PbLookupReqForBucket(bucket_id=0, keys=tuple(keys)))))
    packed_values(asked, kv.get(asked.keys))
    values = kv.scan(2).values
    encode_value_batch(Spans([values.buffer], values.starts, values.ends))
    kv.scan_prefix(b"\x01")
    view = kv.view()
    view.read(1 << 20)
    view.close()
    kv.snapshot()


if __name__ == "__main__":
    warm_up()
