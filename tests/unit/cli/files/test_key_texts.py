"""Keys on a command line and in files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click
import pytest

from lakeward.cli.files.key_texts import given_keys
from lakeward.cli.files.sent_files import FileForm
from lakeward.cli.input.failures import Failure
from lakeward.model.type_text import parse_columns

ONE = parse_columns("id BIGINT NOT NULL")[0]
TWO = parse_columns("day DATE NOT NULL, name STRING NOT NULL")[0]
PLAIN = FileForm(None, None, no_header=False)


def keys_of(*texts: str, columns: list = ONE, files: tuple[str, ...] = (), form: FileForm = PLAIN) -> list[tuple]:
    """The keys that were meant."""
    return [tuple(row.values()) for row in given_keys(texts, files, form, columns).to_pylist()]


def test_a_value_is_a_key_of_one_column() -> None:
    """Read as the column's type; its name may stand before it."""
    assert keys_of("5", " -7", "id=9", '{"id": 11, "more": 1}') == [(5,), (-7,), (9,), (11,)]
    text = parse_columns("k STRING NOT NULL")[0]
    assert keys_of("a=b", "x,y", "k=z", columns=text) == [("a=b",), ("x,y",), ("z",)]
    price = parse_columns("k DECIMAL(20, 2) NOT NULL")[0]
    assert keys_of("12345678901234567.89", columns=price) == [(Decimal("12345678901234567.89"),)]


def test_columns_by_name_where_there_are_several() -> None:
    """In any order; JSON where a value has a comma."""
    day = keys_of("day=2026-08-01,name=x", columns=TWO)[0][0]
    assert keys_of("name=y, day=2026-08-01", columns=TWO) == [(day, "y")]
    assert keys_of('{"day": "2026-08-01", "name": "a,b"}', columns=TWO) == [(day, "a,b")]


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        ("x", ONE, "does not fit"),
        ("1.5", ONE, "does not fit"),
        ("2026-08-01", TWO, "write it as day=…,name=…"),
        ("day=2026-08-01", TWO, "lacks 'name'"),
        ("day=soon,name=x", TWO, "column 'day' is DATE"),
        ('{"day": ', TWO, "not JSON"),
    ],
)
def test_what_is_no_key_is_told(text: str, columns: list, says: str) -> None:
    """With how to write it."""
    with pytest.raises(Failure, match=says):
        keys_of(text, columns=columns)


def test_nothing_given_is_a_wrong_command_line() -> None:
    """There is no such thing as all keys."""
    with pytest.raises(click.UsageError, match="--from"):
        keys_of()


def test_files_may_have_more_than_the_key(tmp_path: Path) -> None:
    """Other columns are left aside; keys of the command line come first."""
    csv, lines, plain = tmp_path / "k.csv", tmp_path / "k.jsonl", tmp_path / "plain.csv"
    csv.write_text("city,id\nUlm,1\n,2\n")
    lines.write_text('{"id": 3, "tags": ["x"]}\n')
    plain.write_text("4\n5\n")
    assert keys_of("9", files=(str(csv), str(lines))) == [(9,), (1,), (2,), (3,)]
    assert keys_of(files=(str(plain),), form=FileForm(None, None, no_header=True)) == [(4,), (5,)]


def test_a_file_without_the_key_is_refused(tmp_path: Path) -> None:
    """With the file's name and the column."""
    csv = tmp_path / "k.csv"
    csv.write_text("city\nUlm\n")
    with pytest.raises(Failure, match=r"k\.csv, line 1: column 'id' is missing"):
        keys_of(files=(str(csv),))


def test_a_column_that_is_none_of_the_key_is_named() -> None:
    """`nam=5` is no number: what is wrong with it is the name."""
    with pytest.raises(Failure, match=r"'nam' is no column of the key; write it as id="):
        keys_of("nam=5")
