"""Poison in puts is refused: keys that are not those of their rows, keys of other buckets, rows that are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from server_process import ServerProcess
from wire_client import WireCluster
from wire_kv import COLUMNS, WireKv

from lakeward.errors import ErrorCode
from lakeward.records.batch.kv_batch import build_kv_batch
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.bucketing import bucket_of
from lakeward.records.row import compacted_row

REFUSED = ErrorCode.INVALID_TARGET_COLUMN.value


def row(key: int, name: str = "a") -> bytes:
    """A row of the table, as bytes."""
    return bytes(compacted_row.codec(tuple(type_ for _, type_ in COLUMNS)).encode((key, name, 1)))


#: Name → key and row (None deletes) of one record.
KV_POISON: dict[str, tuple[bytes, bytes | None]] = {
    "the_key_of_another_row": (b"\x03", row(2)),
    "a_key_longer_than_it_needs": (b"\x82\x00", row(2).replace(b"\x02", b"\x82\x00", 1)),
    "a_key_with_bytes_behind": (b"\x02\x00", row(2)),
    "an_empty_key": (b"", row(2)),
    "a_key_cut_off": (b"\x82", row(2)),
    "a_delete_of_what_is_no_key": (b"\x82", None),
    "a_delete_by_a_longer_key": (b"\x82\x00", None),
    "a_row_cut_off": (b"\x02", row(2)[:-2]),
    "a_row_with_bytes_behind": (b"\x02", row(2) + b"\0"),
    "a_row_without_its_key": (b"\x02", b"\x01" + row(2)[2:]),
    "text_that_is_not_utf8": (b"\x02", row(2, "aaaa").replace(b"aaaa", b"\xff\xfe\xfd\xfc")),
    "text_that_leaves_the_row": (b"\x02", row(2, "aaaa").replace(b"\x04aaaa", b"\x7faaaa")),
}


@pytest.fixture
def table(cluster: WireCluster, database: str) -> WireKv:
    """A table with one row."""
    made = WireKv.create(cluster, database, "t")
    made.upsert((1, "one", 1))
    return made


@pytest.mark.parametrize("name", KV_POISON)
def test_poison_is_refused_and_nothing_of_its_batch_is_written(table: WireKv, name: str) -> None:
    """A good record in front of it goes with it; the client is told at once and does not send it again."""
    key, bad = KV_POISON[name]
    batch = build_kv_batch(1, Spans.of([b"\x05", key]), Spans.of([row(5), bad or b""]))
    answer = table.put(batch)
    assert answer.error_code == REFUSED, answer
    assert f"{table.wire.path.database_name}.t" in answer.error_message
    assert table.state() == {1: (1, "one", 1)}
    assert table.upsert((2, "two", 2)) == 2


def test_a_key_of_another_bucket_is_refused(cluster: WireCluster, database: str) -> None:
    """A key goes where Java looks for it, or where pyfluss does, and nowhere else."""
    table = WireKv.create(cluster, database, "many", bucket_count=5)
    for key in (1, 300, 2**40):
        batch = table.batch([(key, "a", 1)])
        homes = {bucket_of(table.key(key), 5, None, follow_pyfluss=way) for way in (False, True)}
        answers = [table.put(batch, bucket=bucket).error_code for bucket in range(5)]
        assert {bucket for bucket, code in enumerate(answers) if code is None} == homes
        assert {code for code in answers if code is not None} == {REFUSED}


def test_there_are_never_two_rows_with_one_key(new_server: Callable[..., ServerProcess]) -> None:
    """Neither at once nor after a restart, which makes keys from rows again."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireKv.create(cluster, "fluss", "t")
        table.upsert((2, "two", 2))
        path = table.wire.path
        assert table.put(build_kv_batch(1, Spans.of([b"\x03"]), Spans.of([row(2)]))).error_code == REFUSED
        assert table.row_count() == 1
    server.restart(kill=True)
    with WireCluster.of(server.bootstrap) as cluster:
        again = WireKv(type(table.wire).find(cluster, path))
        assert again.state() == {2: (2, "two", 2)}
