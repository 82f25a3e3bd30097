"""The log of one bucket as a whole: append, read, find, roll, retain, come back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import append, append_payload, contents, fill, open_log
from raw_batches import raw_batch

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.log_batch import cut_batches, walk_batches
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log import checkpoint
from lakeward.storage.log.writer_state import Verdict

LAST_SEQUENCE = 2**31 - 1


def test_a_new_log_is_empty_and_has_no_files(tmp_path: Path) -> None:
    """A bucket that was never written to costs nothing on disk."""
    log = open_log(tmp_path / "log-0")
    assert (log.start_offset, log.end_offset, log.size, log.segment_count) == (0, 0, 0, 0)
    assert log.read(0, 100, at_least_one=True).data == b""
    log.checkpoint()
    log.close()
    assert not (tmp_path / "log-0").exists()


def test_offsets_are_dense_and_times_never_go_back(tmp_path: Path) -> None:
    """Each batch begins where the one before it ended; a clock that jumps back is not believed."""
    log = open_log(tmp_path)
    assert [append(log, rows, now_ms=now) for rows, now in [(3, 50), (1, 40), (0, 60), (2, 60)]] == [0, 3, 4, 5]
    assert log.end_offset == 7
    read = log.read(0, 10_000, at_least_one=True)
    assert [s.header.commit_timestamp_ms for s in walk_batches(read.data)] == [50, 50, 60, 60]
    assert [s.header.base_offset for s in walk_batches(read.data)] == [0, 3, 4, 5]


def test_an_append_of_several_batches_is_one_append(tmp_path: Path) -> None:
    """All batches of a payload get consecutive offsets; the answer is the first of them."""
    log = open_log(tmp_path)
    append(log, 2)
    payload = raw_batch(3, b"a") + raw_batch(4, b"b")
    assert append_payload(log, payload) == 2
    assert contents(log) == [(0, b"row"), (2, b"a"), (5, b"b")]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 400)), min_size=1, max_size=30),
    st.integers(1, 1500),
    st.integers(60, 3000),
)
def test_what_was_appended_is_read_from_any_offset(
    tmp_path_factory: pytest.TempPathFactory, batches: list[tuple[int, int]], bytes_max: int, segment_bytes: int
) -> None:
    """Whatever the sizes of batches, reads and segments: a reader sees whole batches, all of them, in order."""
    log = open_log(tmp_path_factory.mktemp("log"), segment_bytes_max=segment_bytes)
    wanted = []
    for number, (rows, size) in enumerate(batches):
        body = bytes([number]) * size
        wanted.append((append(log, rows, body=body), body))
    for base, _ in wanted:
        assert contents(log, base, bytes_max) == [batch for batch in wanted if batch[0] >= base]
    assert log.start_offset == 0
    assert log.size == sum(48 + size for _, size in batches)


def test_a_read_begins_with_the_batch_that_holds_the_offset(tmp_path: Path) -> None:
    """An offset in the middle of a batch gets that whole batch; the client skips what it knows."""
    log = open_log(tmp_path)
    fill(log, 9, rows=10)
    read = log.read(37, 10_000, at_least_one=True)
    assert read.first_offset == 30
    assert read.reaches_end
    assert log.offset_behind(read) == 90


def test_a_read_takes_no_more_than_asked_but_one_batch_if_it_must(tmp_path: Path) -> None:
    """The limit is kept in whole batches; only who insists gets a batch that is larger."""
    log = open_log(tmp_path)
    fill(log, 9, rows=1)
    size = len(raw_batch(1, b"batch 00000"))
    assert len(log.read(0, 3 * size, at_least_one=False).data) == 3 * size
    assert len(log.read(0, 3 * size - 1, at_least_one=False).data) == 2 * size
    nothing = log.read(0, size - 1, at_least_one=False)
    assert (nothing.data, nothing.reaches_end) == (b"", False)
    assert len(log.read(0, 0, at_least_one=True).data) == size


@pytest.mark.parametrize("offset", [-1, -3, 19, 10**12])
def test_offsets_outside_the_log_are_refused(tmp_path: Path, offset: int) -> None:
    """Before the start and behind the end is LOG_OFFSET_OUT_OF_RANGE, with the range in the message."""
    log = open_log(tmp_path)
    fill(log, 9)
    assert log.read(18, 100, at_least_one=True).data == b""
    with pytest.raises(LakewardError, match="from 0 to 18") as caught:
        log.read(offset, 100, at_least_one=True)
    assert caught.value.code is ErrorCode.LOG_OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize("segment_bytes", [150, 10**6])
def test_a_time_is_found_in_whichever_segment(tmp_path: Path, segment_bytes: int) -> None:
    """The first batch at or after a time is found; behind the newest there is only the end."""
    log = open_log(tmp_path, segment_bytes_max=segment_bytes)
    fill(log, 20, rows=3, first_ms=1000, step_ms=10)
    for number in range(20):
        assert log.offset_of_time(1000 + 10 * number) == 3 * number
        assert log.offset_of_time(1000 + 10 * number - 1) == 3 * number
    assert log.offset_of_time(0) == 0
    assert log.offset_of_time(1191) == log.end_offset == 60


def test_a_full_segment_is_rolled_before_the_append(tmp_path: Path) -> None:
    """No segment is larger than its limit unless one batch alone is."""
    log = open_log(tmp_path, segment_bytes_max=200)
    fill(log, 10)
    append(log, body=b"x" * 1000)
    append(log)
    sizes = [path.stat().st_size for path in sorted(tmp_path.glob("*.log"))]
    assert sizes == [177] * 3 + [59, 1048, 51]
    assert log.segment_count == 6


def test_an_old_segment_is_rolled_however_small(tmp_path: Path) -> None:
    """With a roll interval, a segment takes no more batches once its first one is that old."""
    log = open_log(tmp_path, roll_interval_ms=100)
    for now_ms in (0, 50, 99, 100, 150, 199, 200):
        append(log, now_ms=now_ms)
    assert log.segment_count == 3
    again = open_log(tmp_path, roll_interval_ms=100)
    append(again, now_ms=299)
    append(again, now_ms=300)
    assert again.segment_count == 4


def test_offsets_too_far_from_their_base_begin_a_segment(tmp_path: Path) -> None:
    """Index entries hold 31 bits; batches that claim billions of rows do not overflow them."""
    log = open_log(tmp_path)
    for _ in range(3):
        append(log, 2**31 - 1)
    assert log.segment_count == 3
    assert [base for base, _ in contents(log)] == [0, 2**31 - 1, 2**32 - 2]
    assert [base for base, _ in contents(open_log(tmp_path))] == [0, 2**31 - 1, 2**32 - 2]


# -- idempotence


def judged(log: object, *batches: tuple[int, int]) -> Verdict:
    """What the log says to a payload of (writer, sequence) batches."""
    payload = b"".join(raw_batch(2, writer_id=w, sequence=s) for w, s in batches)
    return log.judge(cut_batches(payload))[0]  # type: ignore[attr-defined]


def test_batches_without_a_writer_are_always_next(tmp_path: Path) -> None:
    """A writer or a sequence of -1 means that nobody counts."""
    log = open_log(tmp_path)
    for batch in ((-1, -1), (-1, 5), (5, -1)):
        assert judged(log, batch) is Verdict.NEXT
        append(log, writer_id=batch[0], sequence=batch[1])
    assert len(log.writers) == 0


def test_a_batch_sent_twice_is_known_with_its_offsets(tmp_path: Path) -> None:
    """A duplicate is answered with the base offset of the first time, also after a restart."""
    log = open_log(tmp_path, checkpoints=False)
    for sequence in range(7):
        append(log, 3, writer_id=9, sequence=sequence)
    for opened in (log, open_log(tmp_path)):
        for sequence in range(2, 7):
            verdict, before = opened.judge(cut_batches(raw_batch(3, writer_id=9, sequence=sequence)))
            assert verdict is Verdict.DUPLICATE
            assert before is not None
            assert before.base_offset == 3 * sequence
        assert judged(opened, (9, 7)) is Verdict.NEXT
        assert judged(opened, (9, 8)) is Verdict.AHEAD
        assert judged(opened, (9, 1)) is Verdict.OUT_OF_ORDER


def test_the_batches_of_one_payload_are_counted_one_by_one(tmp_path: Path) -> None:
    """A payload is next only if each of its batches is, in its place."""
    log = open_log(tmp_path)
    assert judged(log, (1, 0), (1, 1), (1, 2)) is Verdict.NEXT
    assert judged(log, (1, 0), (2, 0), (1, 1)) is Verdict.NEXT
    assert judged(log, (1, 0), (1, 2)) is Verdict.OUT_OF_ORDER
    assert judged(log, (1, 0), (1, 0)) is Verdict.OUT_OF_ORDER
    assert judged(log, (1, 1), (1, 2)) is Verdict.AHEAD
    append_payload(log, raw_batch(1, writer_id=1, sequence=0) + raw_batch(1, writer_id=1, sequence=1))
    assert judged(log, (1, 0), (1, 1)) is Verdict.DUPLICATE
    assert judged(log, (1, 2)) is Verdict.NEXT


def test_a_batch_without_a_number_does_not_disturb_its_writer(tmp_path: Path) -> None:
    """After a restart too, a batch of sequence -1 has no part in the count."""
    log = open_log(tmp_path, checkpoints=False)
    append(log, writer_id=9, sequence=0)
    append(log, writer_id=9, sequence=-1)
    for opened in (log, open_log(tmp_path)):
        assert judged(opened, (9, 1)) is Verdict.NEXT
        assert judged(opened, (9, 0)) is Verdict.DUPLICATE


# -- coming back


@pytest.mark.parametrize("checkpoints", [True, False], ids=["checkpoints", "no checkpoints"])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_a_log_comes_back_as_it_was(tmp_path: Path, checkpoints: bool, closed: bool) -> None:
    """After a clean end and after a kill, with and without checkpoints: same batches, times and writers."""
    log = open_log(tmp_path, checkpoints=checkpoints, segment_bytes_max=500)
    for sequence in range(40):
        append(log, 2, writer_id=7, sequence=sequence, now_ms=1000 + sequence, body=b"%05d" % sequence)
        if sequence == 17:
            log.checkpoint()
    wanted = contents(log)
    if closed:
        log.close()
    again = open_log(tmp_path, segment_bytes_max=500)
    assert contents(again) == wanted
    assert (again.end_offset, again.time_ms_max, again.segment_count) == (80, 1039, log.segment_count)
    assert not again.repairs
    assert judged(again, (7, 40)) is Verdict.NEXT
    assert judged(again, (7, 39)) is Verdict.DUPLICATE
    assert [again.offset_of_time(1000 + s) for s in range(40)] == [2 * s for s in range(40)]
    assert append(again, now_ms=5) == 80
    assert again.time_ms_max == 1039


def test_a_log_comes_back_again_and_again(tmp_path: Path) -> None:
    """Each of many lives goes on where the one before it ended, with one file open at a time."""
    wanted = []
    for life in range(6):
        log = open_log(tmp_path, files=OpenFiles(LocalFiles(), 1), segment_bytes_max=300, checkpoints=life % 2 == 0)
        assert contents(log) == wanted
        for number in range(5):
            body = b"%d.%d" % (life, number)
            wanted.append((append(log, 1, body=body, now_ms=1000 * life + number), body))
        if life % 3 == 0:
            log.close()
    assert contents(open_log(tmp_path)) == wanted


def test_rows_that_recovery_found_are_checkpointed(tmp_path: Path) -> None:
    """What was written after the last checkpoint is dirty again after a restart, so that it is synced once."""
    log = open_log(tmp_path, checkpoints=False)
    fill(log, 3)
    again = open_log(tmp_path)
    assert again.is_dirty
    again.close()
    assert not open_log(tmp_path).is_dirty


def test_a_checkpoint_that_fails_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log stays dirty, those asked for meanwhile do not vouch for it, and the next one covers everything."""
    jobs: list[Callable[[], None]] = []
    log = open_log(tmp_path, later=jobs.append, segment_bytes_max=200)
    synced: list[str] = []

    def sync(_: object, path: Path) -> None:
        if not synced:
            synced.append("failed")
            raise OSError("no space")
        synced.append(path.stem)

    monkeypatch.setattr(checkpoint, "sync_data", sync)
    fill(log, 2)
    log.checkpoint()
    assert not log.is_dirty
    fill(log, 4)
    log.checkpoint()
    assert log.segment_count > 1
    first, *behind = jobs
    with pytest.raises(OSError, match="no space"):
        first()
    for job in behind:
        job()
    assert synced == ["failed"]
    assert not checkpoint.stored_checkpoints(LocalFiles(), tmp_path)
    assert log.is_dirty
    jobs.clear()
    log.checkpoint()
    (job,) = jobs
    job()
    assert not log.is_dirty
    assert synced[1:] == sorted(path.stem for path in tmp_path.glob("*.log"))
    assert checkpoint.stored_checkpoints(LocalFiles(), tmp_path)[0][0] == log.end_offset


