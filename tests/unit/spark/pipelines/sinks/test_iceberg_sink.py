"""Rows straight into Iceberg tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from lake_tables import read_by_duckdb
from pipeline_events import HISTORY, LAST, SinkBench, rows, source_table

from lakeward.errors import LakewardError
from lakeward.pipelines.plan import plan_tables


def _seen(warehouse: Path) -> list[tuple[object, ...]]:
    found = read_by_duckdb(warehouse, "ods.lines")
    return sorted((row["o"], row["n"], row["item"], row.get("q")) for row in found)


def test_changes_are_there_once_however_often_a_batch_comes(tmp_path: Path) -> None:
    """Updates, deletes, changed keys, new columns, as DuckDB reads them; a batch that comes again changes nothing."""
    bench = SinkBench(f"type: iceberg, warehouse: {tmp_path}/lake, database-name: ods", tmp_path / "staging")
    assert bench.notes == ["ods.lines is made"]
    bench.batch(0, HISTORY[0], times=2)
    bench.batch(1, HISTORY[1], times=2)
    assert _seen(tmp_path / "lake") == LAST


def test_numbers_of_another_checkpoint_do_not_count(tmp_path: Path) -> None:
    """A pipeline that was begun anew starts at batch 0 again, and its rows are written."""
    sink = f"type: iceberg, warehouse: {tmp_path}/lake, database-name: ods"
    SinkBench(sink, tmp_path / "staging").batch(0, HISTORY[0])
    again = SinkBench(sink, tmp_path / "staging", mark="other")
    again.batch(0, [rows(source_table("o INT, n INT, item STRING, PRIMARY KEY (o, n)"), [(8, 8, "new")])])
    assert (8, 8, "new", None) in _seen(tmp_path / "lake")


def test_a_table_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """With a sentence for each column; partitions are not possible."""
    sink = f"type: iceberg, warehouse: {tmp_path}/lake, database-name: ods"
    bench = SinkBench(sink, tmp_path / "staging")
    other = source_table("o INT, n INT, item INT, PRIMARY KEY (o)")
    with pytest.raises(LakewardError, match="its column item is STRING, which cannot hold INT"):
        bench.sink.prepare(plan_tables(bench.definition, [other]), makes=True)
    with pytest.raises(LakewardError, match="are not possible with the sink iceberg"):
        SinkBench(sink, tmp_path, more="transform: [{source-table: public.lines, partition-keys: o}]\n")
