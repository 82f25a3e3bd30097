"""Engines by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kv_rows import apply_to, rows_of

from lakeward.errors import InvalidError, UnsupportedError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.engines import ENGINES, open_store, prepare, restore_any
from lakeward.storage.kv.hash import entry_kernels, hash_kernels, order_kernels


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_knows_its_name(engine: str, tmp_path: Path) -> None:
    """The name in the options is the one in the snapshots."""
    store = open_store(engine, tmp_path / "work")
    assert store.engine == engine
    assert store.snapshot(LocalFiles(), tmp_path / "s", 0, {}).write().engine == engine
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
    snapshot = before.snapshot(LocalFiles(), tmp_path / "s", 5, {}).write()
    before.close()
    after = open_store(new, tmp_path / "new")
    restore_any(after, snapshot, tmp_path / "carried")
    assert rows_of(after) == rows
    assert after.row_count == 1000
    assert not (tmp_path / "carried").exists()
    after.close()


def test_a_prepared_engine_compiles_no_more(tmp_path: Path) -> None:
    """After `prepare` every loop of the hash engine has been compiled, for one kind of array, and no files are left."""
    for engine in ENGINES:
        prepare(LocalFiles(), engine, tmp_path / "prepare")
    assert list(tmp_path.iterdir()) == []
    loops = {
        hash_kernels: "hash_keys apply undo clean locate rehash live_positions index_chunk",
        entry_kernels: "copy_values copy_keys measure pack entry_bytes entry_bytes_at",
        order_kernels: "key_words sort_small_runs merge_keys",
    }
    compiled = {
        name: len(getattr(module, name).signatures) for module, names in loops.items() for name in names.split()
    }
    assert compiled == dict.fromkeys(compiled, 1)


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without RocksDB's library the error says what to install."""
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    with pytest.raises(UnsupportedError, match=r"pip install lakeward\[rocksdb\]"):
        open_store("rocksdb", tmp_path)


def test_only_an_engine_that_is_used_loads_its_library() -> None:
    """Numba takes 110 MB: a server without primary key tables never loads it."""
    code = (
        "import sys, lakeward.storage.kv.engines, lakeward.storage.kv.store.store\n"
        "import lakeward.storage.kv.rocksdb.rocksdb_store\n"
        "assert not {'numba', 'rocksdict', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