def test_closing_covers_checkpoints_that_never_ran(tmp_path: Path) -> None:
    """A log that is closed is on disk, whatever was still to be done elsewhere."""
    jobs: list[Callable[[], None]] = []
    log = open_log(tmp_path, later=jobs.append, segment_bytes_max=200)
    fill(log, 5)
    log.checkpoint()
    log.close()
    assert checkpoint.stored_checkpoints(LocalFiles(), tmp_path)[0][0] == log.end_offset
    for job in jobs:  # late, and harmless
        job()
    assert not open_log(tmp_path).is_dirty


# -- retention


def test_expired_segments_go_and_their_files_a_little_later(tmp_path: Path) -> None:
    """Rows older than the time to live are gone for readers at once, their files after the delay."""
    log = open_log(tmp_path, segment_bytes_max=200, ttl_ms=100, delete_delay_ms=50)
    fill(log, 12, rows=1, step_ms=10)
    assert log.retain(1150) == 1
    assert log.start_offset == 3
    assert contents(log)[0][0] == 3
    assert len(list(tmp_path.glob("*.deleted"))) == 3
    with pytest.raises(LakewardError):
        log.read(2, 100, at_least_one=True)
    assert log.retain(1151) == 1
    log.retain(1199)
    first = [path for path in tmp_path.iterdir() if path.name.startswith("0" * 20 + ".")]
    assert {path.name[20:] for path in first} == {".log.deleted", ".index.deleted", ".timeindex.deleted"}
    log.retain(1200)
    assert not any(path.exists() for path in first)
    assert list(tmp_path.glob("*.deleted"))
    log.retain(10**9)
    assert (log.start_offset, log.end_offset, log.segment_count) == (9, 12, 1)


