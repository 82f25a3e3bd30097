"""Batches that are merged row by row: what is stored, what is logged, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from kv_rows import apply_to

from lakeward.errors import ErrorCode
from lakeward.model import data_types as t
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.records.batch.kv_batch import build_kv_batch, parse_kv_batch
from lakeward.records.kernels.spans import Spans
from lakeward.storage.kv.engines import open_store
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.merge.row_merger import Fate, Merged
from lakeward.storage.kv.merging import merge_rows
from lakeward.storage.kv.store.store import KvStore

SCHEMA = Schema.of([("id", t.STRING()), ("v", t.STRING())], ["id"])
INSERT, BEFORE, AFTER, DELETE = 1, 2, 3, 4
Pair = tuple[object, object]


class Appending:
    """A merger that puts new values behind old ones, keeps a row that ends in "!", and refuses a "?"."""

    def upsert(self, old: bytes | None, new: bytes) -> Merged:
        """Append."""
        if new.endswith(b"?"):
            raise ErrorCode.INVALID_TARGET_COLUMN.error("No questions.")
        if old is None:
            return new
        return Fate.KEEP if old.endswith(b"!") else old + new[2:]

    def delete(self, old: bytes | None) -> Merged:
        """Delete."""
        return Fate.KEEP if old is None else Fate.REMOVE


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KvStore]:
    """Has a row for `old`, and one that stays."""
    made = open_store("hash", tmp_path)
    apply_to(made, [(b"old", b"\1\0a"), (b"firm", b"\1\0b!")])
    yield made
    made.close()


def merge(store: KvStore, *records: tuple[bytes, bytes], image: str = "FULL") -> tuple[list[Pair], list[Pair]]:
    """What is stored, and what is logged, for rows that are plain bytes; empty ones delete."""
    descriptor = TableDescriptor(SCHEMA, bucket_count=1, properties={"table.changelog.image": image})
    table = KvTable.of(TableInfo(TablePath("shop", "orders"), 7, 1, descriptor, 0, 0), {1: SCHEMA}.get)
    batch = parse_kv_batch(build_kv_batch(1, Spans.of([k for k, _ in records]), Spans.of([v for _, v in records])))
    keys, values, changes = merge_rows(table, store, batch, Appending())
    buffer, starts, ends = changes.values.in_one_buffer()
    logged = [bytes(buffer[s:e]) for s, e in zip(starts, ends, strict=True)]
    return _pairs(keys.to_list(), values.to_list()), _pairs(changes.kinds.tolist(), logged)


def _pairs(a: Sequence[object], b: Sequence[object]) -> list[Pair]:
    return list(zip(a, b, strict=True))


def test_a_later_record_sees_what_an_earlier_one_left(store: KvStore) -> None:
    """The same key three times in a batch: each is merged with the value before it, and logged."""
    stored, logged = merge(store, (b"new", b"x"), (b"new", b"y"), (b"new", b""))
    assert stored == [(b"new", b"\1\0x"), (b"new", b"\1\0xy"), (b"new", None)]
    assert [kind for kind, _ in logged] == [INSERT, BEFORE, AFTER, DELETE]


def test_rows_that_stay_are_neither_stored_nor_logged(store: KvStore) -> None:
    """A kept row, and the deletion of a key without one."""
    assert merge(store, (b"firm", b"x"), (b"nobody", b"")) == ([], [])


def test_an_error_leaves_the_store_as_it_was(store: KvStore) -> None:
    """The rows before the bad one are not stored either."""
    before = store.scan(10).to_list()
    with pytest.raises(Exception, match="No questions"):
        merge(store, (b"old", b"x"), (b"old", b"?"))
    assert store.scan(10).to_list() == before


def test_an_image_without_old_rows_logs_the_new_one(store: KvStore) -> None:
    """With WAL an update is one change."""
    stored, logged = merge(store, (b"old", b"x"), image="WAL")
    assert stored == [(b"old", b"\1\0ax")]
    assert [kind for kind, _ in logged] == [AFTER]
