"""The key/value engines by themselves: `python -m bench.kv.stores [rows ...]`, 500 000 rows unless told.

Keys are int64 as variable-length integers, values 25 bytes, batches of 10 000. Wall time, and the CPU time of this
process beside it: on a shared machine the second one is the one to compare.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.engines import ENGINES, HASH, open_store, restore_any
from lakeward.storage.kv.store.slices import I64, Slices
from lakeward.storage.kv.store.snapshots import newest_good_snapshot
from lakeward.storage.kv.store.store import KvStore

_Result = TypeVar("_Result")

_ROWS = 500_000
_BATCH_ROWS = 10_000
_VALUE_BYTES = 25
_KEY_BYTES_MAX = 10
#: Rows above which the slower engine is left out.
_ROWS_ALL_ENGINES = 2_000_000


def keys_of(numbers: I64) -> Slices:
    """Numbers as variable-length integers."""
    keys = np.zeros((len(numbers), _KEY_BYTES_MAX), np.uint8)
    sizes = np.ones(len(numbers), np.int64)
    left = numbers.astype(np.uint64)
    for i in range(_KEY_BYTES_MAX):
        more = left > 127
        keys[:, i] = (left & 127).astype(np.uint8) | more.astype(np.uint8) << 7
        left >>= 7
        sizes += more
    starts = np.arange(len(numbers), dtype=np.int64) * _KEY_BYTES_MAX
    return Slices(keys.reshape(-1), starts, starts + sizes)


def values_of(count: int, seed: int) -> Slices:
    """Random values."""
    data = np.random.default_rng(seed).integers(0, 256, count * _VALUE_BYTES, np.uint8)
    starts = np.arange(count, dtype=np.int64) * _VALUE_BYTES
    return Slices(data, starts, starts + _VALUE_BYTES)


class Stopwatch:
    """Wall and CPU seconds of some work."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def measure(self, work: Callable[[], _Result]) -> _Result:
        """Do it and add up."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        return result


def batches(numbers: I64) -> Iterator[tuple[Slices, Slices]]:
    """Keys and values, made outside the measured time."""
    for at in range(0, len(numbers), _BATCH_ROWS):
        part = numbers[at : at + _BATCH_ROWS]
        yield keys_of(part), values_of(len(part), at)


def upsert(store: KvStore, numbers: I64) -> Stopwatch:
    """Apply and maintain, batch by batch."""
    watch = Stopwatch()
    for keys, values in batches(numbers):
        watch.measure(lambda k=keys, v=values: store.apply(k, v))  # type: ignore[misc]
        watch.measure(store.maintain)
    return watch


def look_up(store: KvStore, numbers: I64) -> Stopwatch:
    """Get, batch by batch."""
    watch = Stopwatch()
    for keys, _ in batches(numbers):
        found = watch.measure(lambda k=keys: store.get(k))  # type: ignore[misc]
        assert int(found.starts.min()) >= 0
    return watch


def rate(what: str, rows: int, watch: Stopwatch) -> None:
    """One line of the report."""
    print(f"  {what:<34} {rows / watch.wall / 1e6:7.2f} M rows/s   {rows / watch.cpu / 1e6:7.2f} by CPU")


def seconds(what: str, watch: Stopwatch, more: str = "") -> None:
    """One line of the report."""
    print(f"  {what:<34} {watch.wall:9.4f} s        {watch.cpu:9.4f} s CPU   {more}")


def measure_engine(engine: str, rows: int, directory: Path) -> None:
    """Everything about one engine."""
    print(f"{engine}, {rows:,} rows")
    store = open_store(engine, directory / "work")
    store.apply(keys_of(np.arange(1)), values_of(1, 0))  # compiles, or loads what was compiled
    shuffled = np.random.default_rng(1).permutation(rows)
    rate("new keys", rows, upsert(store, np.arange(rows)))
    beyond = (store.memory_bytes - store.live_bytes) / store.row_count
    if engine == HASH:
        print(f"  {'memory beyond the rows':<34} {beyond:7.1f} bytes a row")
    rate("existing keys, in order", rows, upsert(store, np.arange(rows)))
    rate("existing keys, at random", rows, upsert(store, shuffled))
    rate("lookups, in order", rows, look_up(store, np.arange(rows)))
    rate("lookups, at random", rows, look_up(store, np.random.default_rng(2).permutation(rows)))
    measure_singles(store, rows)
    measure_scans(store, rows)
    measure_snapshots(store, directory)
    for turn in range(10):
        upsert(store, np.random.default_rng(turn).permutation(rows))
    print(f"  {'after ten full overwrites':<34} {space_of(store, directory) / store.live_bytes:7.2f} × the live rows")
    store.close()


def space_of(store: KvStore, directory: Path) -> int:
    """Where the engine keeps its rows: in memory, or in files."""
    if store.engine == HASH:
        return store.memory_bytes
    return sum(file.stat().st_size for file in (directory / "work").rglob("*.sst"))


def measure_singles(store: KvStore, rows: int) -> None:
    """One row at a time: what a lookup costs beside its request."""
    one, times = Stopwatch(), 2000
    for number in np.random.default_rng(3).integers(0, rows, times):
        key = keys_of(np.array([number]))
        one.measure(lambda k=key: store.get(k))  # type: ignore[misc]
    print(f"  {'one lookup':<34} {one.wall / times * 1e6:7.1f} µs")


def measure_scans(store: KvStore, rows: int) -> None:
    """Views, limits and prefixes."""
    watch = Stopwatch()
    view = watch.measure(store.view)
    seconds("view: the cut", watch)
    watch = Stopwatch()
    first = watch.measure(lambda: view.read(1 << 20))
    seconds("view: the first 1 MB", watch)
    watch, count = Stopwatch(), len(first)
    while len(batch := watch.measure(lambda: view.read(1 << 20))):
        count += len(batch)
    assert count == rows
    rate("view: the rest", rows - len(first), watch)
    watch = Stopwatch()
    watch.measure(lambda: store.scan(100))
    seconds("the first 100 rows", watch)
    for name in ("prefix: the first time", "prefix: after that"):
        watch = Stopwatch()
        found = watch.measure(lambda: store.scan_prefix(b"\x81\x81"))
        seconds(name, watch, f"{len(found)} rows")
    new = keys_of(np.arange(rows, rows + 1000))
    store.apply(new, values_of(1000, 0))
    watch = Stopwatch()
    watch.measure(lambda: store.scan_prefix(b"\x81\x81"))
    seconds("prefix: after 1000 new keys", watch)
    gone = np.full(1000, -1)
    store.apply(new, Slices(new.buffer, gone, gone))
    store.maintain()


def measure_snapshots(store: KvStore, directory: Path) -> None:
    """Cut, write, check, restore."""
    place = directory / "snapshots"
    watch = Stopwatch()
    pending = watch.measure(lambda: store.snapshot(LocalFiles(), place, 1, {}))
    seconds("snapshot: the cut", watch)
    watch = Stopwatch()
    written = watch.measure(pending.write)
    size = sum(size for size, _ in written.files.values())
    seconds("snapshot: written and synced", watch, f"{size / store.live_bytes:.2f} × the live rows")
    watch = Stopwatch()
    good = watch.measure(lambda: newest_good_snapshot(LocalFiles(), place))
    seconds("snapshot: checked", watch)
    assert good is not None
    watch = Stopwatch()
    watch.measure(lambda: restore_any(store, good, directory / "carried"))
    seconds("snapshot: restored", watch)


def main() -> None:
    """Measure all engines at the sizes asked for."""
    for rows in [int(argument.replace("_", "")) for argument in sys.argv[1:]] or [_ROWS]:
        for engine in ENGINES:
            if engine != HASH and rows > _ROWS_ALL_ENGINES:
                continue
            directory = Path(tempfile.mkdtemp(prefix="lakeward-kv-"))
            try:
                measure_engine(engine, rows, directory)
            finally:
                shutil.rmtree(directory)


if __name__ == "__main__":
    main()
