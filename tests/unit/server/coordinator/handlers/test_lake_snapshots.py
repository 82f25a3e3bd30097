"""Lake snapshots: prepared, committed, asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from coordinator_world import alter_request, partition_request, path
from lake_world import TIERED, LakeWorld

from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages import lake as messages
from lakeward.protocol.messages.partition import DropPartitionRequest
from lakeward.protocol.messages.table import DropTableRequest
from lakeward.server.books.lake_snapshots import AREA
from lakeward.server.metadata_store.port import Document

UNKNOWN, NO_TABLE, NO_BUCKET, STORAGE, NO_SNAPSHOT = -1, 7, 21, 26, 53
DAY_S = 86_400


def test_what_is_prepared_is_a_file_and_not_yet_visible(lake: LakeWorld, tmp_path: Path) -> None:
    """In the place and the form of Apache Fluss."""
    found = Path(lake.prepared({0: 100, 2: 250, 1: None}))
    table_id = lake.table().table_id
    assert found.parent == tmp_path / "remote" / "lake" / "fluss" / f"t-{table_id}" / "metadata"
    assert found.suffix == ".offsets"
    assert json.loads(found.read_bytes()) == {"version": 1, "table_id": table_id, "bucket_offsets": [100, -1, 250]}
    assert lake.snapshot_code() == NO_SNAPSHOT


def test_offsets_are_merged_over_those_of_the_last_snapshot(lake: LakeWorld) -> None:
    """Unless they are to be ignored; what is not known is not told."""
    lake.commit(1, lake.prepared({0: 100, 1: 50}))
    lake.commit(2, lake.prepared({1: 60}))
    assert lake.snapshot() == (2, {0: 100, 1: 60})
    lake.commit(3, lake.prepared({2: 7}, ignore_previous_table_offsets=True))
    assert lake.snapshot() == (3, {2: 7})


def test_partitions_have_offsets_of_their_own_and_take_them_along(lake: LakeWorld) -> None:
    """Those of a dropped partition are left out of the next document."""
    lake.create("parts", properties=TIERED, partitions=["dt"])
    for dt in ("1", "2"):
        lake.ask(Api.CREATE_PARTITION, partition_request("parts", dt=dt))
    first, second = (p.partition_id for p in lake.catalog.partitions_of(lake.table("parts").table_id))
    lake.commit(1, lake.prepared({(first, 0): 5, (second, 0): 6}, "parts"), "parts")
    assert lake.snapshot("parts") == (1, {(first, 0): 5, (second, 0): 6})
    spec = partition_request("parts", dt="1").partition_spec
    lake.ask(
        Api.DROP_PARTITION,
        DropPartitionRequest(table_path=path("parts"), partition_spec=spec, ignore_if_not_exists=False),
    )
    lake.commit(2, lake.prepared({(second, 0): 9}, "parts"), "parts")
    assert lake.snapshot("parts") == (2, {(second, 0): 9})


@pytest.mark.parametrize(
    ("offsets", "more", "code"),
    [
        ({3: 1}, {}, NO_BUCKET),
        ({-1: 1}, {}, NO_BUCKET),
        ({2**31 - 1: 1}, {}, NO_BUCKET),
        ({(1, 0): 1}, {}, NO_BUCKET),
        ({0: 1}, {"table_id": 99}, NO_TABLE),
    ],
)
def test_offsets_of_what_is_not_there(lake: LakeWorld, offsets: Any, more: Any, code: int) -> None:
    """Are refused in the entry; no file is made."""
    answer = lake.prepare(offsets, **more)
    assert (answer.error_code, answer.lake_table_offsets_path) == (code, None)


def test_an_id_and_a_name_must_be_of_one_table(lake: LakeWorld) -> None:
    """A table that was dropped and made again is another one."""
    other = lake.create("other", properties=TIERED)
    assert lake.prepare({0: 1}, table_id=other.table_id).error_code == NO_TABLE


def test_only_the_newest_snapshot_is_kept_when_nothing_is_said(lake: LakeWorld) -> None:
    """With its file; the others' files go."""
    first = lake.prepared({0: 1})
    lake.commit(1, first)
    second = lake.prepared({0: 2})
    lake.commit(2, second)
    assert not Path(first).exists()
    assert Path(second).exists()
    assert lake.snapshot_code(snapshot_id=1) == NO_SNAPSHOT


