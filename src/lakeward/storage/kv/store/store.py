"""The port: the key/value state of one bucket.

A batch of records goes in as slices, its old values come out as slices; nothing here is done row by row in Python.
The changelog is the write-ahead log: a store keeps nothing by itself, its state is a snapshot and the log since then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lakeward.runtime.files.port import Files
from lakeward.storage.kv.store.slices import Entries, Slices
from lakeward.storage.kv.store.snapshots import PendingSnapshot, Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class AppliedBatch:
    """A batch that was applied: for each record the old value (start -1 = none) and the new one; yours to keep."""

    old: Slices
    new: Slices
    #: What the store needs to take the batch back.
    undo: Any
    sequence: int


class KvView(Protocol):
    """The state at one moment, read in key order; may be used on another thread while the store is written to."""

    @property
    def row_count(self) -> int:
        """How many rows the view has in all."""
        ...

    def read(self, bytes_max: int, rows_max: int | None = None) -> Entries:
        """The next rows, at least one and no more than this many bytes of keys and values; none at the end."""
        ...

    def close(self) -> None:
        """Let go of the state."""
        ...


class KvStore(Protocol):
    """Rows by key. Keys order as unsigned bytes. One thread at a time; views and pending snapshots are free of it."""

    @property
    def engine(self) -> str:
        """The engine's name, as snapshots and options have it."""
        ...

    @property
    def row_count(self) -> int:
        """How many keys have a value."""
        ...

    @property
    def live_bytes(self) -> int:
        """Bytes of all keys and values."""
        ...

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory that the store takes; views and pending snapshots are not counted."""
        ...

    def apply(self, keys: Slices, values: Slices) -> AppliedBatch:
        """Put or delete (value start -1), strictly in order: a later record of a key sees what an earlier one wrote."""
        ...

    def undo(self, applied: AppliedBatch) -> None:
        """Take a batch back, exactly. The last one first, and only those since the last `maintain`."""
        ...

    def maintain(self) -> None:
        """The batches so far stay: do the piece of housekeeping that they have made due."""
        ...

    def get(self, keys: Slices, bytes_max: int | None = None) -> Slices:
        """The values of keys; absent ones have a start of -1. OverflowError when they are larger than `bytes_max`."""
        ...

    def scan(self, limit: int) -> Entries:
        """The first rows in key order."""
        ...

    def scan_prefix(self, prefix: bytes, rows_max: int | None = None, bytes_max: int | None = None) -> Entries:
        """All rows whose key begins so, in key order. OverflowError when they are more than may be."""
        ...

    def view(self) -> KvView:
        """The state as it is now, to be read while writes go on."""
        ...

    def ordering(self) -> Callable[[], None] | None:
        """Long work that the next `scan_prefix` would have to do first; None when there is none."""
        ...

    def growth(self) -> Callable[[], None] | None:
        """Long work that one of the next `apply` would have to do first; None when there is none."""
        ...

    def snapshot(self, disk: Files, directory: Path, log_offset: int, extra: Mapping[str, Any]) -> PendingSnapshot:
        """The state as it is now, to be written while writes go on, on any thread."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Replace the whole state by that of a snapshot that `newest_good_snapshot` has found good."""
        ...

    def close(self) -> None:
        """Let go of memory and files."""
        ...
