"""Engines by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kv_rows import apply_to, rows_of

from lakeward.errors import InvalidError, UnsupportedError
from lakeward.storage.kv.engines import ENGINES, open_store, restore_any


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_knows_its_name(engine: str, tmp_path: Path) -> None:
    """The name in the options is the one in the snapshots."""
    store = open_store(engine, tmp_path / "work")
    assert store.engine == engine
    assert store.snapshot(tmp_path / "s", 0, {}).write().engine == engine
    store.close()


def test_an_unknown_engine_is_refused(tmp_path: Path) -> None:
    """The error names those there are."""
    with pytest.raises(InvalidError, match="hash, rocksdb"):
        open_store("btree", tmp_path)


@pytest.mark.parametrize(("old", "new"), [("hash", "rocksdb"), ("rocksdb", "hash")])
def test_a_bucket_may_change_its_engine(old: str, new: str, tmp_path: Path) -> None:
    """A snapshot of one engine is carried over to another."""
    rows = sorted((b"%d" % i, b"v%d" % i) for i in range(1000))
    before = open_store(old, tmp_path / "old")
    apply_to(before, rows)
    snapshot = before.snapshot(tmp_path / "s", 5, {}).write()
    before.close()
    after = open_store(new, tmp_path / "new")
    restore_any(after, snapshot, tmp_path / "carried")
    assert rows_of(after) == rows
    assert after.row_count == 1000
    assert not (tmp_path / "carried").exists()
    after.close()


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without RocksDB's library the error says what to install."""
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    with pytest.raises(UnsupportedError, match=r"pip install lakeward\[rocksdb\]"):
        open_store("rocksdb", tmp_path)


def test_only_an_engine_that_is_used_loads_its_library() -> None:
    """Numba takes 110 MB: a server without primary key tables never loads it."""
    code = (
        "import sys, lakeward.storage.kv.engines, lakeward.storage.kv.store, lakeward.storage.kv.rocksdb_store\n"
        "assert not {'numba', 'rocksdict', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
