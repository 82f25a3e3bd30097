"""Files that have types already: Parquet, Arrow files and streams."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from read_files import rows_of

from lakeward.cli.files.arrow_file import ArrowFile
from lakeward.cli.files.bad_row import BadRowError

_TABLE = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", None, "c"]})
_COLUMNS = "name STRING, id INT"


def _write(path: Path, table: pa.Table) -> None:
    match path.suffix:
        case ".parquet":
            pq.write_table(table, path)
        case ".feather":
            pyarrow.feather.write_feather(table, str(path))
        case ".arrow":
            with pa.ipc.new_file(str(path), table.schema) as writer:
                writer.write_table(table)
        case _:
            with pa.ipc.new_stream(str(path), table.schema) as writer:
                writer.write_table(table)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow", "t.arrows"])
def test_rows_are_made_to_fit_the_table(tmp_path: Path, name: str) -> None:
    """Columns are matched by name, and types are cast where nothing is lost."""
    _write(tmp_path / name, _TABLE)
    file = ArrowFile(str(tmp_path / name), "parquet" if name.endswith("parquet") else "arrow")
    assert file.inferred_schema().equals(_TABLE.schema)
    rows, wrong = rows_of(file, _COLUMNS)
    assert wrong is None
    assert rows == [{"name": "a", "id": 1}, {"name": None, "id": 2}, {"name": "c", "id": 3}]
    assert file.progress() in {1.0, None}


def test_the_bad_row_is_numbered_and_all_before_it_is_read(tmp_path: Path) -> None:
    """A number that is too large for the column is found among the others."""
    _write(tmp_path / "t.parquet", pa.table({"id": pa.array([1, 2, 1 << 40, 4])}))
    rows, wrong = rows_of(ArrowFile(str(tmp_path / "t.parquet"), "parquet"), _COLUMNS)
    assert [row["id"] for row in rows] == [1, 2]
    assert wrong is not None
    assert wrong.startswith("t.parquet, row 3: Column 'id' is INT")


def test_a_type_that_never_fits_is_told_without_a_row(tmp_path: Path) -> None:
    """When the column's type is wrong no row is to blame."""
    _write(tmp_path / "t.parquet", pa.table({"id": ["x"]}))
    rows, wrong = rows_of(ArrowFile(str(tmp_path / "t.parquet"), "parquet"), _COLUMNS)
    assert rows == []
    assert wrong is not None
    assert wrong.startswith("t.parquet: Column 'id' is INT")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("content", [b"", b"id,name\n1,a\n", b"FEA1xxxxFEA1"])
def test_another_kind_of_file_is_refused(tmp_path: Path, kind: str, content: bytes) -> None:
    """A file that is not what its name says ends in a sentence."""
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(BadRowError, match=f"cannot be read as {kind}"):
        ArrowFile(str(tmp_path / "t"), kind)
