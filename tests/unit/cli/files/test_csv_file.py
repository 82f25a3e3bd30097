"""CSV: typed by the table, streamed, and exact about the line that does not fit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from read_files import rows_of, source_of

from lakeward.cli.files.bad_row import BadRowError
from lakeward.cli.files.csv_file import CsvFile

_COLUMNS = "id BIGINT NOT NULL, name STRING, at TIMESTAMP(3)"


def _csv(directory: Path, text: str | bytes, **options: object) -> CsvFile:
    return CsvFile(source_of(directory, "t.csv", text), **options)  # type: ignore[arg-type]


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    """Order does not matter, and what is missing is NULL."""
    rows, wrong = rows_of(_csv(tmp_path, "name,id\na,1\n"), _COLUMNS)
    assert rows == [{"id": 1, "name": "a", "at": None}]
    assert wrong is None


def test_an_empty_field_is_null_and_quotes_are_an_empty_text(tmp_path: Path) -> None:
    """The two can be told apart."""
    rows, _ = rows_of(_csv(tmp_path, 'id,name\n1,\n2,""\n'), _COLUMNS)
    assert [row["name"] for row in rows] == [None, ""]


def test_blanks_around_numbers_do_not_matter(tmp_path: Path) -> None:
    """People write `1, 2`; in texts blanks count."""
    rows, _ = rows_of(_csv(tmp_path, "id , name\n 1, a\n"), _COLUMNS)
    assert rows == [{"id": 1, "name": " a", "at": None}]


@pytest.mark.parametrize("block_bytes", [1, 7, 30, 1 << 20])
def test_the_bad_line_is_named_and_all_before_it_is_read(tmp_path: Path, block_bytes: int) -> None:
    """Quoted line breaks and empty lines count, wherever blocks are cut."""
    text = 'id,name\n1,"a\nb"\n\n2,c\nx,d\n3,e\n'
    rows, wrong = rows_of(_csv(tmp_path, text, block_bytes=block_bytes), _COLUMNS)
    assert [row["id"] for row in rows] == [1, 2]
    assert wrong == "t.csv, line 6: column 'id' is BIGINT NOT NULL; \"x\" does not fit"


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("3", "there are 1 fields, and 2 columns"),
        ("3,d,e", "there are 3 fields, and 2 columns"),
        (",d", "column 'id' is NOT NULL, and there is no value"),
        ("9223372036854775808,d", "column 'id' is BIGINT NOT NULL; \"9223372036854775808\" does not fit"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, line: str, told: str, block_bytes: int) -> None:
    """Too few fields, too many, none, or too large a value: the line is said."""
    file = _csv(tmp_path, f"id,name\n1,a\n2,b\n{line}\n4,e\n", block_bytes=block_bytes)
    rows, wrong = rows_of(file, _COLUMNS)
    assert [row["id"] for row in rows] == [1, 2]
    assert wrong == f"t.csv, line 4: {told}"


def test_the_earlier_of_two_mistakes_counts(tmp_path: Path) -> None:
    """A value that does not fit before a line with too many fields is the one that is told."""
    rows, wrong = rows_of(_csv(tmp_path, "id,name\n1,a\nx,b\n3,c,d\n"), _COLUMNS)
    assert len(rows) == 1
    assert wrong is not None
    assert "line 3" in wrong


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    """A file in another encoding is refused with the line."""
    _, wrong = rows_of(_csv(tmp_path, b"id,name\n1,a\n2,\xe4\n"), _COLUMNS)
    assert wrong == "t.csv, line 3: byte 0xe4 is not UTF-8; convert the file first"


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("id,nme", "the table has no column 'nme'; its columns are 'id', 'name', 'at'"),
        ("id,id", "column 'id' is there more than once"),
        ("name", "column 'id' is missing and NOT NULL"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path: Path, header: str, told: str) -> None:
    """Nothing is read when the columns are wrong."""
    assert rows_of(_csv(tmp_path, f"{header}\n"), _COLUMNS) == ([], f"t.csv, line 1: {told}")


def test_a_quote_that_is_never_closed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runaway quote does not eat the memory."""
    monkeypatch.setattr("lakeward.cli.files.line_blocks.RECORD_BYTES_MAX", 1000)
    text = "id,name\n1,a\n2,b\n" + '3,"' + "x" * 5000 + "\n" * 100
    rows, wrong = rows_of(_csv(tmp_path, text, block_bytes=64), _COLUMNS)
    assert [row["id"] for row in rows] == [1, 2]
    assert wrong is not None
    assert wrong.startswith("t.csv, line 4: no end of the row")


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_a_quote_that_the_file_does_not_close_swallows_no_rows(tmp_path: Path, block_bytes: int) -> None:
    """The rows before it are read, and its line is named."""
    text = 'id,name\n1,"a\nb"\n2,"b\n3,c\n4,d\n'
    rows, wrong = rows_of(_csv(tmp_path, text, block_bytes=block_bytes), _COLUMNS)
    assert ([row["id"] for row in rows], wrong) == ([1], "t.csv: the quote that begins in line 4 is never closed")


