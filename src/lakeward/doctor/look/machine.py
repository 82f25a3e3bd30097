"""This machine: its Python, libraries and Java, its memory, and the process of the server on it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from lakeward.doctor.facts.machine import MachineFacts, ProcessFacts
from lakeward.runtime.version import VERSION

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_MEMORY = re.compile(r"^(MemTotal|MemAvailable):\s+(\d+) kB", re.MULTILINE)
_JAVA = re.compile(r'JAVA_VERSION="(?:1\.)?(\d+)')
_WISH = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?([^;]*)(;.*)?")
_FILES = re.compile(r"^Max open files\s+(\d+|unlimited)", re.MULTILINE)
_RESIDENT = re.compile(r"^VmRSS:\s+(\d+) kB", re.MULTILINE)
_PARENT = re.compile(r"^PPid:\s+(\d+)", re.MULTILINE)
_KILLS = re.compile(r"^oom_kill (\d+)", re.MULTILINE)
#: Libraries of tests and tools are nobody's trouble.
_OF_DEVELOPERS = re.compile(r"extra\s*==\s*['\"](?:dev|cdc-demo|s3-demo)['\"]")


def look_at_machine(environ: Mapping[str, str] = os.environ) -> MachineFacts:
    """What the doctor runs on."""
    memory = {name: int(size) * 1024 for name, size in _MEMORY.findall(_text(_PROC / "meminfo"))}
    wishes = _wishes()
    home = _java_home(environ)
    java = None if home is None else _JAVA.search(_text(home / "release"))
    return MachineFacts(
        python=sys.version_info[:3],
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        lakeward=VERSION,
        libraries={name: installed for name in sorted(wishes) if (installed := _installed_version(name)) is not None},
        wishes=wishes,
        java=None if java is None else int(java[1]),
        java_home="" if home is None else str(home),
        memory_bytes=memory.get("MemTotal"),
        available_bytes=memory.get("MemAvailable"),
    )


def look_at_process(pid: int, proc: Path = _PROC, cgroups: Path = _CGROUPS) -> ProcessFacts:
    """A process of this machine; what the system does not tell is None."""
    home = proc / str(pid)
    limit = _FILES.search(_text(home / "limits"))
    resident = _RESIDENT.search(_text(home / "status"))
    group = cgroups / _text(home / "cgroup").strip().rpartition("::")[2].lstrip("/")
    most = _text(group / "memory.max").strip()
    kills = _KILLS.search(_text(group / "memory.events"))
    return ProcessFacts(
        pid,
        open_files=_count(home / "fd"),
        open_files_max=int(limit[1]) if limit is not None and limit[1].isdecimal() else None,
        memory_bytes=None if resident is None else int(resident[1]) * 1024,
        memory_max_bytes=int(most) if most.isdecimal() else None,
        kills=0 if kills is None else int(kills[1]),
    )


def holders_of(file: Path, proc: Path = _PROC) -> tuple[int, ...]:
    """Processes of this machine that hold a file open, as far as the system tells who asks; without their children,
    which have it from them."""
    try:
        wanted = file.stat()
        numbers = [int(path.name) for path in proc.iterdir() if path.name.isdecimal()]
    except OSError:
        return ()
    found = [pid for pid in sorted(numbers) if _holds(proc / str(pid) / "fd", wanted)]
    return tuple(pid for pid in found if _parent_of(proc / str(pid)) not in found)


def _parent_of(home: Path) -> int | None:
    parent = _PARENT.search(_text(home / "status"))
    return None if parent is None else int(parent[1])


def _holds(descriptors: Path, wanted: os.stat_result) -> bool:
    try:
        opened = list(descriptors.iterdir())
    except OSError:
        return False  # of somebody else, or gone
    for path in opened:
        try:
            if os.path.samestat(path.stat(), wanted):
                return True
        except OSError:
            continue
    return False


def _wishes() -> dict[str, str]:
    """The libraries that Lakeward names, with the versions that it is known to work with."""
    try:
        told = requires("lakeward") or []
    except PackageNotFoundError:
        return {}
    found = [_WISH.match(line) for line in told if not _OF_DEVELOPERS.search(line)]
    return {one[1]: one[2].strip() for one in found if one is not None}


def _installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _java_home(environ: Mapping[str, str]) -> Path | None:
    if environ.get("JAVA_HOME"):
        return Path(environ["JAVA_HOME"])
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    return None if on_path is None else Path(on_path).resolve().parent.parent


def _text(path: Path) -> str:
    """What a small file says; nothing where it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _count(directory: Path) -> int | None:
    try:
        return len(list(directory.iterdir()))
    except OSError:
        return None
