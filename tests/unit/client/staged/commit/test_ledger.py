"""The files of a sink, and what of them may go."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.client.staged.commit.ledger import Contents, DoneBatch, Ledger
from lakeward.client.staged.parts.directory import LocalDirectory
from lakeward.client.staged.parts.manifest import BucketAppend, Manifest, StagedBatch, WriterChain
from lakeward.runtime.clock import ManualClock, SystemClock


@pytest.fixture
def clock() -> ManualClock:
    """A clock that begins now, as files do."""
    return ManualClock(SystemClock().now_ms())


@pytest.fixture
def ledger(tmp_path: Path, clock: ManualClock) -> Ledger:
    """The ledger of one table."""
    return Ledger(LocalDirectory(tmp_path), "db.t-1", clock)


def _manifest(batch_id: int, revision: int = 1, files: tuple[str, ...] = ()) -> Manifest:
    bucket = BucketAppend(None, None, 0, 5, batch_id, 0, (StagedBatch(0, 0, 1, 1),))
    return Manifest(batch_id, revision, "db.t", 1, (), 1, 1, files, (bucket,), WriterChain(5, {"0": batch_id}))


def test_the_newest_revision_of_each_manifest_counts(ledger: Ledger) -> None:
    """And the newest batch that is done."""
    assert ledger.contents() == Contents(-1, {})
    for manifest in (_manifest(1), _manifest(2), _manifest(2, 2)):
        assert ledger.create(manifest)
    assert not ledger.create(_manifest(2, 2))
    ledger.mark_done(DoneBatch.of(_manifest(1), 99))
    assert ledger.contents() == Contents(1, {1: 1, 2: 2})
    assert ledger.contents().pending == [2]
    assert ledger.manifest(2, 2) == _manifest(2, 2)
    assert ledger.manifest(3, 1) is None


def test_what_is_done_says_how_to_go_on(ledger: Ledger) -> None:
    """The writer id, and the next sequence of each bucket."""
    ledger.mark_done(DoneBatch.of(_manifest(4), 99))
    done = ledger.find_done(4)
    assert done == DoneBatch(4, 1, 1, WriterChain(5, {"0": 5}, 99))
    assert ledger.find_done(3) is None


def test_manifests_stay_until_the_next_one_is_done(ledger: Ledger, tmp_path: Path) -> None:
    """The mark that says done may be lost with the machine; the manifest is not."""
    for batch_id in range(4):
        file = tmp_path / f"part-{batch_id}"
        file.touch()
        ledger.create(_manifest(batch_id, files=(str(file),)))
        ledger.mark_done(DoneBatch.of(_manifest(batch_id), 0))
        ledger.clean(batch_id)
    assert ledger.contents().manifests == {3: 1}
    assert [ledger.find_done(i) is not None for i in range(4)] == [False, False, True, True]
    assert sorted(p.name for p in tmp_path.glob("part-*")) == ["part-3"]


def test_files_of_pending_batches_are_known(ledger: Ledger) -> None:
    """An abort must not delete them."""
    ledger.create(_manifest(0, files=("/a",)))
    ledger.mark_done(DoneBatch.of(_manifest(0), 0))
    ledger.create(_manifest(1, files=("/b", "/c")))
    assert ledger.pending_files() == {"/b", "/c"}


def test_old_parts_of_unknown_batches_are_given_up(ledger: Ledger, clock: ManualClock, tmp_path: Path) -> None:
    """Those of known batches go as soon as the batch is done."""
    for owner in ("any", "3", "4"):
        part = tmp_path / "db.t-1" / "parts" / owner / "x"
        part.parent.mkdir(parents=True)
        part.touch()
    ledger.clean(3)
    assert sorted(p.parent.name for p in tmp_path.rglob("x")) == ["4", "any"]
    clock.advance(25 * 3600 * 1000)
    ledger.clean(3)
    assert sorted(p.parent.name for p in tmp_path.rglob("x")) == ["4"]
