"""One file of batches: found by offset, by time and by size, whatever its index says."""

from __future__ import annotations

from pathlib import Path

import pytest
from failing_files import FailingFiles
from hypothesis import given
from hypothesis import strategies as st
from raw_batches import raw_batch

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.log_batch import cut_batches, stamp
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.port import Files
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.segment.segment import INDEX, TIME_INDEX, Segment, file_stem

BASE = 100


def segment_of(directory: Path, sizes: list[int], interval_bytes: int = 200, disk: Files | None = None) -> Segment:
    """A segment from offset 100 on: batch i has two rows, a body of sizes[i] bytes, and the time 1000 + 10 i."""
    segment = Segment(directory, BASE, 0, OpenFiles(disk or LocalFiles(), 4), interval_bytes).create()
    for number, size in enumerate(sizes):
        data = raw_batch(2, b"x" * size)
        base, time_ms = BASE + 2 * number, 1000 + 10 * number
        stamp(data, 0, base, time_ms)
        segment.append(memoryview(data), cut_batches(data), base, time_ms)
    return segment


def reopened(segment: Segment, *, keep_index: bool = True) -> Segment:
    """The same file, opened by another process."""
    if keep_index:
        for path, content in segment.index_files():
            path.write_bytes(content)
    return Segment(
        segment.path.parent, segment.base_offset, segment.path.stat().st_size, OpenFiles(LocalFiles(), 4), 200
    )


def assert_all_is_found(segment: Segment, sizes: list[int]) -> None:
    """Every offset, time and byte limit leads to the right batch."""
    starts = [sum(48 + s for s in sizes[:i]) for i in range(len(sizes) + 1)]
    for number in range(len(sizes)):
        for offset in (BASE + 2 * number, BASE + 2 * number + 1):
            found = segment.position_of(offset)
            assert found is not None
            assert (found[0], found[1].base_offset) == (starts[number], BASE + 2 * number)
        for time_ms in (991 + 10 * number, 1000 + 10 * number):
            assert segment.offset_of_time(time_ms) == BASE + 2 * number
        for limit in (starts[number], starts[number] + 1, starts[number + 1] - 1):
            assert segment.whole_batches_end(0, limit) == starts[number]
    assert segment.position_of(BASE + 2 * len(sizes)) is None
    assert segment.offset_of_time(1001 + 10 * len(sizes)) is None
    assert segment.whole_batches_end(starts[-2], 10**9) == starts[-1]


SIZES = st.lists(st.integers(0, 300) | st.sampled_from([4096, 8143, 8144, 8145, 20_000]), min_size=1, max_size=30)


@given(SIZES, st.sampled_from([0, 64, 4096]))
def test_every_offset_and_time_is_found(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], interval: int
) -> None:
    """Small and large batches, dense and sparse indexes: the batch that holds an offset is found."""
    assert_all_is_found(segment_of(tmp_path_factory.mktemp("s"), sizes, interval), sizes)


