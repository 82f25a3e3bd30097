"""Statements that change tables."""

from __future__ import annotations

import pytest

from lakeward.capture.mysql.schema import ddl
from lakeward.capture.mysql.schema.tables import NativeColumn
from lakeward.capture.port import TableId
from lakeward.errors import InvalidError

T = TableId("shop", "t")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a INT(10) UNSIGNED NOT NULL DEFAULT '1'", NativeColumn("a", "int(10) unsigned", nullable=False)),
        ("`a b` ENUM('x', 'y''z', \"(,\") COLLATE latin1_bin",
         NativeColumn("a b", "enum('x','y''z','(,') collate latin1_bin")),
        ("a DECIMAL(10, 2) COMMENT 'it''s'", NativeColumn("a", "decimal(10,2)", comment="it's")),
        ("a VARCHAR(9) CHARSET utf8mb4 GENERATED ALWAYS AS (CONCAT(b, ',')) VIRTUAL",
         NativeColumn("a", "varchar(9) collate utf8mb4")),
        ("a SERIAL", NativeColumn("a", "bigint unsigned", nullable=False)),
        ("a DOUBLE PRECISION CHECK (a > 0)", NativeColumn("a", "double")),
        ("a TEXT COMPRESSED", NativeColumn("a", "text compressed")),
    ],
)  # fmt: skip
def test_a_column_is_read_with_its_type_and_attributes(text: str, column: NativeColumn) -> None:
    """Defaults, checks and expressions are passed over."""
    found = ddl.parse_statement(f"ALTER TABLE t ADD COLUMN {text}", "shop")
    assert found == ddl.AlterTable(T, (ddl.AddColumn(ddl.ColumnDefinition(column)),))


def test_actions_of_one_statement_are_told_one_by_one() -> None:
    """Keys, indexes and options of the table are no columns."""
    found = ddl.parse_statement(
        "ALTER ONLINE TABLE `shop`.`t` DROP IF EXISTS a, ADD KEY k (b), CHANGE b c INT FIRST, RENAME COLUMN d TO e,"
        " DROP PRIMARY KEY, ADD PRIMARY KEY (c, e), RENAME TO other.u, ALGORITHM=INPLACE, DROP INDEX i",
        "elsewhere",
    )
    change = ddl.ChangeColumn("b", ddl.ColumnDefinition(NativeColumn("c", "int"), first=True))
    actions = (ddl.DropColumn("a"), change, ddl.RenameColumn("d", "e"), ddl.SetKey(()), ddl.SetKey(("c", "e")))
    assert found == ddl.AlterTable(T, actions, TableId("other", "u"))


def test_a_table_is_read_with_key_charset_and_comment() -> None:
    """What the server runs inside comments counts, other comments do not."""
    found = ddl.parse_statement(
        "CREATE /* new */ TABLE t (a INT, b CHAR(3), /*!50100 c INT, */ PRIMARY KEY USING BTREE (a, b(2)), KEY (b))"
        " -- end\n ENGINE=InnoDB DEFAULT CHARSET=latin1 COMMENT='x; y' PARTITION BY HASH (a)",
        "shop",
    )
    assert isinstance(found, ddl.CreateTable)
    assert [d.column.native for d in found.definitions] == ["int", "char(3) collate latin1", "int"]
    assert (found.key, found.comment) == (("a", "b"), "x; y")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DROP TABLE IF EXISTS a, `shop`.b RESTRICT", ddl.DropTables((TableId("d", "a"), TableId("shop", "b")))),
        ("DROP DATABASE shop", ddl.DropTables(database="shop")),
        ("RENAME TABLE a TO b, b TO shop.c",
         ddl.RenameTables(((TableId("d", "a"), TableId("d", "b")), (TableId("d", "b"), TableId("shop", "c"))))),
        ("TRUNCATE a", ddl.TruncateTable(TableId("d", "a"))),
        ("CREATE VIEW v AS SELECT 1", None),
        ("DROP INDEX i ON t", None),
        ("CREATE TEMPORARY TABLE t (a INT)", None),
        ("ALTER DATABASE d CHARACTER SET utf8mb4", None),
    ],
)  # fmt: skip
def test_other_statements(text: str, found: object) -> None:
    """What concerns no table is nothing."""
    assert ddl.parse_statement(text, "d") == found


@pytest.mark.parametrize("text", ["CREATE TABLE t SELECT 1", "ALTER TABLE t CONVERT TO CHARACTER SET latin1"])
def test_what_only_the_server_knows_is_refused_here(text: str) -> None:
    """The caller asks the server then, about the table that the statement names."""
    with pytest.raises(InvalidError):
        ddl.parse_statement(text, "shop")
    assert ddl.target_table(text, "shop") == T


@pytest.mark.parametrize(("text", "kind"), [(" /* x */ alter t", "ALTER"), ("BEGIN", None), ("# c\ndrop x", "DROP")])
def test_the_first_word_tells_whether_to_look_closer(text: str, kind: str | None) -> None:
    """Most statements of a binlog are BEGIN and COMMIT."""
    assert ddl.statement_kind(text) == kind
