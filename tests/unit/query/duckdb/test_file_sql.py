"""Files of a lake in SQL."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeward.lake.port import LakeDeletes, LakeFile
from lakeward.query.duckdb.file_sql import (
    are_alike,
    gone_sql,
    has_places,
    is_local,
    local_path,
    paths_sql,
    quote,
    scan_sql,
)

_ROWS = pa.table({"id": [1, 2], "at": [{"x": 1, "y": "a"}, None]})


def test_a_file_is_local_if_its_deletes_are() -> None:
    """DuckDB reads both or none."""
    assert is_local(LakeFile("file:///a", 1, 1, (LakeDeletes("/b", 1),)))
    assert not is_local(LakeFile("file:///a", 1, 1, (LakeDeletes("s3://b/c", 1),)))


def test_paths_are_texts_of_sql() -> None:
    """Whatever is in them."""
    assert local_path("file:///a%20b") == "/a b"
    assert paths_sql(["file:///a", "/it's"]) == "['/a', '/it''s']"
    assert "['/d']" in gone_sql(["/d"])
    assert quote('a"b') == '"a""b"'


def test_places_have_names_that_no_column_has() -> None:
    """A table may have a column called `filename`; where one is called as DuckDB's positions, they cannot be had."""
    assert "filename = '__lakeward_file'" in scan_sql(["/a"], places=True)
    assert "filename" not in scan_sql(["/a"])
    assert has_places(["id", "filename"])
    assert not has_places(["id", "File_Row_Number"])


def test_files_with_the_same_columns_are_alike(tmp_path: Path) -> None:
    """Whatever rows they have, and how they are named."""
    one, other = _write(tmp_path / "a.parquet", _ROWS), _write(tmp_path / "it's.parquet", _ROWS.slice(1))
    assert are_alike([one])
    assert are_alike([one, other])
    assert are_alike([f"file://{one}", other, one])
    assert not are_alike([])


@pytest.mark.parametrize(
    "rows",
    [
        _ROWS.select(["id"]),
        _ROWS.rename_columns(["id", "place"]),
        _ROWS.set_column(0, "id", pa.array([1, 2], pa.int32())),
        pa.table({"id": [1, 2], "at": [{"x": 1, "z": "a"}, None]}),
        _ROWS.append_column("more", pa.array([1, 2])),
    ],
    ids=["fewer", "name", "type", "field", "more"],
)
def test_files_with_other_columns_are_not(tmp_path: Path, rows: pa.Table) -> None:
    """In name, type or number."""
    assert not are_alike([_write(tmp_path / "a.parquet", _ROWS), _write(tmp_path / "b.parquet", rows)])


def _write(path: Path, rows: pa.Table) -> str:
    pq.write_table(rows, path)
    return str(path)
