"""This machine: programs and libraries on it, the server's process, the disk, the data directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """What the doctor runs on."""

    python: tuple[int, int, int] = (3, 11, 0)
    system: str = ""
    #: The version of Lakeward here, and of libraries that it uses, where they are installed.
    lakeward: str = ""
    libraries: Mapping[str, str] = field(default_factory=dict)
    #: The versions of them that Lakeward is known to work with, as pip writes it.
    wishes: Mapping[str, str] = field(default_factory=dict)
    #: The major version of the Java that Spark would start, and where it is.
    java: int | None = None
    java_home: str = ""
    memory_bytes: int | None = None
    available_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """The server's process, where it runs on this machine."""

    pid: int
    open_files: int | None = None
    open_files_max: int | None = None
    memory_bytes: int | None = None
    #: What a container or a unit allows it.
    memory_max_bytes: int | None = None
    #: How often the system has ended a process of the same container for want of memory.
    kills: int = 0


@dataclass(frozen=True, slots=True)
class DiskFacts:
    """The disk that the data directory is on."""

    path: str
    total_bytes: int
    free_bytes: int
    inodes: int = 0
    inodes_free: int = 0
    is_read_only: bool = False
    #: As the system calls it: ext4, tmpfs, nfs4 …
    kind: str = ""


@dataclass(frozen=True, slots=True)
class DirectoryFacts:
    """A data directory, looked at from outside."""

    path: str
    is_data_directory: bool = True
    mode: int = 0o700
    owner: int = 0
    #: Who looks, by number.
    looker: int = 0
    is_readable: bool = True
    is_writable: bool = True
    #: Processes that hold its lock file open, each of which may have children that do, too.
    holders: Sequence[int] = ()
    #: When a server was last here, by its clock.
    seen_ms: int | None = None
    is_being_restored: bool = False
    #: Half-deleted and half-written things.
    leftovers: Sequence[str] = ()
    #: Files that hold secrets and that others may read, with their modes.
    open_secrets: Sequence[tuple[str, int]] = ()
    buckets: int | None = None
    segments: int | None = None
    bytes: int | None = None
