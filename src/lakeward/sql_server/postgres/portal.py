"""Portal: a statement with its values, on its way to its client. Blocks, so it runs on a thread beside the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Protocol, Self

import pyarrow as pa

from lakeward.sql_server.postgres.codec import messages as m
from lakeward.sql_server.postgres.codec.pg_types import columns_of
from lakeward.sql_server.postgres.codec.row_bytes import data_rows
from lakeward.sql_server.postgres.copying import CopyForm

#: Rows that become bytes at once; few enough that a slow client holds little.
_ROWS_AT_ONCE = 4096
_SEND_BYTES = 256 << 10

Send = Callable[[bytes | memoryview], None]


class Rows(Protocol):
    """An answer: columns, and batches as they come."""

    schema: pa.Schema

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...


class Portal:
    """`rows` come from what `held` holds, which is let go of when they end or the portal is closed."""

    def __init__(self, rows: Rows, held: ExitStack, formats: Sequence[int], names: Sequence[str] | None = None) -> None:
        found = columns_of(rows.schema)
        self.columns = found if names is None else [replace(c, name=n) for c, n in zip(found, names, strict=True)]
        self.formats = _formats(formats, len(self.columns))
        self.count = 0
        self._held = held
        self._pieces = _cut(rows)
        self._left: pa.RecordBatch | None = None

    def describe(self) -> bytes:
        """What its rows look like."""
        return m.row_description(self.columns, self.formats)

    def is_like(self, other: Portal) -> bool:
        """Whether who knows the columns of the other can read its rows: digits of decimals are in the rows."""
        return [(c.name, c.oid) for c in self.columns] == [(c.name, c.oid) for c in other.columns]

    def run(self, send: Send, most: int = 0) -> bool:
        """Send rows, `most` of them if that is not 0; whether there may be more."""
        with _Buffer(send) as out:
            left = most
            while (piece := self._next()) is not None:
                if most and piece.num_rows > left:
                    self._left = piece.slice(left)
                    piece = piece.slice(0, left)
                self.count += piece.num_rows
                out.add(data_rows(piece, self.formats))
                left -= piece.num_rows
                if most and not left:
                    return True
        self.close()
        return False

    def copy(self, send: Send, form: CopyForm) -> None:
        """Send all rows as COPY has them."""
        with _Buffer(send) as out:
            out.add(form.begin([column.name for column in self.columns]))
            while (piece := self._next()) is not None:
                self.count += piece.num_rows
                out.add(form.rows(piece))
            out.add(form.end())
        self.close()

    def skip(self, most: int) -> int:
        """Pass over rows, `most` of them if that is not 0; how many there were."""
        before = self.count
        while (not most or self.count - before < most) and (piece := self._next()) is not None:
            left = most - (self.count - before) if most else piece.num_rows
            self._left = piece.slice(left) if piece.num_rows > left else None
            self.count += min(piece.num_rows, left)
        return self.count - before

    def use_formats(self, given: Sequence[int]) -> None:
        """Other forms from here on."""
        self.formats = _formats(given, len(self.columns))

    def close(self) -> None:
        """Let go of it; harmless when done before."""
        self._pieces = iter(())
        self._left = None
        self._held.close()

    def _next(self) -> pa.RecordBatch | None:
        if self._left is not None:
            piece, self._left = self._left, None
            return piece
        return next(self._pieces, None)


class _Buffer:
    """Small pieces go out together."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: list[bytes | memoryview] = []
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, wrong: BaseException | None, at: object) -> None:
        if kind is None:
            self._flush()

    def add(self, data: bytes | memoryview) -> None:
        """Send it, now or with what follows."""
        self._held.append(data)
        self._size += len(data)
        if self._size >= _SEND_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._send(b"".join(self._held))
        self._held, self._size = [], 0


def _cut(rows: Rows) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        for at in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield batch.slice(at, _ROWS_AT_ONCE)


def _formats(given: Sequence[int], count: int) -> list[int]:
    """One for each column: none given means text, one given means that one for all."""
    if any(form not in {0, 1} for form in given):
        raise m.ProtocolError("a format is 0 or 1")
    if len(given) <= 1:
        return [given[0] if given else 0] * count
    if len(given) != count:
        raise m.ProtocolError(f"{len(given)} formats were given for {count} columns")
    return list(given)
