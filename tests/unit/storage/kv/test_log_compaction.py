"""Key-based compaction of changelogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.model import data_types as t
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.records.batch.changelog_batch import changelog_rows
from lakeward.records.batch.kv_batch import build_kv_batch, parse_kv_batch
from lakeward.records.batch.log_batch import crc_is_right, walk_batches
from lakeward.records.kernels.spans import Spans
from lakeward.records.row import compacted_row
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.kv.recovery import Recovery
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.repair import give_up
from lakeward.storage.log.settings import LogSettings
from lakeward.storage.log.verification import verify_log

SCHEMA = Schema.of([("id", t.INT()), ("name", t.STRING())], primary_key=["id"])
CODEC = compacted_row.codec(tuple(column.type for column in SCHEMA.columns))
KEYS = 50


def table(**properties: str) -> KvTable:
    """A table of two columns that compacts its changelog."""
    named = {"table.log.compaction.enabled": "true"} | {k.replace("_", "."): v for k, v in properties.items()}
    descriptor = TableDescriptor(SCHEMA, bucket_count=1, properties=named).normalize()
    return KvTable.of(TableInfo(TablePath("db", "t"), 1, 1, descriptor, 0, 0), lambda _: SCHEMA)


def opened(directory: Path, kv_table: KvTable) -> KvTablet:
    """The tablet in a directory, with small segments."""
    log = LogTablet(
        directory / "log-0", LogSettings(segment_bytes_max=4000), OpenFiles(LocalFiles(), 8), lambda job: job()
    )
    recovered = Recovery(directory / "kv-0", log, kv_table, "hash").run()
    return KvTablet(directory / "kv-0", log, lambda: kv_table, recovered, lambda job: job(), lambda _: 0)


def put(kv: KvTablet, rows: dict[int, str | None]) -> None:
    """Upsert, or delete where the name is None."""
    keys = Spans.of([bytes([key]) for key in rows])
    values = Spans.of([b"" if name is None else bytes(CODEC.encode((key, name))) for key, name in rows.items()])
    kv.put(parse_kv_batch(build_kv_batch(1, keys, values)), (), 1000)


def changes(kv: KvTablet, start: int = 0) -> list[tuple[int, int, int, str]]:
    """Offset, kind, id and name of every change that a reader gets who begins at an offset."""
    found = []
    offset = start
    while offset < kv.log.end_offset:
        read = kv.log.read(offset, 1 << 20, at_least_one=True)
        for span in walk_batches(read.data):
            assert crc_is_right(read.data, span)
            batch = read.data[span.start : span.end]
            rows = changelog_rows(batch, [c.type for c in SCHEMA.columns], (0,))
            buffer, starts, ends = rows.rows.in_one_buffer()
            for i in range(span.header.record_count):
                cells = CODEC.decode(buffer[starts[i] : ends[i]].tobytes())
                found.append((span.header.base_offset + i, int(rows.change_types[i]), *cells))
            offset = span.header.last_offset + 1
    return [change for change in found if change[0] >= start]


def state(found: list[tuple[int, int, int, str]]) -> dict[int, str]:
    """What a reader knows who has applied these changes."""
    rows: dict[int, str] = {}
    for _, kind, key, name in found:
        if kind in {1, 3}:
            rows[key] = name
        elif kind == 4:
            rows.pop(key, None)
    return rows


@pytest.fixture
def kv(tmp_path: Path) -> KvTablet:
    """A tablet whose keys were overwritten again and again, some deleted."""
    tablet = opened(tmp_path, table())
    for round_ in range(40):
        put(tablet, {key: f"name {key} {round_}" for key in range(round_ % 3, KEYS, 3)})
    put(tablet, dict.fromkeys(range(0, KEYS, 10)))
    put(tablet, {200: "the last segment is not touched"})
    return tablet


def test_a_compacted_log_says_the_same_in_fewer_changes(kv: KvTablet) -> None:
    """The last change of each key stays, so a reader from the beginning knows the same in the end."""
    before, size = changes(kv), kv.log.size
    kv.compact_log(lambda job: job())
    after = changes(kv)
    assert state(after) == state(before)
    assert len(after) < len(before) / 2
    assert kv.log.size < size


def test_offsets_stay_covered_and_rows_only_move_on(kv: KvTablet) -> None:
    """A reader that goes on from any offset misses no row that it has not read."""
    before = changes(kv)
    end = kv.log.end_offset
    seen_up_to = {offset: state([c for c in before if c[0] < offset]) for offset in range(0, end, 37)}
    kv.compact_log(lambda job: job())
    assert kv.log.end_offset == end
    for offset, known in seen_up_to.items():
        rows = dict(known)
        for _, kind, key, name in changes(kv, offset):
            if kind in {1, 3}:
                rows[key] = name
            elif kind == 4:
                rows.pop(key, None)
        assert rows == state(before), offset


def test_state_comes_back_from_a_compacted_log(kv: KvTablet, tmp_path: Path) -> None:
    """Recovery reads a compacted log like any other, also when every checkpoint is gone."""
    expected = state(changes(kv))
    kv.compact_log(lambda job: job())
    kv.log.close()
    for checkpoint in (tmp_path / "log-0").glob("*.writer_snapshot"):
        checkpoint.unlink()
    again = opened(tmp_path, table())
    assert not again.log.repairs
    assert again.row_count == len(expected)
    assert state(changes(again)) == expected


def test_what_is_not_worth_it_is_left_alone(tmp_path: Path) -> None:
    """Below the ratio, or when it is off, nothing is rewritten."""
    for properties in ({"table_log_compaction_enabled": "false"}, {}):
        tablet = opened(tmp_path / str(len(properties)), table(**properties))
        for first in range(0, 200, 20):
            put(tablet, {key: f"name {key}" * 10 for key in range(first, min(first + 20, 128))} or {1: "x"})
        before = changes(tablet)
        tablet.compact_log(lambda job: job())
        assert changes(tablet) == before


def test_what_was_given_up_is_still_told_after_compaction(kv: KvTablet, tmp_path: Path) -> None:
    """Offsets without rows are of two kinds: overtaken by later ones, and lost."""
    kv.log.close()
    directory = tmp_path / "log-0"
    second = sorted(directory.glob("*.log"))[1]
    data = bytearray(second.read_bytes())
    data[-3] ^= 1
    second.write_bytes(data)
    (damage,) = verify_log(LocalFiles(), directory).damages
    give_up(LocalFiles(), directory, damage, 1000)
    again = opened(tmp_path, table())
    again.compact_log(lambda job: job())
    read, lost = 0, []
    while read < again.log.end_offset:
        found = again.log.read(read, 1 << 20, at_least_one=True)
        headers = [span.header for span in walk_batches(found.data)]
        lost += [(one.base_offset, one.last_offset + 1) for one in headers if one.given_up]
        read = headers[-1].last_offset + 1
    assert set(lost) == {(damage.first, damage.end)}
    assert again.log.size < kv.log.size