def test_files_put_away_before_a_crash_are_deleted(tmp_path: Path) -> None:
    """What retention had put away does not come back and does not stay."""
    log = open_log(tmp_path, segment_bytes_max=200, ttl_ms=100)
    fill(log, 12, rows=1)
    log.retain(10**9)
    again = open_log(tmp_path)
    assert again.start_offset == 9
    assert not list(tmp_path.glob("*.deleted"))


def test_an_emptied_log_remembers_where_it_ended(tmp_path: Path) -> None:
    """When even the active segment has expired, offsets go on behind the lost rows, also after a restart."""
    log = open_log(tmp_path, ttl_ms=100, roll_expired_active_segment=True)
    fill(log, 5, rows=2)
    assert log.retain(10**6) == 1
    assert (log.start_offset, log.end_offset, log.size) == (10, 10, 0)
    for opened in (log, open_log(tmp_path)):
        assert (opened.start_offset, opened.end_offset) == (10, 10)
        assert opened.read(10, 100, at_least_one=True).data == b""
    assert append(open_log(tmp_path)) == 10


def test_nothing_young_is_deleted_after_a_crash(tmp_path: Path) -> None:
    """Recovery knows how old each segment is, though a crash took the index files and the checkpoints."""
    log = open_log(tmp_path, checkpoints=False, segment_bytes_max=200, index_interval_bytes=10**6, ttl_ms=1000)
    fill(log, 12, rows=1, first_ms=10**6)
    again = open_log(tmp_path, segment_bytes_max=200, index_interval_bytes=10**6, ttl_ms=1000)
    assert again.retain(10**6 + 500) == 0
    assert [again.offset_of_time(10**6 + 10 * i) for i in range(12)] == list(range(12))