def test_snapshots_are_kept_from_a_place_in_the_list_on(lake: LakeWorld) -> None:
    """Ids need not grow; one that is not in the list, such as −1, keeps all."""
    paths = {}
    for snapshot_id, keep_from in ((50, -1), (7, -1), (99, 1234), (3, 7)):
        paths[snapshot_id] = lake.prepared({0: snapshot_id})
        lake.commit(snapshot_id, paths[snapshot_id], keep_from=keep_from)
    assert [Path(paths[one]).exists() for one in (50, 7, 99, 3)] == [False, True, True, True]
    assert lake.snapshot() == (3, {0: 3})
    assert lake.snapshot(snapshot_id=99) == (99, {0: 99})
    assert lake.snapshot_code(snapshot_id=50) == NO_SNAPSHOT


def test_what_is_readable_may_be_older_than_what_is_tiered(lake: LakeWorld) -> None:
    """As Paimon has it: a snapshot becomes readable when it is compacted, under its own id."""
    one, two = lake.prepared({0: 1}), lake.prepared({0: 2})
    lake.commit(1, one, readable=None, keep_from=-1)
    assert lake.snapshot_code(readable=True) == NO_SNAPSHOT
    lake.commit(2, two, readable=None, keep_from=-1)
    lake.commit(1, one, readable=one, keep_from=-1)
    assert lake.snapshot() == (2, {0: 2})
    assert lake.snapshot(readable=True) == (1, {0: 1})
    assert lake.snapshot_code(readable=True, snapshot_id=1) == UNKNOWN


def test_a_commit_that_is_repeated_changes_nothing(lake: LakeWorld) -> None:
    """A service that did not hear the answer commits again."""
    found = lake.prepared({0: 1})
    for keep_from in (None, None, -1):
        assert lake.commit(1, found, keep_from=keep_from) == 0
        assert lake.snapshot() == (1, {0: 1})
    assert len(json.loads(lake.store.document(AREA, str(lake.table().table_id)) or "")["lake_snapshots"]) == 1


@pytest.mark.parametrize("where", ["/etc/passwd", "x.offsets", "{own}/../x.offsets", "{own}/x", "{own}/x.offsets", ""])
def test_only_files_of_the_table_can_be_committed(lake: LakeWorld, where: str) -> None:
    """A path comes from outside; nothing else on this machine is read or, later, deleted."""
    own = Path(lake.prepared({0: 1})).parent
    assert lake.commit(1, where.format(own=own)) in {UNKNOWN, STORAGE}
    assert lake.snapshot_code() == NO_SNAPSHOT


def test_another_tables_file_cannot_be_committed(lake: LakeWorld) -> None:
    """Not even within the lake."""
    lake.create("other", properties=TIERED)
    assert lake.commit(1, lake.prepared({0: 1}, "other")) == UNKNOWN


def test_services_before_0_9_commit_offsets_without_a_file(lake: LakeWorld) -> None:
    """They are merged over the last ones; the snapshot has its own id."""
    for snapshot_id, bucket in ((10, 0), (11, 1)):
        offset = messages.PbLakeTableOffsetForBucket(bucket_id=bucket, log_end_offset=5, max_timestamp=1)
        info = messages.PbLakeTableSnapshotInfo(
            table_id=lake.table().table_id, snapshot_id=snapshot_id, buckets_req=(offset,)
        )
        gone = messages.PbLakeTableSnapshotInfo(table_id=99, snapshot_id=1)
        request = messages.CommitLakeTableSnapshotRequest(tables_req=(info, gone))
        answers = lake.ask(Api.COMMIT_LAKE_TABLE_SNAPSHOT, request).table_resp
        assert [one.error_code for one in answers] == [None, NO_TABLE]
    assert lake.snapshot() == lake.snapshot(readable=True) == (11, {0: 5, 1: 5})


