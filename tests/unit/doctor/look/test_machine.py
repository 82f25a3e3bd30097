"""This machine tells of itself."""

from __future__ import annotations

from pathlib import Path

from lakeward.doctor.look.machine import look_at_machine, look_at_process
from lakeward.runtime.version import VERSION


def test_versions_and_java_are_found(tmp_path: Path) -> None:
    """Java by its home's own file: nothing is started."""
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.2"\n')
    facts = look_at_machine({"JAVA_HOME": str(tmp_path)})
    assert facts.java == 17
    assert facts.lakeward == VERSION
    assert "pyarrow" in facts.libraries
    assert facts.wishes["pyarrow"].startswith(">=")


def test_bounds_of_a_container_are_found(tmp_path: Path) -> None:
    """The limits of a process, and those of the group that it is in."""
    home, group = tmp_path / "proc" / "7", tmp_path / "groups" / "unit"
    for directory in (home / "fd", group):
        directory.mkdir(parents=True)
    (home / "fd" / "0").touch()
    (home / "limits").write_text("Max open files            1024                 4096                 files\n")
    (home / "status").write_text("VmRSS:\t  2048 kB\n")
    (home / "cgroup").write_text("0::/unit\n")
    (group / "memory.max").write_text("1000000\n")
    (group / "memory.events").write_text("oom 3\noom_kill 2\n")
    facts = look_at_process(7, tmp_path / "proc", tmp_path / "groups")
    assert (facts.open_files, facts.open_files_max) == (1, 1024)
    assert (facts.memory_bytes, facts.memory_max_bytes, facts.kills) == (2048 * 1024, 1_000_000, 2)
