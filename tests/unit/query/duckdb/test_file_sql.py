"""Files of a lake in SQL."""

from __future__ import annotations

from lakeward.lake.port import LakeDeletes, LakeFile
from lakeward.query.duckdb.file_sql import gone_sql, has_places, is_local, local_path, paths_sql, quote, scan_sql


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
