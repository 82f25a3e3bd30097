"""GoneRows: which rows of cold files are no more, and how a scan leaves them out. What is known never changes.

As bits, one for each row, which a function of ours looks at; as a table of DuckDB where that cannot be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from weakref import finalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.lake.port import LakeFile
from lakeward.query.duckdb.bit_function import BitFunction, bit_function
from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.duckdb.duck_tables import DuckTable, TooLargeError, values_of
from lakeward.query.duckdb.file_sql import FILE, POSITION, local_path, paths_sql

#: What DuckDB calls the number of a row's file in the list that it scans.
INDEX = "file_index"
#: A hash and a number; names of files would take a hundred for each row.
_PLACE_BYTES = 16

_Bits = NDArray[np.uint8]


class LeftOut:
    """What stands behind a scan; it holds what the SQL names, and is held while that may run."""

    def __init__(self, sql: str, held: object) -> None:
        self.sql = sql
        self._held = held


class GoneRows(Protocol):
    """Rows that are gone, by hashes of files and positions."""

    @property
    def files(self) -> frozenset[str]:
        """The files of which rows are gone."""
        ...

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        ...

    def with_rows(self, selects: Sequence[str], files: Iterable[LakeFile]) -> GoneRows:
        """The same, with rows that SELECTs find: the hash of a `file`, one of these files, and the `pos` in it."""
        ...

    def leave_out(self, paths: Sequence[str]) -> LeftOut:
        """How a scan of these files, which has their places and is called `f`, leaves them out."""
        ...


def no_gone_rows(columns: Iterable[str]) -> GoneRows:
    """None yet, of files with these columns."""
    function = None if INDEX in {name.lower() for name in columns} else bit_function()
    return GoneTable() if function is None else GoneBits(function)


@dataclass(frozen=True, slots=True)
class GoneTable:
    """As a table of DuckDB, which every scan is joined with."""

    table: DuckTable | None = None
    files: frozenset[str] = frozenset()

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        return 0 if self.table is None else self.table.bytes

    def with_rows(self, selects: Sequence[str], files: Iterable[LakeFile]) -> GoneRows:
        """The same, with rows that SELECTs find."""
        known = [] if self.table is None else [f"FROM {self.table.name}"]
        made = DuckTable.of_query(" UNION ALL ".join([*known, *selects]), _PLACE_BYTES)
        names = by_hash(path_hashes(files))
        gone = set(values_of(f"SELECT DISTINCT file FROM {made.name}"))
        return GoneTable(made, frozenset(path for hashed, path in names.items() if hashed in gone))

    def leave_out(self, _paths: Sequence[str]) -> LeftOut:
        """An anti join."""
        assert self.table is not None
        return LeftOut(f"ANTI JOIN {self.table.name} g ON hash(f.{FILE}) = g.file AND f.{POSITION} = g.pos", self)


@dataclass(frozen=True, slots=True)
class GoneBits:
    """Bits by file; rows behind the last bit are there."""

    _function: BitFunction
    _bits: Mapping[str, _Bits] = field(default_factory=dict)
    #: The last answer of `leave_out`, by the files it is for: the next query mostly asks for the same, and finds its
    #: view made if the number in it is the same.
    _last: dict[tuple[str, ...], LeftOut] = field(default_factory=dict)

    @property
    def files(self) -> frozenset[str]:
        """The files of which rows are gone."""
        return frozenset(self._bits)

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return sum(bits.nbytes for bits in self._bits.values())

    def with_rows(self, selects: Sequence[str], files: Iterable[LakeFile]) -> GoneBits:
        """The same, with rows that SELECTs find."""
        names = by_hash(path_hashes(files))
        with duck_cursor() as duck:
            found = duck.execute(" UNION ALL ".join(selects)).to_arrow_table()
        if not found.num_rows:
            return self
        hashes, positions = _numbers(found["file"]), _numbers(found["pos"])
        order = np.argsort(hashes, kind="stable")
        kinds, begins = np.unique(hashes[order], return_index=True)
        bits = dict(self._bits)
        for hashed, here in zip(kinds, np.split(positions[order], begins[1:]), strict=True):
            bits[names[int(hashed)]] = _with(bits.get(names[int(hashed)]), here)
        return GoneBits(self._function, bits)

    def leave_out(self, paths: Sequence[str]) -> LeftOut:
        """A condition."""
        key = tuple(paths)
        found = self._last.get(key)
        if found is None:
            found = _Asked(self._function, [self._bits.get(local_path(path)) for path in paths])
            self._last.clear()
            self._last[key] = found
        return found


class _Asked(LeftOut):
    """Bits of the files of a scan, in its order; the function knows them until this is forgotten."""

    def __init__(self, function: BitFunction, bits: Sequence[_Bits | None]) -> None:
        none = np.zeros(1, np.uint8)
        places = [(none, 0) if one is None else (one, len(one) * 8) for one in bits]
        files = np.array([(one.ctypes.data, rows) for one, rows in places], np.int64).reshape(-1, 2)
        number = function.open(files)
        super().__init__(f"WHERE {function.condition(number, f'f.{INDEX}', f'f.{POSITION}')}", (none, bits, files))
        finalize(self, function.close, number).atexit = False


def path_hashes(files: Iterable[LakeFile]) -> list[tuple[str, int]]:
    """Paths of files, and what stands for them where there are many rows."""
    with duck_cursor() as duck:
        paths = f"(SELECT unnest({paths_sql(file.path for file in files)}) AS path)"
        found: list[tuple[str, int]] = duck.execute(f"SELECT DISTINCT path, hash(path) FROM {paths}").fetchall()
        return found


def by_hash(hashes: Sequence[tuple[str, int]]) -> dict[int, str]:
    """Paths by their hashes. Two that share one cannot be told apart: then nothing is kept."""
    found = {hashed: path for path, hashed in hashes}
    if len(found) < len(hashes):
        raise TooLargeError
    return found


def _with(known: _Bits | None, positions: NDArray[np.int64]) -> _Bits:
    """Bits with those of positions set."""
    size = int(positions.max() >> 3) + 1
    bits = np.zeros(max(size, 0 if known is None else len(known)), np.uint8)
    if known is not None:
        bits[: len(known)] = known
    np.bitwise_or.at(bits, positions >> 3, np.left_shift(1, positions & 7).astype(np.uint8))
    return bits


def _numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    found: NDArray[np.int64] = column.to_numpy()
    return found
