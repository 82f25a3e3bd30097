"""The three columns every tiered table has beside its own, and the one that says what a change is on its way there."""

from __future__ import annotations

import pyarrow as pa

BUCKET, OFFSET, TIMESTAMP = "__bucket", "__offset", "__timestamp"
SYSTEM_FIELDS = (
    pa.field(BUCKET, pa.int32(), nullable=False),
    pa.field(OFFSET, pa.int64(), nullable=False),
    pa.field(TIMESTAMP, pa.timestamp("us", tz="UTC"), nullable=False),
)

#: What happened to a row of a primary key table, as the log numbers it; never stored.
CHANGE = "_change_type"
CHANGE_FIELD = pa.field(CHANGE, pa.int8(), nullable=False)
DELETED = 4
