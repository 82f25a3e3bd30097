"""What is special about Paimon tables: changelogs, buckets, files that are merged, other writers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from key_bytes import encode_key
from lake_tables import TABLE_ID, Rounds, lake_rows, table_info
from paimon_readers import read_by_paimon_rust, read_by_pypaimon

from lakeward.errors import LakewardError
from lakeward.lake.formats import lake_format
from lakeward.lake.paimon.manifest.manifests import Manifests
from lakeward.lake.paimon.manifest.snapshots import PaimonSnapshot, Snapshots
from lakeward.lake.port import KeepsHouse, LakePlace
from lakeward.lake.round_properties import RoundProperties
from lakeward.model.data_types import BIGINT, STRING
from lakeward.model.table import TableInfo
from lakeward.records.key.bucketing import bucket_of
from lakeward.records.key.key_encoding import KeyEncoding

KEYED = {"id": "BIGINT NOT NULL", "name": "STRING"}
PLACE = LakePlace(0)


def opened(warehouse: Path, info: TableInfo) -> Rounds:
    """A table in a new warehouse."""
    return Rounds(lake_format("paimon"), warehouse, info)


def snapshots(warehouse: Path) -> list[PaimonSnapshot]:
    """All snapshots of the table, oldest first."""
    directory = Snapshots(warehouse / "shop.db" / "orders")
    return list(directory.back_from(directory.newest()))[::-1]


def written_by_rust(warehouse: Path, rows: pa.RecordBatch) -> None:
    """Another writer adds rows."""
    from pypaimon_rust.datafusion import PaimonCatalog

    building = PaimonCatalog({"warehouse": str(warehouse)}).get_table("shop.orders").new_batch_write_builder()
    write = building.new_write()
    write.write_arrow(rows)
    building.new_commit().commit(write.prepare_commit())


def outside_rows(ids: list[int]) -> pa.RecordBatch:
    """Rows of another writer."""
    count = len(ids)
    return pa.RecordBatch.from_pydict(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array(["outside"] * count),
            "__bucket": pa.array([0] * count, pa.int32()),
            "__offset": pa.array([0] * count, pa.int64()),
            "__timestamp": pa.array([0] * count, pa.timestamp("ms", "UTC")),
        },
        schema=pa.schema(
            [
                pa.field("id", pa.int64(), nullable=False),
                ("name", pa.string()),
                ("__bucket", pa.int32()),
                ("__offset", pa.int64()),
                ("__timestamp", pa.timestamp("ms", "UTC")),
            ]
        ),
    )


def seen(warehouse: Path) -> list[tuple[Any, ...]]:
    """Ids and names, as both readers see them."""
    one, two = (
        sorted((r["id"], r["name"]) for r in read(warehouse)) for read in (read_by_paimon_rust, read_by_pypaimon)
    )
    assert one == two
    return one


def test_the_changelog_has_every_change(tmp_path: Path) -> None:
    """Data files have the last change of a key; readers of the changelog get all, with their kinds."""
    rounds = opened(tmp_path, table_info(KEYED, key="id", buckets=1))
    rounds.round({PLACE: [{"id": 2, "name": "b"}, {"id": 1, "name": "a"}]})
    rounds.round({PLACE: [{"id": 1, "name": "x", "_": "+U"}, {"id": 2, "_": "-D"}, {"id": 1, "name": "y", "_": "+U"}]})
    table = tmp_path / "shop.db" / "orders"
    manifests = Manifests(table, [], 0)
    told = []
    for snapshot in snapshots(tmp_path):
        assert snapshot.changelog_list is not None
        for entry in manifests.entries(manifests.read_list(snapshot.changelog_list[0])):
            rows = pq.read_table(table / "bucket-0" / entry.name, partitioning=None).to_pylist()
            told.append([(r["_VALUE_KIND"], r["_KEY_id"], r["name"]) for r in rows])
    assert told == [[(0, 1, "a"), (0, 2, "b")], [(2, 1, "x"), (2, 1, "y"), (3, 2, None)]]
    assert [s.changelog_rows for s in snapshots(tmp_path)] == [2, 3]


def test_merged_files_replace_those_they_were_merged_from(tmp_path: Path) -> None:
    """After twenty rounds a place has a handful of files; the merge is a snapshot of its own, with the same offsets."""
    rounds = opened(tmp_path, table_info(KEYED, key="id", buckets=1))
    for number in range(20):
        made = rounds.round({PLACE: [{"id": i, "name": str(number), "_": "+U"} for i in range(number, number + 3)]})
    table = tmp_path / "shop.db" / "orders"
    manifests, newest = Manifests(table, [], 0), snapshots(tmp_path)[-1]
    lines = [line for name, _ in (newest.base_list, newest.delta_list) for line in manifests.read_list(name)]
    live = list(manifests.live(lines).values())
    assert len(live) <= 6
    assert max(f.level for f in live) == 5
    assert newest.total_rows == sum(f.rows for f in live)
    assert {s.kind for s in snapshots(tmp_path)} == {"APPEND", "COMPACT"}
    assert rounds.table.latest() == made
    assert [i for i, _ in seen(tmp_path)] == list(range(22))


def test_our_buckets_are_those_of_paimon(tmp_path: Path) -> None:
    """Another writer puts a key where our table would: a reader that looks for a key opens one bucket."""
    info = table_info({"id": "BIGINT NOT NULL", "name": "STRING NOT NULL"}, buckets=4)
    schema = replace(info.schema, primary_key=("id", "name"))
    info = replace(info, descriptor=replace(info.descriptor, schema=schema).normalize())
    opened(tmp_path, info)
    written_by_rust(tmp_path, outside_rows(list(range(200))))
    found = {
        row["id"]: int(path.parent.name.removeprefix("bucket-"))
        for path in tmp_path.rglob("data-*.parquet")
        for row in pq.read_table(path, partitioning=None).to_pylist()
    }
    assert len(found) == 200
    for number, bucket in found.items():
        key = encode_key(KeyEncoding.PAIMON, [BIGINT(), STRING()], [number, "outside"])
        assert bucket_of(key, 4, "paimon") == bucket


def test_rows_of_another_writer_stay_and_do_not_hide_the_last_round(tmp_path: Path) -> None:
    """Its snapshot is on top; the next round is built on it."""
    rounds = opened(tmp_path, table_info(KEYED, key="id", buckets=1))
    made = rounds.round({PLACE: [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]})
    written_by_rust(tmp_path, outside_rows([2, 3]))
    assert rounds.table.latest() == made
    rounds.round({PLACE: [{"id": 3, "name": "ours", "_": "+U"}]})
    assert seen(tmp_path) == [(1, "a"), (2, "outside"), (3, "ours")]


def test_a_commit_that_loses_a_race_is_made_on_top_of_the_winner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking and creating the snapshot somebody else takes the number."""
    rounds = opened(tmp_path, table_info(KEYED, key="id", buckets=1))
    written = rounds.write({PLACE: [{"id": 1, "name": "a"}]})
    create, raced = Snapshots.create, []

    def late(self: Snapshots, snapshot: PaimonSnapshot) -> bool:
        if not raced:
            raced.append(snapshot)
            written_by_rust(tmp_path, outside_rows([7]))
        return create(self, snapshot)

    monkeypatch.setattr(Snapshots, "create", late)
    made = rounds.table.commit(written, RoundProperties(TABLE_ID, rounds.offsets, 1), None)
    assert made.snapshot_id == 2
    assert seen(tmp_path) == [(1, "a"), (7, "outside")]
    lists = {
        name for s in snapshots(tmp_path) for name, _ in (s.base_list, s.delta_list, s.changelog_list or s.delta_list)
    }
    assert {p.name for p in tmp_path.rglob("manifest-list-*")} == lists


