"""ALTER TABLE by value."""

from __future__ import annotations

import pytest

from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.create_table import PhysicalColumn
from lakeward.language.statements.define import (
    AddColumns,
    AlterTable,
    ChangePartitions,
    OtherChange,
    RenameTable,
    ResetOptions,
    SetOptions,
    TableChange,
)
from lakeward.language.statements.rows import SparkStatement
from lakeward.language.statements.statement import Name
from lakeward.model.data_types import INT, STRING

WORDS = "ADD, ALTER, CHANGE, CLUSTER, DROP, MODIFY, PARTITION, RECOVER, RENAME, REPLACE, RESET, SET or UNSET"


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("RENAME TO b.c", RenameTable(Name(("b", "c")))),
        ("SET ('a' = 'b', 'c' = 'd')", SetOptions({"a": "b", "c": "d"})),
        ("RESET ('a', 'b')", ResetOptions(("a", "b"))),
        ("ADD x INT", AddColumns((PhysicalColumn("x", INT()),))),
        ("ADD COLUMN x INT COMMENT 'c'", AddColumns((PhysicalColumn("x", INT(), "c"),))),
        ("ADD (x INT, y STRING)", AddColumns((PhysicalColumn("x", INT()), PhysicalColumn("y", STRING())))),
        ("ADD COLUMNS (x INT NOT NULL)", AddColumns((PhysicalColumn("x", INT().not_null()),))),
        ("ADD PARTITION (a = 'x', b = 2)", ChangePartitions(is_added=True, partitions=((("a", "x"), ("b", "2")),))),
        (
            "ADD IF NOT EXISTS PARTITION (d = DATE '2026-01-02')",
            ChangePartitions(is_added=True, partitions=((("d", "2026-01-02"),),), is_lenient=True),
        ),
        (
            "ADD PARTITION (a = 'x') PARTITION (a = 'y')",
            ChangePartitions(is_added=True, partitions=((("a", "x"),), (("a", "y"),))),
        ),
        (
            "DROP PARTITION (a = 'x'), PARTITION (a = 'y')",
            ChangePartitions(is_added=False, partitions=((("a", "x"),), (("a", "y"),))),
        ),
        (
            "DROP IF EXISTS PARTITION (a = 'x')",
            ChangePartitions(is_added=False, partitions=((("a", "x"),),), is_lenient=True),
        ),
    ],
)
def test_changes_that_we_know(text: str, change: TableChange) -> None:
    """Names, options, columns and partitions."""
    (statement,) = parse_script(f"ALTER TABLE a.t {text}")
    assert isinstance(statement, AlterTable)
    assert (statement.name, statement.change, statement.if_exists) == (Name(("a", "t")), change, False)


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ("ADD a INT FIRST", 25, "FIRST cannot be done: columns are added at the end of a table. Leave it out."),
        ("ADD COLUMN a INT AFTER b", 32, "AFTER cannot be done: columns are added at the end of a table."),
        ("ADD (a INT, b INT AFTER a)", 33, "AFTER cannot be done"),
        ("ADD WATERMARK FOR t AS t", 19, "ADD WATERMARK cannot be done: it is said when a table is made."),
        ("ADD PRIMARY KEY (a) NOT ENFORCED", 19, "ADD PRIMARY cannot be done"),
        ("MODIFY a BIGINT", 22, "MODIFY of a column cannot be done: a table only gets further columns, at its end."),
        ("DROP a", 20, "DROP of a column cannot be done"),
        ("DROP COLUMN a", 27, "DROP of a column cannot be done"),
        ("DROP WATERMARK", 20, "DROP WATERMARK cannot be done"),
        ("RENAME a TO b", 22, "RENAME of a column cannot be done"),
    ],
)
def test_changes_that_there_are_not(text: str, column: int, why: str) -> None:
    """Where the clause is, and what to do instead; a table of Spark's own may know it."""
    (statement,) = parse_script(f"ALTER TABLE t {text}")
    assert isinstance(statement, AlterTable)
    assert isinstance(statement.change, OtherChange)
    assert statement.change.place == Place(1, column)
    assert statement.change.why.startswith(why)


def test_if_exists() -> None:
    """A table that is not there may be passed over."""
    (statement,) = parse_script("ALTER TABLE IF EXISTS t RENAME TO u")
    assert isinstance(statement, AlterTable)
    assert statement.if_exists


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE t ALTER COLUMN a TYPE BIGINT",
        "ALTER VIEW v SET TBLPROPERTIES ('a' = 'b')",
        "ALTER DATABASE d SET DBPROPERTIES ('a' = 'b')",
    ],
)
def test_other_changes_are_spark_s(text: str) -> None:
    """As they were written."""
    (statement,) = parse_script(text)
    assert isinstance(statement, SparkStatement)
    assert statement.text == text


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("ALTER TABLE t RENAM TO u", Place(1, 15), f"expected {WORDS} after t, found 'RENAM'. Did you mean RENAME?"),
        ("ALTER TABLE t SET ('a')", Place(1, 23), "expected '=' after 'a', found ')'."),
        ("ALTER TABLE t RENAME TO u v", Place(1, 27), "expected the end of the statement, found 'v'."),
        ("ALTER TABLE t ADD PARTITION (a)", Place(1, 31), "expected '=' after a, found ')'."),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: Place, sentence: str) -> None:
    """What was found, and what was expected."""
    with pytest.raises(ScriptError) as raised:
        parse_script(text)
    assert (raised.value.place, raised.value.sentence) == (place, sentence)
