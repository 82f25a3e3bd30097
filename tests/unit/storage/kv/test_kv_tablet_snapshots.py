"""Snapshots of a bucket's state, and the log they rely on."""

from __future__ import annotations

from pathlib import Path

import pytest
from kv_tablets import TabletUnderTest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.store.snapshots import stored_snapshots
from lakeward.storage.log import checkpoint


def test_a_snapshot_never_knows_more_than_the_log_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the log cannot be synced, the snapshot is not written either; it stays due."""
    columns, _ = parse_columns("id INT NOT NULL, name STRING")
    tablet = TabletUnderTest(tmp_path, Schema.of(columns, ("id",)), {})

    def fail(*_: object) -> None:
        raise OSError("no space")

    tablet.put([((1,), (1, "a"))])
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "sync_data", fail)
        tablet.kv.snapshot()
        not_synced, not_written = tablet.run_jobs()
    assert isinstance(not_synced, OSError)
    assert isinstance(not_written, LakewardError)
    assert not_written.code is ErrorCode.KV_STORAGE
    assert not stored_snapshots(LocalFiles(), tmp_path / "kv")
    assert tablet.kv.snapshot_is_due
    tablet.kv.snapshot()
    assert not tablet.run_jobs()
    assert len(stored_snapshots(LocalFiles(), tmp_path / "kv")) == 1
    tablet.stop()