def test_a_merge_of_files_that_are_gone_is_given_up(tmp_path: Path) -> None:
    """Somebody else compacted the place meanwhile: the round's rows are there, its merge is not."""
    info = table_info(KEYED, key="id", buckets=1)
    rounds = opened(tmp_path, info)
    for number in range(4):
        rounds.round({PLACE: [{"id": number, "name": "a"}]})
    rounds.round({PLACE: [{"id": 9, "name": "a"}]})
    slow = rounds.write({PLACE: [{"id": 10, "name": "slow"}]})
    other = opened(tmp_path, info)
    other.round({PLACE: [{"id": 11, "name": "quick"}]})
    known = rounds.table.latest()
    assert known is not None
    made = rounds.table.commit(slow, RoundProperties(TABLE_ID, rounds.offsets, 9), known.snapshot_id)
    assert snapshots(tmp_path)[-1].kind == "APPEND"
    assert made.tiering_epoch == 9
    assert [i for i, _ in seen(tmp_path)] == [0, 1, 2, 3, 9, 10, 11]


def test_what_was_tiered_is_known_when_snapshots_have_expired(tmp_path: Path) -> None:
    """Another writer's expiry removes the round's snapshot: its tag still tells. Without one nobody guesses."""
    rounds = opened(tmp_path, table_info({"id": "BIGINT", "name": "STRING"}))
    made = rounds.round({PLACE: [{"id": 1, "name": "a"}]})
    written_by_rust(tmp_path, outside_rows([7]))
    table = tmp_path / "shop.db" / "orders"
    (table / "snapshot" / "snapshot-1").unlink()
    assert rounds.table.latest() == made
    (table / "tag" / "tag-lakeward-tiering").unlink()
    with pytest.raises(LakewardError, match="expired by somebody"):
        rounds.table.latest()


