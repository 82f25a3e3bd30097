"""Checkpoints: what is written, in which order, and which of them stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.port import Files, sync_data
from lakeward.storage.log import checkpoint
from lakeward.storage.log.checkpoint import Checkpoint, checkpoint_file, read_writers, stored_checkpoints
from lakeward.storage.log.log_facts import FactsFile, LogFacts
from lakeward.storage.log.writer_state import Verdict, WriterStates, WrittenBatch


def writers() -> bytes:
    """The state of one writer after one batch."""
    states = WriterStates()
    states.record(7, WrittenBatch(0, 0, 4, 1000))
    return states.to_json()


def checkpoint_at(directory: Path, offset: int, bases: frozenset[int] = frozenset()) -> Checkpoint:
    """A checkpoint of a log that has one segment."""
    log = directory / "00000000000000000000.log"
    log.touch()
    facts = FactsFile(LocalFiles(), directory, LogFacts())
    indexes = ((log.with_suffix(".index"), b"i" * 8),)
    return Checkpoint(LocalFiles(), directory, offset, (log,), indexes, writers(), bases, facts)


def test_the_log_is_synced_before_the_checkpoint_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First the rows, then the indexes, last the file that vouches for them."""
    order: list[str] = []
    real = checkpoint.replace_file
    monkeypatch.setattr(checkpoint, "sync_data", lambda _, path: order.append(path.suffix))

    def replace_file(disk: Files, path: Path, content: bytes, **how: bool) -> None:
        order.append(path.suffix)
        real(disk, path, content, **how)

    monkeypatch.setattr(checkpoint, "replace_file", replace_file)
    checkpoint_at(tmp_path, 5).write()
    assert order == [".log", ".index", ".writer_snapshot"]


def test_a_checkpoint_is_found_by_its_offset_newest_first(tmp_path: Path) -> None:
    """The name is the offset; the content is what the writers had done."""
    for offset in (5, 100):
        checkpoint_at(tmp_path, offset).write()
    assert stored_checkpoints(LocalFiles(), tmp_path) == [(o, checkpoint_file(tmp_path, o)) for o in (100, 5)]
    states = read_writers(LocalFiles(), checkpoint_file(tmp_path, 5))
    assert states is not None
    assert states.judge(7, 0)[0] is Verdict.DUPLICATE


def test_two_stay_and_those_at_the_base_of_a_segment(tmp_path: Path) -> None:
    """An older one is there when the newest is damaged; segment bases are kept for whoever copies segments."""
    for offset in (10, 20, 30, 40, 50):
        checkpoint_at(tmp_path, offset, frozenset({0, 20})).write()
    assert [offset for offset, _ in stored_checkpoints(LocalFiles(), tmp_path)] == [50, 40, 20]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"writer_id_entries":[{"writer_id":1}]}', b"\xff\x00"])
def test_a_damaged_checkpoint_is_none(tmp_path: Path, content: bytes) -> None:
    """Recovery is told that there is nothing to rely on."""
    path = checkpoint_file(tmp_path, 1)
    assert read_writers(LocalFiles(), path) is None
    path.write_bytes(content)
    assert read_writers(LocalFiles(), path) is None


def test_a_file_that_has_gone_needs_no_sync(tmp_path: Path) -> None:
    """A segment may have been retired between taking and writing a checkpoint."""
    sync_data(LocalFiles(), tmp_path / "gone.log")
