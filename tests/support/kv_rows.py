"""Keys and values for key/value stores, and what becomes of a dict when they are applied to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lakeward.storage.kv.store.slices import Entries, Slices
from lakeward.storage.kv.store.store import AppliedBatch, KvStore, KvView

Record = tuple[bytes, bytes | None]
Model = dict[bytes, bytes]


def apply_to(store: KvStore, records: Sequence[Record]) -> AppliedBatch:
    """Apply records to a store; a value of None deletes."""
    return store.apply(Slices.of(key for key, _ in records), Slices.of(value for _, value in records))


def apply_to_model(model: Model, records: Sequence[Record]) -> list[bytes | None]:
    """What a dict says: apply records to it, return the old values."""
    old: list[bytes | None] = []
    for key, value in records:
        old.append(model.get(key))
        if value is None:
            model.pop(key, None)
        else:
            model[key] = value
    return old


def rows_of(store: KvStore) -> list[tuple[bytes, bytes]]:
    """Everything a store has, in its order."""
    return store.scan(store.row_count + 1).to_list()


def read_all(view: KvView, bytes_max: int) -> list[tuple[bytes, bytes]]:
    """Everything a view has left."""
    return [row for batch in batches_of(view, bytes_max) for row in batch.to_list()]


def batches_of(view: KvView, bytes_max: int) -> Iterator[Entries]:
    """Read a view to its end."""
    while len(batch := view.read(bytes_max)):
        yield batch


def varint_keys(numbers: np.ndarray) -> Slices:
    """Numbers as variable-length integers, as keys of a BIGINT column are stored."""
    keys = np.zeros((len(numbers), 10), np.uint8)
    sizes = np.ones(len(numbers), np.int64)
    left = numbers.astype(np.uint64)
    for i in range(10):
        more = left > 127
        keys[:, i] = (left & 127).astype(np.uint8) | more.astype(np.uint8) << 7
        left >>= 7
        sizes += more
    starts = np.arange(len(numbers), dtype=np.int64) * 10
    return Slices(keys.reshape(-1), starts, starts + sizes)


def fixed_values(count: int, size: int, seed: int) -> Slices:
    """Random values of one size."""
    data = np.random.default_rng(seed).integers(0, 256, count * size, np.uint8)
    starts = np.arange(count, dtype=np.int64) * size
    return Slices(data, starts, starts + size)


def damage(file: Path) -> None:
    """Change one byte of a file. Other links to it keep the good one."""
    content = bytearray(file.read_bytes()) or bytearray(1)
    content[len(content) // 2] ^= 1
    if file.stat().st_size == 0:
        content[0] = 1
    beside = file.with_name(file.name + ".damaged")
    beside.write_bytes(content)
    beside.replace(file)