def test_a_commit_by_file_must_name_a_file_for_each_table(lake: LakeWorld) -> None:
    """The offsets beside it only feed metrics."""
    other = lake.create("other", properties=TIERED)
    found = lake.prepared({0: 1})
    infos = [messages.PbLakeTableSnapshotInfo(table_id=t.table_id, snapshot_id=1) for t in (lake.table(), other)]
    metadata = messages.PbLakeTableSnapshotMetadata(
        table_id=lake.table().table_id, snapshot_id=1, tiered_bucket_offsets_file_path=found
    )
    request = messages.CommitLakeTableSnapshotRequest(tables_req=tuple(infos), lake_table_snapshot_metadata=(metadata,))
    answers = lake.ask(Api.COMMIT_LAKE_TABLE_SNAPSHOT, request).table_resp
    assert [(one.table_id, one.error_code) for one in answers] == [
        (lake.table().table_id, None),
        (other.table_id, UNKNOWN),
    ]


def test_snapshots_outlive_a_restart(lake: LakeWorld) -> None:
    """And so does what was only prepared."""
    lake.commit(1, lake.prepared({0: 1}))
    prepared = lake.prepared({1: 1})
    again = lake.again()
    assert again.snapshot() == (1, {0: 1})
    assert again.commit(2, prepared) == 0
    assert again.snapshot() == (2, {0: 1, 1: 1})


def test_a_dropped_table_leaves_nothing(lake: LakeWorld, tmp_path: Path) -> None:
    """No files, no rows; not even when the server died between the two."""
    lake.commit(1, lake.prepared({0: 1}))
    table_id = lake.table().table_id
    row = lake.store.document(AREA, str(table_id))
    lake.ask(Api.DROP_TABLE, DropTableRequest(table_path=path(), ignore_if_not_exists=False))
    assert not list(tmp_path.rglob("*.offsets"))
    assert lake.store.document(AREA, str(table_id)) is None
    assert lake.snapshot_code() == NO_TABLE
    with lake.store.change() as change:
        change.put_document(Document(AREA, str(table_id), row or ""))
    lake.again()
    assert lake.store.document(AREA, str(table_id)) is None


def test_files_that_were_never_committed_go_after_a_day(lake: LakeWorld) -> None:
    """Not before: the lake may name one whose commit the server has not heard of."""
    old, young = lake.prepared({0: 1}), lake.prepared({0: 2})
    now_s = lake.clock.now_ms() / 1000
    os.utime(old, (now_s - DAY_S - 1, now_s - DAY_S - 1))
    os.utime(young, (now_s, now_s))
    lake.commit(1, lake.prepared({0: 3}))
    assert [Path(one).exists() for one in (old, young)] == [False, True]


# -- retention


def test_the_log_of_a_lake_table_is_kept_from_where_the_lake_ends(lake: LakeWorld) -> None:
    """0 while nothing is known, None for tables that are not tiered."""
    lake.create("plain")
    bucket = TableBucket(lake.table().table_id, None, 0)
    assert lake.coordinator.lake_floor(bucket) == 0
    lake.commit(1, lake.prepared({0: 42}))
    assert lake.coordinator.lake_floor(bucket) == 42
    assert lake.coordinator.lake_floor(bucket._replace(bucket=1)) == 0
    assert lake.coordinator.lake_floor(TableBucket(lake.table("plain").table_id, None, 0)) is None
    assert lake.coordinator.lake_floor(TableBucket(99, None, 0)) is None
    lake.ask(Api.ALTER_TABLE, alter_request(**{"table.datalake.enabled": "false"}))
    assert lake.coordinator.lake_floor(bucket) is None


def test_a_lost_offsets_file_keeps_the_whole_log(lake: LakeWorld) -> None:
    """And is told to whoever asks for the snapshot."""
    found = lake.prepared({0: 42})
    lake.commit(1, found)
    Path(found).unlink()
    again = lake.again()
    assert again.coordinator.lake_floor(TableBucket(lake.table().table_id, None, 0)) == 0
    assert again.snapshot_code() == STORAGE
    assert again.prepare({1: 1}).error_code == STORAGE, "what the other buckets have must not be forgotten"
    assert again.commit(2, again.prepared({0: 42}, ignore_previous_table_offsets=True)) == 0
    assert again.coordinator.lake_floor(TableBucket(lake.table().table_id, None, 0)) == 42
