"""Offsets whose rows are not expected in the lake, because they did not fit and became letters."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import numpy as np

from lakeward.agreement.row_hashes import I64
from lakeward.client.blocking.sync import Connection
from lakeward.client.forms.results import BucketId
from lakeward.model.table import TableInfo
from lakeward.options.tiering import DEAD_LETTER_TABLE


def letter_offsets(conn: Connection, info: TableInfo) -> dict[BucketId, I64]:
    """The offsets of a table's dead letters, by bucket."""
    name = DEAD_LETTER_TABLE.read(info.descriptor.custom_properties)
    if name is None or not conn.has_table(name):
        return {}
    found: dict[BucketId, list[int]] = {}
    columns = ["table_id", "partition_name", "row_bucket", "row_offset", "row_json"]
    for batch in conn.table(name).snapshot_batches(columns):
        for row in batch.to_pylist():
            if row["table_id"] == info.table_id:
                id_ = BucketId(row["partition_name"] or None, row["row_bucket"])
                found.setdefault(id_, []).extend(_offsets(row))
    return {id_: np.unique(np.array(offsets, np.int64)) for id_, offsets in found.items()}


def _offsets(row: dict[str, Any]) -> list[int]:
    """Of a row that did not fit, its own; of a batch that nobody could decode, all of them."""
    with suppress(ValueError, TypeError, KeyError, IndexError):
        first, last = json.loads(row["row_json"])["offsets"]
        if first == row["row_offset"]:
            return list(range(first, last + 1))
    return [row["row_offset"]]
