"""Sorted files of a place, merged from key to key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lake_tables import Rounds, table_info

from lakeward.lake.formats import lake_format
from lakeward.lake.paimon.read.merged_reads import merged_batches
from lakeward.lake.paimon.write.compaction import merged_rows
from lakeward.lake.port import LakePlace

PLACE = LakePlace(0)


def written(tmp_path: Path, key_type: str, seed: int) -> tuple[Any, list[Path]]:
    """A table after rounds of puts and deletes, whose files have small row groups."""
    info = table_info({"id": f"{key_type} NOT NULL", "v": "INT", "s": "STRING"}, key="id")
    rounds = Rounds(lake_format("paimon"), tmp_path, info)
    random = np.random.default_rng(seed)
    make = str if key_type == "STRING" else float if key_type == "DOUBLE" else int
    for number in range(4):
        keys = random.integers(0, 60, 40)
        rows = [
            {"id": make(k), "v": number, "s": f"{number}-{k}", "_": "-D" if random.random() < 0.2 else "+U"}
            for k in keys
        ]
        rounds.round({PLACE: rows})
    table: Any = rounds.table
    reader = table.reader(info)
    paths = [Path(p.file.path) for p in reader.files(reader.snapshots()[0].snapshot_id)]
    for path in paths:
        pq.write_table(pq.read_table(path, partitioning=None), path, row_group_size=7)
    return reader._shape, paths


@pytest.mark.parametrize("key_type", ["BIGINT", "STRING", "DOUBLE"])
@pytest.mark.parametrize("range_rows", [1, 20, 1000])
def test_ranges_together_are_the_whole(tmp_path: Path, key_type: str, range_rows: int) -> None:
    """Whatever their size, the newest row of each key comes once, and no deleted one."""
    for seed in range(3):
        shape, paths = written(tmp_path / str(seed), key_type, seed)
        whole = merged_rows(shape, paths[0].parent, [p.name for p in paths], is_bottom=True)
        schema = pa.schema([("s", pa.string()), ("id", whole.schema.field("id").type)])
        got = [r for b in merged_batches(shape, paths, schema, range_rows) for r in b.to_pylist()]
        assert sorted(got, key=str) == sorted(whole.select(["s", "id"]).to_pylist(), key=str)


def test_rows_are_counted_without_a_column(tmp_path: Path) -> None:
    """All that is read are keys."""
    shape, paths = written(tmp_path, "BIGINT", 1)
    whole = merged_rows(shape, paths[0].parent, [p.name for p in paths], is_bottom=True)
    assert sum(b.num_rows for b in merged_batches(shape, paths, pa.schema([]), 10)) == whole.num_rows


def test_memory_holds_a_range_not_the_place(tmp_path: Path) -> None:
    """A batch is never larger than what meets one range."""
    shape, paths = written(tmp_path, "BIGINT", 2)
    batches = list(merged_batches(shape, paths, pa.schema([("v", pa.int32())]), 1))
    assert len(batches) > 3
    assert max(b.num_rows for b in batches) < 30
