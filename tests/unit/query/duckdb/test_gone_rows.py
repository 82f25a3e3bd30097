"""Rows that are gone, as a table and as bits: both leave out the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward.lake.port import LakeFile
from lakeward.query.duckdb.bit_function import bit_function
from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.duckdb.duck_tables import TooLargeError
from lakeward.query.duckdb.file_sql import scan_sql
from lakeward.query.duckdb.gone_rows import GoneBits, GoneRows, GoneTable, by_hash, no_gone_rows, path_hashes

_ROWS = 5000
_SLOW = settings(max_examples=20, deadline=None)


def as_bits() -> GoneRows:
    """As the DuckDB that is installed for tests can do it."""
    function = bit_function()
    assert function is not None
    return GoneBits(function)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[LakeFile]:
    """Files of rows with numbers, in row groups of 2,048, with odd names."""
    directory = tmp_path_factory.mktemp("gone")
    paths = [directory / name for name in ("a.parquet", "it's b.parquet", "c d.parquet")]
    with duck_cursor() as duck:
        for number, path in enumerate(paths):
            text = str(path).replace("'", "''")
            duck.execute(
                f"COPY (SELECT range + {number * _ROWS} AS n FROM range({_ROWS})) TO '{text}' "
                "(FORMAT parquet, ROW_GROUP_SIZE 2048)"
            )
    return [LakeFile(Path(path).as_uri(), _ROWS, 1) for path in paths]


def places(gone: set[tuple[int, int]], files: list[LakeFile]) -> str:
    """A SELECT of files and positions."""
    paths = [file.path.removeprefix("file://").replace("%20", " ").replace("%27", "''") for file in files]
    rows = " UNION ALL ".join(f"SELECT '{paths[file]}', {pos}" for file, pos in sorted(gone))
    return f"SELECT hash(path) AS file, pos::BIGINT AS pos FROM ({rows}) t(path, pos)"


def numbers(gone: GoneRows, files: list[LakeFile], where: str = "true") -> list[int]:
    """The rows of a scan without those that are gone."""
    paths = [file.path for file in files]
    left_out = gone.leave_out(paths)
    with duck_cursor() as duck:
        scan = f"(SELECT n FROM {scan_sql(paths, places=True)} f {left_out.sql})"
        return sorted(row[0] for row in duck.execute(f"SELECT n FROM {scan} WHERE {where}").fetchall())


@pytest.mark.parametrize("make", [as_bits, GoneTable])
@_SLOW
@given(st.lists(st.sets(st.tuples(st.integers(0, 2), st.integers(0, _ROWS - 1)), min_size=1), min_size=1, max_size=3))
def test_rows_that_are_gone_are_left_out(
    files: list[LakeFile], make: Callable[[], GoneRows], pieces: list[set[tuple[int, int]]]
) -> None:
    """Whatever was added, in however many pieces, and in whichever order files are scanned."""
    gone = make()
    for piece in pieces:
        gone = gone.with_rows([places({one}, files) for one in sorted(piece)[:3]] + [places(piece, files)], files)
    all_gone = {file * _ROWS + pos for piece in pieces for file, pos in piece}
    assert numbers(gone, files[::-1]) == [n for n in range(3 * _ROWS) if n not in all_gone]
    assert numbers(gone, files[1:2]) == [n for n in range(_ROWS, 2 * _ROWS) if n not in all_gone]
    above = [n for n in range(4000, 9000) if n not in all_gone]
    assert numbers(gone, files, "n >= 4000 AND n < 9000") == above  # whole row groups are not read
    assert {Path(path).name for path in gone.files} == {
        Path(files[file].path).name.replace("%20", " ").replace("%27", "'") for piece in pieces for file, _ in piece
    }


def test_what_is_known_does_not_change(files: list[LakeFile]) -> None:
    """A query that holds a state is not told of what came after it."""
    before = as_bits().with_rows([places({(0, 5)}, files)], files)
    after = before.with_rows([places({(0, 4), (0, 700)}, files)], files)
    assert 4 in numbers(before, files[:1])
    assert not {4, 5, 700} & set(numbers(after, files[:1]))
    assert after.with_rows(["SELECT 1::UBIGINT AS file, 2::BIGINT AS pos WHERE false"], files).files == after.files
    assert before.bytes < after.bytes


def test_files_that_share_a_hash_are_not_kept() -> None:
    """Positions name files by hash: only where no two have the same one."""
    odd = [LakeFile("file:///a", 1, 1), LakeFile("/it's {}", 1, 1), LakeFile("/a", 2, 2)]
    hashes = path_hashes(odd)
    assert {path for path, _ in hashes} == {"/a", "/it's {}"} == set(by_hash(hashes).values())
    with pytest.raises(TooLargeError):
        by_hash([("/a", 7), ("/b", 7)])


def test_a_column_that_is_called_like_the_number_of_a_file_is_not_taken_for_it() -> None:
    """DuckDB would hand over the column."""
    assert isinstance(no_gone_rows(["id"]), GoneBits)
    assert isinstance(no_gone_rows(["id", "File_Index"]), GoneTable)


def test_the_same_scan_is_told_in_the_same_words(files: list[LakeFile]) -> None:
    """So that a view of it need not be made again; another scan has its own words."""
    gone = as_bits().with_rows([places({(0, 1), (2, 5)}, files)], files)
    paths = [file.path for file in files]
    assert gone.leave_out(paths).sql == gone.leave_out(paths).sql
    assert gone.leave_out(paths).sql != gone.leave_out(paths[::-1]).sql
    assert gone.leave_out(paths).sql != gone.with_rows([places({(1, 1)}, files)], files).leave_out(paths).sql