def test_a_lone_quote_within_a_text_is_one(tmp_path: Path) -> None:
    """Inches are no quotes, and types are seen behind them."""
    text = 'id,name\n1,5" pipe\n2,x\n'
    assert rows_of(_csv(tmp_path, text), _COLUMNS)[1] is None
    assert _csv(tmp_path, text).inferred_schema().field("id").type == pa.int64()


def test_columns_are_seen_before_a_broken_line(tmp_path: Path) -> None:
    """What is wrong with the line is told when its turn comes."""
    assert _csv(tmp_path, "id,name\n1,a\n2,b,c\n").inferred_schema().names == ["id", "name"]
    with pytest.raises(BadRowError, match="line 2: there are 3 fields"):
        _csv(tmp_path, "id,name\n2,b,c\n").inferred_schema()
    with pytest.raises(BadRowError, match="there are no rows"):
        _csv(tmp_path, "id,name\n").inferred_schema()


def test_other_delimiters_and_no_header(tmp_path: Path) -> None:
    """Without a header the fields are in the table's order."""
    rows, _ = rows_of(_csv(tmp_path, "1;a;2026-08-01 12:00:00\n", delimiter=";", has_header=False), _COLUMNS)
    assert rows[0]["name"] == "a"


def test_windows_files_are_read(tmp_path: Path) -> None:
    """A byte order mark and carriage returns are no part of the data."""
    rows, wrong = rows_of(_csv(tmp_path, b"\xef\xbb\xbfid,name\r\n1,a\r\nx,b\r\n"), _COLUMNS)
    assert rows == [{"id": 1, "name": "a", "at": None}]
    assert wrong is not None
    assert "line 3" in wrong


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    """Nothing in, nothing out; but it cannot tell the columns of a new table."""
    assert rows_of(_csv(tmp_path, "id,name\n"), _COLUMNS) == ([], None)
    with pytest.raises(BadRowError, match="the file is empty"):
        _csv(tmp_path, "").inferred_schema()


def test_types_are_guessed_for_a_new_table(tmp_path: Path) -> None:
    """Whole numbers, numbers, times and texts are recognised; later rows may have more digits."""
    file = _csv(tmp_path, "a,b,c,d,e,f\n1,1.5,x,2026-08-01,2026-08-01 12:00:00,\n")
    assert file.inferred_schema() == pa.schema(
        {
            "a": pa.int64(),
            "b": pa.float64(),
            "c": pa.string(),
            "d": pa.date32(),
            "e": pa.timestamp("us"),
            "f": pa.string(),
        }
    )


def test_a_line_of_names_that_was_not_taken_apart_makes_no_table(tmp_path: Path) -> None:
    """One column, called 'a;b', is not what anybody wants."""
    with pytest.raises(BadRowError, match=r"line 1: there is one column, 'a;b'\. .* Say --delimiter ';'"):
        _csv(tmp_path, "a;b\n1;2\n").inferred_schema()


def test_looking_at_a_file_does_not_use_it_up(tmp_path: Path) -> None:
    """After its schema was guessed all rows are still there."""
    file = _csv(tmp_path, "id,name\n1,a\n")
    file.inferred_schema()
    assert len(rows_of(file, _COLUMNS)[0]) == 1
