"""JSON lines: typed by the table, streamed, and exact about the line that does not fit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from read_files import rows_of, source_of

from lakeward.cli.files.bad_row import BadRowError
from lakeward.cli.files.json_file import JsonFile

_COLUMNS = "id BIGINT NOT NULL, name STRING, price DECIMAL(10, 2), tags ARRAY<STRING>"


def _json(directory: Path, text: str | bytes, **options: int) -> JsonFile:
    return JsonFile(source_of(directory, "t.jsonl", text), **options)


def test_keys_are_columns_and_may_be_left_out(tmp_path: Path) -> None:
    """Rows need not look alike."""
    rows, wrong = rows_of(_json(tmp_path, '{"name": "a", "id": 1}\n\n{"id": 2, "tags": ["x"]}'), _COLUMNS)
    assert wrong is None
    assert [(r["id"], r["name"], r["tags"]) for r in rows] == [(1, "a", None), (2, None, ["x"])]


def test_decimals_keep_their_digits(tmp_path: Path) -> None:
    """0.1 and 19.99 do not take the way over binary numbers."""
    rows, _ = rows_of(_json(tmp_path, '{"id": 1, "price": 12345678.99}\n{"id": 2, "price": "0.10"}\n'), _COLUMNS)
    assert [str(r["price"]) for r in rows] == ["12345678.99", "0.10"]


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": 1.5}', "column 'id' is BIGINT NOT NULL; 1.5 does not fit"),
        ('{"id": "1"}', "column 'id' is BIGINT NOT NULL; \"1\" does not fit"),
        ('{"id": true}', "column 'id' is BIGINT NOT NULL; true does not fit"),
        ('{"id": 99999999999999999999}', "column 'id' is BIGINT NOT NULL; 99999999999999999999 does not fit"),
        ('{"name": "x"}', "column 'id' is NOT NULL, and there is no value"),
        ('{"id": 3, "name": 5}', "column 'name' is STRING; 5 does not fit"),
        ('{"id": 3, "price": 1.234}', "column 'price' is DECIMAL(10, 2); 1.234 does not fit"),
        ('{"id": 3, "tags": "x"}', "column 'tags' is ARRAY<STRING>; \"x\" does not fit"),
        ('{"id": 3, "nme": "x"}', "the table has no column 'nme'; its columns are 'id', 'name', 'price', 'tags'"),
        ("[3]", "a JSON object is needed, and this is a list"),
        ('{"id": 3} {"id": 4}', "not JSON: Extra data: line 1 column 11 (char 10)"),
        ('{"id": 3,', "not JSON: Expecting property name enclosed in double quotes: line 1 column 10 (char 9)"),
    ],
)
def test_the_bad_line_is_named_and_all_before_it_is_read(
    tmp_path: Path, line: str, told: str, block_bytes: int
) -> None:
    """Whatever is wrong with a row, its line is said and nothing after it is read."""
    file = _json(tmp_path, f'{{"id": 1}}\n\n{{"id": 2}}\n{line}\n{{"id": 5}}\n', block_bytes=block_bytes)
    rows, wrong = rows_of(file, _COLUMNS)
    assert [row["id"] for row in rows] == [1, 2]
    assert wrong == f"t.jsonl, line 4: {told}"


def test_an_array_is_refused_with_a_way_out(tmp_path: Path) -> None:
    """A .json file is often one large array, which cannot be streamed."""
    _, wrong = rows_of(_json(tmp_path, '[{"id": 1}]'), _COLUMNS)
    assert wrong is not None
    assert "jq -c" in (tmp_path / "t.jsonl").read_text() or "jq -c" in wrong


def test_types_are_guessed_for_a_new_table(tmp_path: Path) -> None:
    """Times in texts are recognised, with and without a zone, and nested values are kept."""
    line = (
        '{"a": 1, "b": "x", "c": "2026-08-01T12:00:00.123Z", "d": "2026-08-01 12:00:00", '
        '"e": "2026-08-01", "f": null, "g": {"h": [1.5]}}\n'
    )
    assert _json(tmp_path, line).inferred_schema() == pa.schema(
        {
            "a": pa.int64(),
            "b": pa.string(),
            "c": pa.timestamp("us", "UTC"),
            "d": pa.timestamp("us"),
            "e": pa.date32(),
            "f": pa.string(),
            "g": pa.struct({"h": pa.list_(pa.float64())}),
        }
    )


def test_a_row_whose_types_cannot_be_told_is_no_lack_of_json(tmp_path: Path) -> None:
    """A list of both numbers and objects is JSON; what it lacks is a type."""
    with pytest.raises(BadRowError, match=r"line 1: the types of its columns cannot be told .*; create the table"):
        _json(tmp_path, '{"a": [1, {"x": 1}]}\n').inferred_schema()


def test_an_empty_file_cannot_tell_the_columns(tmp_path: Path) -> None:
    """Blank lines are no rows."""
    assert rows_of(_json(tmp_path, "\n \n"), _COLUMNS) == ([], None)
    with pytest.raises(BadRowError, match="the file is empty"):
        _json(tmp_path, "\n").inferred_schema()


def test_columns_are_seen_before_a_broken_line(tmp_path: Path) -> None:
    """What is wrong with the line is told when its turn comes; with none before it, at once."""
    assert _json(tmp_path, '{"id": 1}\n{"id": 2, "x" 3}\n').inferred_schema().names == ["id"]
    with pytest.raises(BadRowError, match="line 2: not JSON"):
        _json(tmp_path, '\n{"id" 1}\n').inferred_schema()
    with pytest.raises(BadRowError, match="line 1: a JSON object is needed"):
        _json(tmp_path, "5\n").inferred_schema()
