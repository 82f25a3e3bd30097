"""A log after the machine went down."""

from __future__ import annotations

from pathlib import Path

from logs import append, contents, open_log

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.open_files import OpenFiles


class AnotherBoot(LocalFiles):
    """The disk of a machine that was started anew."""

    boot_id = "another"  # type: ignore[assignment]


def _write_with_a_hole(directory: Path) -> list[tuple[int, bytes]]:
    """Ten batches of which four were synced, and a page of zeros in the seventh."""
    log = open_log(directory)
    for number in range(10):
        append(log, body=b"r%02d" % number)
        if number == 3:
            log.checkpoint()
    written = contents(log)
    log.abandon()
    (path,) = directory.glob("*.log")
    data = bytearray(path.read_bytes())
    size = len(data) // 10
    data[6 * size : 6 * size + 20] = bytes(20)
    path.write_bytes(data)
    return written


def test_a_log_ends_before_the_first_hole_that_was_not_synced(tmp_path: Path) -> None:
    """What lies behind was never promised to last; offsets go on from there."""
    directory = tmp_path / "log-0"
    written = _write_with_a_hole(directory)
    log = open_log(directory, files=OpenFiles(AnotherBoot(), 8))
    assert contents(log) == written[:6]
    assert not list(log.damages)
    assert append(log) == 6


def test_a_hole_is_damage_as_long_as_the_machine_is_up(tmp_path: Path) -> None:
    """The page cache had everything, so something else has happened, and what lies behind stays."""
    directory = tmp_path / "log-0"
    _write_with_a_hole(directory)
    log = open_log(directory)
    assert [(damage.first, damage.end) for damage in log.damages] == [(6, 7)]
    assert log.end_offset == 10


def test_a_hole_in_a_log_that_lost_its_facts_is_damage(tmp_path: Path) -> None:
    """A checkpoint vouches that the log had facts: whoever lost them may have harmed the rest, too."""
    directory = tmp_path / "log-0"
    _write_with_a_hole(directory)
    (facts,) = tmp_path.glob("log-0*.json")
    facts.unlink()
    log = open_log(directory, files=OpenFiles(AnotherBoot(), 8))
    assert [(damage.first, damage.end) for damage in log.damages] == [(6, 7)]
    assert log.end_offset >= 10


def test_what_left_on_purpose_is_not_missed_by_the_start_after_the_next(tmp_path: Path) -> None:
    """A server that was killed while retention renamed files notes where the log begins before they go."""
    directory = tmp_path / "log-0"
    log = open_log(directory, segment_bytes_max=150)
    for number in range(10):
        append(log, body=b"r%02d" % number)
    log.close()
    oldest, following = sorted(directory.glob("*.log"))[:2]
    oldest.rename(oldest.with_name(oldest.name + ".deleted"))
    for _ in range(2):
        log = open_log(directory, segment_bytes_max=150)
        assert log.start_offset == int(following.stem)
        assert not list(log.damages)
        log.close()
