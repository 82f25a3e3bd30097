"""KeptKeys: key columns of data files, and files of deletes, kept in memory up to a bound; what leaves is read again.

A file never changes, and its name is never given to another: so what was read of it holds for every later snapshot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Deleted = dict[str, NDArray[np.int64]]
#: What an entry takes beside its arrays: paths, and the objects around them.
_ENTRY_BYTES = 1000


class KeptKeys:
    """Bounded in bytes, the least recently used leaves first; shared by all tables, and safe to share by threads."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._lock = Lock()
        self._kept: OrderedDict[str, tuple[object, int]] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """What is kept now."""
        return self._bytes

    def keys(self, path: str, names: Sequence[str], read: Callable[[], pa.Table]) -> pa.Table:
        """The key columns of a data file, in the order of its rows."""
        known = self._look_up(path)
        if isinstance(known, pa.Table) and known.column_names == list(names):
            return known
        found = read()
        self.keep_keys(path, found)
        return found

    def keep_keys(self, path: str, keys: pa.Table) -> None:
        """Key columns that are known without being read."""
        self._keep(path, keys, keys.nbytes)

    def deletes(self, path: str, read: Callable[[], Deleted]) -> Deleted:
        """What a file of position deletes names, by data file."""
        known = self._look_up(path)
        if isinstance(known, dict):
            return known
        found = read()
        self._keep(path, found, sum(rows.nbytes + _ENTRY_BYTES for rows in found.values()))
        return found

    def drop(self, paths: Iterable[str]) -> None:
        """Forget files that are no more."""
        with self._lock:
            for path in paths:
                self._remove(path)

    def _look_up(self, path: str) -> object:
        with self._lock:
            known = self._kept.get(path)
            if known is None:
                return None
            self._kept.move_to_end(path)
            return known[0]

    def _keep(self, path: str, found: object, size: int) -> None:
        size += _ENTRY_BYTES
        with self._lock:
            self._remove(path)
            if size > self._bytes_max:
                return  # it would drive out all others, and be the next to leave
            self._kept[path] = (found, size)
            self._bytes += size
            while self._bytes > self._bytes_max:
                self._remove(next(iter(self._kept)))

    def _remove(self, path: str) -> None:
        known = self._kept.pop(path, None)
        if known is not None:
            self._bytes -= known[1]
