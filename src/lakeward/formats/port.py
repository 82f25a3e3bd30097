"""What every format offers: many messages at once become a batch of rows, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

#: What `kinds` says of a row; the numbers are those of a changelog on the wire, as in captures.
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(1, 5)


@dataclass(frozen=True, slots=True)
class BadMessage:
    """A message that could not be read."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows of some messages, in their order.

    `kinds` (uint8, the ChangeKind of captures) is None where every row is an insert. `indexes` (int64) says which
    message each row came from: a message may hold no row (a tombstone, a bad one) or two (an update). Where errors are
    ignored a value that does not fit is NULL, and `bad` has the messages of which there is no row.
    """

    rows: pa.RecordBatch
    indexes: pa.Array
    kinds: pa.Array | None = None
    bad: Sequence[BadMessage] = ()


class Decoder(Protocol):
    """Reads messages."""

    @property
    def has_changes(self) -> bool:
        """Whether its rows may be other than inserts."""

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """The rows of the messages; None is a message without a value. Never raises for what a message holds."""


class Encoder(Protocol):
    """Writes messages."""

    @property
    def has_changes(self) -> bool:
        """Whether its messages can say more than inserts."""

    def encode(self, rows: pa.RecordBatch, kinds: pa.Array | None = None) -> Sequence[bytes | None]:
        """A message for each row."""