def test_a_table_that_we_cannot_write_is_refused(tmp_path: Path) -> None:
    """Options that change what files must hold are named; nothing is created."""
    info = table_info(KEYED, key="id")
    own = {"paimon.merge-engine": "aggregation", "paimon.file.format": "orc"}
    info = replace(info, descriptor=replace(info.descriptor, custom_properties=own))
    with pytest.raises(LakewardError, match=r"'merge-engine' = 'aggregation', 'file\.format' = 'orc'"):
        opened(tmp_path, info)
    assert not list(tmp_path.rglob("schema-*"))


@pytest.mark.parametrize("warehouse", ["oss://bucket/lake", "hdfs://host/lake"])
def test_a_warehouse_that_is_neither_a_directory_nor_in_s3_is_refused(warehouse: str) -> None:
    """A commit needs a file that only one can create, and that is known of those two."""
    with pytest.raises(LakewardError, match="neither a local directory nor in S3"):
        lake_format("paimon").catalog({"warehouse": warehouse})


@pytest.mark.parametrize("is_bucketed", [False, True])
def test_small_files_of_a_log_become_one(tmp_path: Path, is_bucketed: bool) -> None:
    """The same rows in fewer files; the last round is still the last round."""
    info = table_info({"id": "BIGINT", "name": "STRING"}, buckets=1)
    info = replace(info, descriptor=replace(info.descriptor, bucket_keys=("id",) if is_bucketed else ()))
    rounds = opened(tmp_path, info)
    for number in range(10):
        made = rounds.round({PLACE: [{"id": number, "name": "a"}]})
    assert isinstance(rounds.table, KeepsHouse)
    assert rounds.table.compact() == 10
    assert rounds.table.compact() == 0
    assert rounds.table.latest() == made
    assert [i for i, _ in seen(tmp_path)] == list(range(10))
    rounds.round({PLACE: [{"id": 10, "name": "b"}]})
    assert rounds.table.expire(10**13) == 2
    assert rounds.table.orphans(10**13) == []
    assert len(seen(tmp_path)) == 11


def test_moments_that_python_cannot_name_are_kept(tmp_path: Path) -> None:
    """A lake goes further than the year 9999."""
    info = table_info({"id": "TIMESTAMP(3) NOT NULL", "name": "STRING"}, key="id", buckets=1)
    rounds = opened(tmp_path, info)
    rows = lake_rows(info, 0, 0, [{"id": 0, "name": "a"}])
    far = rows.set_column(0, rows.schema.field(0), pa.array([1 << 61], pa.int64()).cast(pa.timestamp("ms")))
    writer = rounds.format.writer(rounds.table.writing([PLACE])[0], PLACE)
    writer.write(far)
    rounds.commit([writer.finish().record])
    assert {row["name"] for row in read_by_paimon_rust(tmp_path, columns=["name"])} == {"a"}
