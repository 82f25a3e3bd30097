"""Merge engines, delete behaviour and the choice of a merger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from merge_tables import INT, STRING, PkTable, column

from lakeward.errors import ErrorCode, InvalidError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.model.values import Timestamp
from lakeward.storage.kv.merge.merge_engines import merger_for
from lakeward.storage.kv.merge.row_merger import Deletes, Fate, deletes_for

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[4] / "data" / "vectors.json").read_text())[
    "merge_cases"
]
COLUMNS = [("k", INT), ("a", INT), ("b", STRING)]
KEEP, REMOVE = Fate.KEEP, Fate.REMOVE


def table(engine: str | None = None, **properties: str) -> PkTable:
    """A table (k INT, a INT, b STRING) with a merge engine; keywords are properties, `_` for `.`."""
    own = {"table." + name.replace("_", "."): value for name, value in properties.items()}
    return PkTable(COLUMNS, properties=own | ({"table.merge-engine": engine} if engine else {}))


def test_cases_of_apache_fluss_are_met_byte_by_byte() -> None:
    """Each case was executed with Apache Fluss's mergers."""
    plain = table()
    aggregating = PkTable(
        [("k", INT), column("s", t.BIGINT(), "sum"), ("l", STRING), column("g", STRING, "listagg")],
        properties={"table.merge-engine": "aggregation", "table.delete.behavior": "ALLOW"},
    )
    for case in VECTORS:
        merged_in = aggregating if case["engine"].startswith("aggregation") else plain
        targets = case.get("target") or ([0, 1] if "target [0,1]" in case["engine"] else None)
        merger = merged_in.merger(targets)
        old = merged_in.value(*case["old"])
        outcome = merger.upsert(old, merged_in.value(*case["new"])) if "new" in case else merger.delete(old)
        if "result" in case:
            assert outcome is KEEP
        elif case["stored_value_hex"] is None:
            assert outcome is REMOVE
        else:
            assert isinstance(outcome, bytes)
            assert outcome.hex() == case["stored_value_hex"]


def test_no_engine_and_no_targets_need_no_merger() -> None:
    """A table where the last row wins is written a batch at a time; so is an overwriting request."""
    assert merger_for(table().info, table().schema_of) is None
    assert merger_for(table().info, table().schema_of, target_columns=(0, 1, 2)) is None
    first = table("first_row")
    assert merger_for(first.info, first.schema_of) is not None
    assert merger_for(first.info, first.schema_of, overwrite=True) is None


def test_the_last_row_wins() -> None:
    """Without an engine the new row takes the place of the old one, an equal one too."""
    assert table().upsert((1, 10, "x"), (1, 20, None)) == (1, 20, None)
    assert table().upsert((1, 10, "x"), (1, 10, "x")) == (1, 10, "x")
    assert table().upsert(None, (1, 10, "x")) == (1, 10, "x")


def test_the_first_row_stays() -> None:
    """A table with first_row keeps what it has."""
    assert table("first_row").upsert(None, (1, 10, "x")) == (1, 10, "x")
    assert table("first_row").upsert((1, 10, "x"), (1, 20, "y")) is KEEP


@pytest.mark.parametrize("kv_format", ["COMPACTED", "INDEXED"])
@pytest.mark.parametrize(
    ("type_", "versions"),
    [
        (t.INT(), [-(2**31), -1, 0, 7, 2**31 - 1]),
        (t.BIGINT(), [-(2**63), -(2**40), 0, 2**63 - 1]),
        (t.TIMESTAMP(3), [Timestamp(-5), Timestamp(0), Timestamp(2**40)]),
        (t.TIMESTAMP(9), [Timestamp(-(2**63)), Timestamp(4, 1), Timestamp(4, 2), Timestamp(5)]),
        (t.TIMESTAMP_LTZ(6), [Timestamp(-5, 1000), Timestamp(-5, 2000), Timestamp(0)]),
    ],
    ids=str,
)
def test_the_larger_version_stays(type_: DataType, versions: list[Any], kv_format: str) -> None:
    """A versioned table takes rows whose version is larger or equal."""
    versioned = PkTable(
        [("k", INT), ("v", type_)],
        properties={
            "table.merge-engine": "versioned",
            "table.merge-engine.versioned.ver-column": "v",
            "table.kv.format": kv_format,
        },
    )
    for i, old in enumerate(versions):
        for j, new in enumerate(versions):
            assert versioned.upsert((1, old), (1, new)) == ((1, new) if i <= j else KEEP)
    largest = versions[-1]
    assert versioned.upsert((1, None), (1, largest)) == (1, largest)
    assert versioned.upsert((1, None), (1, None)) == (1, None)
    assert versioned.upsert((1, largest), (1, None)) is KEEP
    assert versioned.upsert(None, (1, None)) == (1, None)


def test_null_is_the_smallest_version_there_is() -> None:
    """NULL equals the smallest number, and of equals the new row stays."""
    versioned = table("versioned", **{"merge-engine_versioned_ver-column": "a"})
    assert versioned.upsert((1, -(2**31), "x"), (1, None, "y")) == (1, None, "y")


def test_columns_without_a_function_ignore_nulls() -> None:
    """In an aggregation table a column that names no function takes the last value that is not NULL."""
    aggregating = table("aggregation")
    assert aggregating.upsert((1, 10, "x"), (1, None, "y")) == (1, 10, "y")
    assert aggregating.upsert(None, (1, None, "y")) == (1, None, "y")


def test_the_first_row_of_an_aggregation_is_stored_as_it_came() -> None:
    """Nothing is merged and nothing is rewritten, the schema id of the writer included."""
    aggregating = table("aggregation")
    aggregating.add_column(column("c", INT, "sum"))
    arrived = aggregating.value(1, 5, "x", schema_id=1)
    assert aggregating.merger().upsert(None, arrived) == arrived