def test_nothing_young_is_deleted_after_two_crashes(tmp_path: Path) -> None:
    """An index file from when a segment was still growing is not believed once the segment is closed."""
    numbers = {"segment_bytes_max": 400, "index_interval_bytes": 10**6, "ttl_ms": 1000}
    log = open_log(tmp_path, checkpoints=True, **numbers)
    append(log, now_ms=100)
    log.checkpoint()  # an index file with few entries, or none
    crashed = open_log(tmp_path, checkpoints=False, **numbers)
    fill(crashed, 12, rows=1, first_ms=10**6)
    recovered = open_log(tmp_path, checkpoints=True, **numbers)
    append(recovered, now_ms=10**6 + 200)
    recovered.checkpoint()
    last = open_log(tmp_path, **numbers)
    assert last.retain(10**6 + 500) == 0
    assert [last.offset_of_time(10**6 + 10 * i) for i in range(12)] == [1 + i for i in range(12)]


def test_sizes_are_kept_by_retention(tmp_path: Path) -> None:
    """With a size limit the newest rows of at least that size stay."""
    log = open_log(tmp_path, segment_bytes_max=200, ttl_ms=-1, retention_bytes=400, delete_delay_ms=0)
    fill(log, 60, rows=1)
    log.retain(0)
    assert 400 <= log.size < 600
    assert log.end_offset == 60