@given(SIZES)
def test_a_stored_index_serves_as_well(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    """Another process finds everything, with the index files and without them."""
    segment = segment_of(tmp_path_factory.mktemp("s"), sizes)
    assert_all_is_found(reopened(segment), sizes)
    for suffix in (INDEX, TIME_INDEX):
        segment.path.with_suffix(suffix).unlink()
        assert_all_is_found(reopened(segment, keep_index=False), sizes)


@given(st.data())
def test_a_damaged_index_changes_nothing_but_speed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever was flipped in an index file, the same batches are found and none is cut."""
    sizes = [60 + i for i in range(40)]
    segment = segment_of(tmp_path_factory.mktemp("s"), sizes)
    segment = reopened(segment)
    path = segment.path.with_suffix(data.draw(st.sampled_from([INDEX, TIME_INDEX])))
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=3)):
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    again = reopened(segment, keep_index=False)
    assert_all_is_found(again, sizes)
    assert again.time_ms_max == 1000 + 10 * 39


def test_an_index_of_another_segment_is_noticed(tmp_path: Path) -> None:
    """An index that points into the middle of batches is rebuilt, not believed."""
    sizes = [100] * 50
    segment = segment_of(tmp_path, sizes)
    for path, content in segment_of(tmp_path / ".." / tmp_path.name, [37] * 90).index_files():
        path.write_bytes(content)
    segment = segment_of(tmp_path, sizes)
    foreign = Segment(tmp_path, BASE, segment.size, OpenFiles(LocalFiles(), 4), 200)
    assert_all_is_found(foreign, sizes)


def test_a_batch_is_named_by_its_segment(tmp_path: Path) -> None:
    """Files are named by twenty digits of their first offset, as at Apache Fluss."""
    assert segment_of(tmp_path, [1]).path.name == "00000000000000000100.log"
    assert file_stem(2**63 - 1) == "09223372036854775807"


def test_a_segment_knows_when_it_was_last_written_to(tmp_path: Path) -> None:
    """Retention relies on this time: it comes from the batches, not from an index that may be out of date."""
    segment = segment_of(tmp_path, [100] * 20)
    early = [(path, content) for path, content in segment_of(tmp_path, [100] * 3).index_files()]
    segment = segment_of(tmp_path, [100] * 20)
    for path, content in early:
        path.write_bytes(content)
    assert reopened(segment, keep_index=False).time_ms_max == 1190
    assert Segment(tmp_path, 5000, 0, OpenFiles(LocalFiles(), 4), 200).time_ms_max == -1


def test_cutting_takes_batches_index_and_file(tmp_path: Path) -> None:
    """After a cut the segment ends where it was cut, and goes on from there."""
    sizes = [100] * 20
    segment = segment_of(tmp_path, sizes)
    segment.cut(7 * 148, BASE + 14)
    assert segment.path.stat().st_size == segment.size == 7 * 148
    assert_all_is_found(segment, sizes[:7])
    data = raw_batch(2, b"y" * 100)
    stamp(data, 0, BASE + 14, 1070)
    segment.append(memoryview(data), cut_batches(data), BASE + 14, 1070)
    assert_all_is_found(segment, sizes[:8])


def test_large_and_small_reads_give_the_same_bytes(tmp_path: Path) -> None:
    """What was appended is read back, copied or mapped."""
    segment = segment_of(tmp_path, [40_000] * 5)
    whole = segment.path.read_bytes()
    assert segment.read(0, segment.size) == whole
    assert segment.read(10, 30) == whole[10:30]


def test_files_put_away_no_longer_belong_to_the_log(tmp_path: Path) -> None:
    """All three files are renamed, and come back as what is to be deleted."""
    segment = reopened(segment_of(tmp_path, [300] * 9))
    away = segment.put_away()
    assert sorted(p.name for p in away) == sorted(p.name for p in tmp_path.iterdir())
    assert {p.suffix for p in away} == {".deleted"}
    assert len(away) == 3


def test_a_failed_write_says_which_file_and_leaves_no_trace(tmp_path: Path) -> None:
    """When the disk is full in the middle of a batch, the half is cut off and the next append succeeds."""
    disk = FailingFiles()
    segment = segment_of(tmp_path, [100] * 3, disk=disk)
    data = raw_batch(2, b"x" * 100)
    stamp(data, 0, BASE + 6, 1030)
    with disk.full(10), pytest.raises(LakewardError, match="No space left") as caught:
        segment.append(memoryview(data), cut_batches(data), BASE + 6, 1030)
    assert caught.value.code is ErrorCode.LOG_STORAGE
    assert str(segment.path) in caught.value.message
    assert segment.path.stat().st_size == segment.size == 3 * 148
    segment.append(memoryview(data), cut_batches(data), BASE + 6, 1030)
    assert_all_is_found(segment, [100] * 4)
