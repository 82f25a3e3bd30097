"""A field for each column of a key."""

from __future__ import annotations

import datetime as dt

from fake_cluster import table_info

from lakeward.console.pages.lookup.lookup_form import lookup_form, prefix_names

INFO = table_info(
    "day STRING NOT NULL, id BIGINT NOT NULL, at DATE NOT NULL, raw BINARY(2) NOT NULL, x INT, "
    "PRIMARY KEY (day, id, at, raw)",
    partition_by=("day",),
    bucket_by=("id",),
)


def test_what_is_typed_becomes_a_key() -> None:
    """Each value in its column's type; bytes as the console shows them."""
    typed = {"key.day": "a b", "key.id": " 7 ", "key.at": "2026-11-18", "key.raw": "0x00ff"}
    form = lookup_form(INFO, typed, by_prefix=False)
    assert form.key is not None
    assert form.key.to_pylist() == [{"day": "a b", "id": 7, "at": dt.date(2026, 11, 18), "raw": b"\x00\xff"}]
    assert [field.is_partition for field in form.fields] == [True, False, False, False]


def test_what_does_not_fit_is_told_for_its_field() -> None:
    """The others keep what was typed."""
    typed = {"key.day": "", "key.id": "seven", "key.at": "", "key.raw": "0xzz"}
    form = lookup_form(INFO, typed, by_prefix=False)
    assert form.key is None
    assert form.has_errors
    assert [bool(field.error) for field in form.fields] == [False, True, True, True]
    assert form.fields[1].error == "Column 'id' is BIGINT NOT NULL; \"seven\" does not fit."


def test_nothing_is_wrong_before_anybody_has_typed() -> None:
    """The empty form complains of nothing."""
    form = lookup_form(INFO, {"table": "db.t"}, by_prefix=False)
    assert form.key is None
    assert not form.has_errors


def test_a_prefix_is_the_partition_and_the_bucket_key() -> None:
    """… where that is less than the whole key."""
    assert prefix_names(INFO) == ("day", "id")
    assert prefix_names(table_info("id BIGINT NOT NULL, PRIMARY KEY (id)", bucket_by=("id",))) == ()
    form = lookup_form(INFO, {"key.day": "d", "key.id": "1"}, by_prefix=True)
    assert form.key is not None
    assert form.key.column_names == ["day", "id"]