def test_many_rolls_leave_few_checkpoints(tmp_path: Path) -> None:
    """Each segment keeps the checkpoint at its base, retired ones take theirs with them."""
    log = open_log(tmp_path, segment_bytes_max=200, ttl_ms=100, delete_delay_ms=0)
    for turn in range(10):
        fill(log, 9, rows=1, first_ms=1000 * turn)
        log.retain(1000 * turn + 500)
        log.checkpoint()
    assert len(list(tmp_path.glob("*.writer_snapshot"))) <= log.segment_count + 2
    assert len(list(tmp_path.iterdir())) <= 4 * log.segment_count + 4


def test_a_dropped_log_lets_go_of_its_files(tmp_path: Path) -> None:
    """After a drop no descriptor of the log is open."""
    files = OpenFiles(LocalFiles(), 9)
    log = open_log(tmp_path, files=files, segment_bytes_max=100)
    fill(log, 5)
    assert len(files)
    log.abandon()
    assert not len(files)


def test_rows_can_be_synced_as_they_come(tmp_path: Path) -> None:
    """With a flush interval the log has to be synced whenever so many rows have been appended."""
    log = open_log(tmp_path / "db/table/log-0", flush_interval_messages=5)
    due = []
    for _ in range(6):
        append(log, 2)
        sync = log.due_sync()
        if sync is not None:
            sync()
        due.append(sync is not None)
    assert due == [False, False, True] * 2


def test_a_disk_that_fails_is_a_storage_error(tmp_path: Path) -> None:
    """When not even a file can be made, the error names it and has the code that clients retry on."""
    (tmp_path / "log-0").write_text("a file where the directory should be")
    with pytest.raises(LakewardError, match="log-0") as caught:
        append(open_log(tmp_path / "log-0"))
    assert caught.value.code is ErrorCode.LOG_STORAGE
