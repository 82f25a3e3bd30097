"""What is done when a table of the source is altered."""

from __future__ import annotations

import pytest

from lakeward.capture.port import SchemaChange, SchemaChangeKind, SourceTable, TableId
from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.pipelines.evolution import evolve
from lakeward.pipelines.rows.behavior import SchemaChanges

_ID = TableId("shop", "users")


def _schema(text: str) -> Schema:
    columns, key = parse_columns(text)
    return Schema.of(columns, key)


_BEFORE = _schema("id INT, name STRING, PRIMARY KEY (id)")


def _alter(after: str, statement: str | None = None) -> SchemaChange:
    return SchemaChange(
        SchemaChangeKind.ALTER, _ID, SourceTable(_ID, _BEFORE), SourceTable(_ID, _schema(after)), statement=statement
    )


@pytest.mark.parametrize("behavior", [SchemaChanges.EVOLVE, SchemaChanges.TRY_EVOLVE, SchemaChanges.LENIENT])
def test_a_new_column_follows(behavior: SchemaChanges) -> None:
    """It may be NULL in the sink, whatever the source says."""
    found = evolve(_alter("id INT, name STRING, age INT NOT NULL, PRIMARY KEY (id)"), behavior, _BEFORE, "t")
    assert [(column.name, str(column.type)) for column in found.add] == [("age", "INT")]
    assert found.sentences(_ID, "t") == (
        "shop.users: column age is new; in rows that t has from before it is NULL until they change.",
    )
    assert found.without_columns().sentences(_ID, "t") == ()


def test_a_new_column_is_left_out_where_changes_are_ignored() -> None:
    """It is told all the same."""
    found = evolve(_alter("id INT, name STRING, age INT, PRIMARY KEY (id)"), SchemaChanges.IGNORE, _BEFORE, "t")
    assert found.add == ()
    assert found.notes == ("shop.users: column age is new, and left out.",)


def test_exception_stops_and_names_the_statement() -> None:
    """Whoever reads it knows what was done to which table, and what to do."""
    change = _alter("id INT, name STRING, age INT, PRIMARY KEY (id)", "ALTER TABLE users ADD age INT")
    with pytest.raises(LakewardError, match=r"by: ALTER TABLE users ADD age INT. The pipeline stops here"):
        evolve(change, SchemaChanges.EXCEPTION, _BEFORE, "t")


def test_a_column_that_is_gone_stays_or_stops() -> None:
    """A table of Fluss cannot lose a column."""
    change = _alter("id INT, full_name STRING, PRIMARY KEY (id)")
    with pytest.raises(LakewardError, match="column name is gone"):
        evolve(change, SchemaChanges.EVOLVE, _BEFORE, "t")
    found = evolve(change, SchemaChanges.LENIENT, _BEFORE, "t")
    assert [column.name for column in found.add] == ["full_name"]
    assert found.notes == ("shop.users: column name is gone; it stays in t, NULL in rows that come from now on.",)


def test_a_wider_type_stops_unless_the_sink_holds_it() -> None:
    """The sink's column stays as it is."""
    change = _alter("id BIGINT, name STRING, PRIMARY KEY (id)")
    with pytest.raises(LakewardError, match="column id is BIGINT now, which INT NOT NULL of t cannot hold"):
        evolve(change, SchemaChanges.EVOLVE, _BEFORE, "t")
    assert evolve(change, SchemaChanges.EVOLVE, _schema("id BIGINT, name STRING, PRIMARY KEY (id)"), "t").notes == ()


def test_tables_that_come_and_go() -> None:
    """New ones are made, truncated ones emptied where that is wanted, dropped ones stay."""
    new = SchemaChange(SchemaChangeKind.CREATE, _ID, after=SourceTable(_ID, _BEFORE))
    assert evolve(new, SchemaChanges.LENIENT, None, "t").is_made
    assert not evolve(new, SchemaChanges.IGNORE, None, "t").is_made
    empty = SchemaChange(SchemaChangeKind.TRUNCATE, _ID)
    assert evolve(empty, SchemaChanges.EVOLVE, _BEFORE, "t").is_emptied
    assert not evolve(empty, SchemaChanges.LENIENT, _BEFORE, "t").is_emptied
    gone = SchemaChange(SchemaChangeKind.DROP, _ID)
    assert evolve(gone, SchemaChanges.EVOLVE, _BEFORE, "t").notes == ("shop.users was dropped; t stays as it is.",)
