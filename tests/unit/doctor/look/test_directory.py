"""A data directory is looked at by names, sizes and modes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lakeward.doctor.look.directory import look_at_directory, look_at_disk
from lakeward.doctor.look.place import look_at_place


def _data_directory(root: Path) -> Path:
    root.chmod(0o750)
    (root / "metadata.db").write_bytes(b"")
    (root / "lakeward.lock").write_text("1\n")
    log = root / "shop" / "orders-1" / "log-0"
    log.mkdir(parents=True)
    (log / "00000000000000000000.log").write_bytes(b"x" * 100)
    (root / "shop" / "gone-2.dropped").mkdir()
    (root / "users.json").write_text("{}")
    (root / "users.json").chmod(0o644)
    return root


def test_what_lies_in_a_directory_is_counted(tmp_path: Path) -> None:
    """Logs, segments, what was left behind, and who may read it."""
    facts = look_at_directory(_data_directory(tmp_path), {})
    assert facts.is_data_directory
    assert (facts.buckets, facts.segments, facts.mode) == (1, 1, 0o750)
    assert facts.leftovers == ("shop/gone-2.dropped",)
    assert facts.open_secrets == ((str(tmp_path / "users.json"), 0o644),)
    assert facts.holders == ()


def test_a_process_that_holds_the_lock_is_found(tmp_path: Path) -> None:
    """Its files and its memory are looked at; here it is this one."""
    with (_data_directory(tmp_path) / "lakeward.lock").open():
        found = look_at_place(tmp_path, {})
    assert found["directory"].holders == (os.getpid(),)
    assert found["process"].open_files_max > found["process"].open_files > 0
    assert found["process"].memory_bytes > 1_000_000


def test_children_of_a_process_that_holds_the_lock_are_no_intruders(tmp_path: Path) -> None:
    """Tablet servers hold it with their coordinator; whoever took it by themselves is named."""
    with (_data_directory(tmp_path) / "lakeward.lock").open() as lock:
        child = subprocess.Popen(["sleep", "60"], pass_fds=(lock.fileno(),))
        try:
            assert look_at_directory(tmp_path, {}).holders == (os.getpid(),)
            lock.close()
            assert look_at_directory(tmp_path, {}).holders == (child.pid,)
        finally:
            child.kill()
            child.wait()


def test_the_kind_of_a_disk_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    """Several mounts may be above a directory."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"a / ext4 rw 0 0\nb {tmp_path} tmpfs rw 0 0\nc /else nfs4 rw 0 0\n")
    facts = look_at_disk(tmp_path, mounts)
    assert facts.kind == "tmpfs"
    assert facts.total_bytes > facts.free_bytes > 0