def test_merged_rows_have_the_latest_schema() -> None:
    """Rows of earlier schemas meet by column id; columns that they lack are NULL."""
    aggregating = PkTable([("k", INT), column("s", INT, "sum")], properties={"table.merge-engine": "aggregation"})
    old = aggregating.value(1, 5)
    aggregating.add_column(column("t", INT, "sum"))
    middle = aggregating.value(1, 1, 3)
    aggregating.add_column(column("u", STRING))
    merged = aggregating.merger().upsert(old, middle)
    assert merged == aggregating.value(1, 6, 3, None)
    assert isinstance(merged, bytes)
    assert aggregating.merger().upsert(merged, aggregating.value(1, 1, schema_id=1)) == aggregating.value(1, 7, 3, None)


@pytest.mark.parametrize("engine", [None, "first_row", "versioned", "aggregation"])
def test_deletes_unless_said_otherwise(engine: str | None) -> None:
    """Plain tables delete; tables with a merge engine ignore deletes unless told to."""
    some = table(engine, **{"merge-engine_versioned_ver-column": "a"})
    expected = Deletes.ALLOW if engine is None else Deletes.IGNORE
    assert deletes_for(some.info) is expected
    assert some.delete((1, 10, "x")) is (REMOVE if engine is None else KEEP)
    assert some.delete(None) is KEEP


def test_an_aggregation_that_allows_deletes_removes_rows() -> None:
    """With `allow` the whole row goes."""
    assert table("aggregation", delete_behavior="allow").delete((1, 10, "x")) is REMOVE


@pytest.mark.parametrize("engine", [None, "first_row", "aggregation"])
@pytest.mark.parametrize("old", [None, (1, 10, "x")])
def test_disabled_deletes_fail_the_batch(engine: str | None, old: tuple[Any, ...] | None) -> None:
    """With `disable` a delete is an error, whether there is a row or not."""
    with pytest.raises(InvalidError, match=r"Delete operations are disabled for this table") as caught:
        table(engine, delete_behavior="disable").delete(old)
    assert caught.value.code is ErrorCode.DELETION_DISABLED


def test_ignored_deletes_change_nothing() -> None:
    """With `ignore` the row stays."""
    assert table(delete_behavior="ignore").delete((1, 10, "x")) is KEEP


@pytest.mark.parametrize("engine", ["first_row", "versioned", "aggregation"])
def test_overwriting_goes_past_the_engine(engine: str) -> None:
    """OVERWRITE replaces and deletes whatever the engine and the delete behaviour say."""
    some = table(engine, delete_behavior="disable", **{"merge-engine_versioned_ver-column": "a"})
    assert some.upsert((1, 10, "x"), (1, 5, None), overwrite=True) == (1, 5, None)
    assert some.delete((1, 10, "x"), overwrite=True) is REMOVE
    assert some.upsert((1, 10, "x"), (1, 5, None), targets=[0, 1], overwrite=True) == (1, 5, "x")


@pytest.mark.parametrize("engine", [None, "first_row", "versioned", "aggregation"])
@pytest.mark.parametrize("kv_format", ["COMPACTED", "INDEXED"])
@pytest.mark.parametrize(
    ("new", "why"),
    [
        ((None, 1, "x"), "'k', which is part of the primary key"),
        ((1, None, "x"), "'n', which is NOT NULL"),
        ((None, None, None), "'k', which is part of the primary key"),
    ],
)
def test_null_where_it_must_not_be_is_refused(engine: str | None, kv_format: str, new: Any, why: str) -> None:
    """Such a row is the writer's mistake; it is told the column, and not to try again."""
    some = PkTable(
        [("k", INT), ("n", INT.not_null()), ("b", STRING)],
        properties={"table.kv.format": kv_format, "table.merge-engine.versioned.ver-column": "n"}
        | ({"table.merge-engine": engine} if engine else {}),
    )
    for old in (None, (1, 1, None)):
        with pytest.raises(InvalidError, match=why) as caught:
            some.upsert(old, new)
        assert caught.value.code is ErrorCode.INVALID_TARGET_COLUMN


@pytest.mark.parametrize("engine", ["versioned", "aggregation"])
def test_rows_that_are_none_are_refused(engine: str) -> None:
    """Bytes that are no row of their schema are the writer's mistake; sending them again cannot help."""
    some = table(engine, **{"merge-engine_versioned_ver-column": "a"})
    for damaged in (some.value(1, 10, "xyz")[:-1], some.value(1, 10, "x") + b"!", b"\1\0"):
        with pytest.raises(InvalidError, match="not one of its schema 1"):
            some.merger().upsert(some.value(1, 1, "a"), damaged)


@pytest.mark.parametrize("engine", ["first_row", "aggregation"])
def test_rows_without_null_bits_are_refused(engine: str) -> None:
    """Also where rows are stored as they came, they have the null bits of their columns."""
    some = PkTable([("k", INT)] + [(f"c{i}", INT) for i in range(9)], properties={"table.merge-engine": engine})
    with pytest.raises(InvalidError, match="cut off"):
        some.merger().upsert(None, b"\1\0\0")


def test_a_schema_that_does_not_exist_is_told() -> None:
    """A row of a schema nobody knows is the error of whoever keeps the schemas."""
    some = table("aggregation")
    with pytest.raises(Exception, match="no schema 9") as caught:
        some.merger().upsert(None, b"\x09\0" + some.value(1, 2, "x")[2:])
    assert caught.value.code is ErrorCode.SCHEMA_NOT_EXIST  # type: ignore[attr-defined]
